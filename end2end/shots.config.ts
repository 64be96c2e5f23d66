// Pictures of every page and state, for people to look at: `npm run shots` writes them to target/shots.
import config from './playwright.config.ts';

export default { ...config, testDir: 'shots', timeout: 120_000 };

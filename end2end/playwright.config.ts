// Real Chromium against the real server on real stores. Every test has a sale and shoppers of its own.
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'tests',
  outputDir: '../target/end2end',
  globalSetup: './lib/server.ts',
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // On a machine that is shared a browser may be starved; what passes only then is listed as flaky.
  retries: process.env.CI ? 1 : 0,
  timeout: 30_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: {
    // Set by the global setup before the workers read this.
    baseURL: process.env.SECKILL_E2E_BASE,
    browserName: 'chromium',
    locale: 'en-GB',
    timezoneId: 'Asia/Shanghai',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});

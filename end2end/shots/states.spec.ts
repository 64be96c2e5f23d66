// The voucher page in every state, in both colour schemes, wide, on phones, and at twice the size.
import { expect, logIn, test } from '../lib/shop.ts';
import { logInAt, somePhone } from '../lib/api.ts';
import { inState, STATES } from '../lib/states.ts';

const FOLDER = '../target/shots';
const SCREENS = {
  wide: { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 },
  // What a browser at 200 % makes of the same window.
  zoomed: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1 },
  small: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 1 },
};

for (const state of STATES) {
  test(`pictures of ${state.name}`, async ({ api, browser, baseURL, tolerate }) => {
    test.slow();
    tolerate(/./);
    const shots = [
      ['wide', 'light', 'en-GB'],
      ['wide', 'dark', 'en-GB'],
      ['phone', 'light', 'zh-CN'],
      ['small', 'dark', 'en-GB'],
      ['zoomed', 'light', 'en-GB'],
    ] as const;
    for (const [screen, colorScheme, locale] of shots) {
      const context = await browser.newContext({ baseURL, colorScheme, locale, ...SCREENS[screen] });
      const token = await logInAt(context.request, somePhone());
      await logIn(context, token, baseURL);
      const page = await context.newPage();
      await inState(state, { api, page, token }, async () => {
        expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
        await page.screenshot({ path: `${FOLDER}/state-${state.name}-${screen}-${colorScheme}.png`, fullPage: true });
      });
      await context.close();
    }
  });
}

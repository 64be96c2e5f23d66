// The console's pages, in both colour schemes, wide and on a phone.
import { grab, publish, restock, steer } from '../lib/api.ts';
import { bury, mintSessions } from '../lib/console.ts';
import { expect, logIn, test } from '../lib/shop.ts';

const FOLDER = '../target/shots';

test('pictures of the console', async ({ api, browser, baseURL, tolerate }) => {
  tolerate(/./);
  const busy = await publish(api, { title: 'Sichuan hot pot for four', stock: 400 });
  const paused = await publish(api, { title: 'Breakfast <b>noodles</b>' });
  await steer(api, paused.id, 'pause');
  await publish(api, { title: 'Tea house afternoon', beginsIn: 93_784_000 });
  await restock(api, busy.id, 50);
  const people = mintSessions(160);
  const [held, bad] = people.splice(0, 2);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      const context = await browser.newContext({ baseURL, colorScheme, viewport: { width, height: 800 }, locale: colorScheme === 'dark' ? 'zh-CN' : 'en-GB' });
      await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
      const page = await context.newPage();
      const shoot = async (name: string): Promise<void> => {
        await page.screenshot({ path: `${FOLDER}/${name}-${colorScheme}-${width}.png`, fullPage: true });
      };
      await page.goto(`/admin/vouchers/${busy.id}?told=saved`);
      await expect(page.locator('.pulse')).toHaveAttribute('data-state', 'live');
      for (const [n, { token }] of people.splice(0, 35).entries()) {
        await grab(api, busy.id, token);
        // An uneven rhythm, so that the chart has a shape.
        await page.waitForTimeout(60 + ((n * 97) % 250));
      }
      await shoot('console-sale');
      await page.locator('details.sure > summary').click();
      await page.locator('details.edit > summary').click();
      await shoot('console-sale-open');
      if (colorScheme === 'light' && width === 1280) {
        bury(busy.id, held.user, 'held');
        bury(busy.id, bad.user, 'unwritable');
      }
      for (const [name, path] of Object.entries({
        'console-sales': '/admin',
        'console-new': '/admin/vouchers/new',
        'console-dead': '/admin/dead',
        'console-report': `/admin/vouchers/${busy.id}/report`,
        'console-orders': `/admin/orders?voucher=${busy.id}`,
        'console-wrong': `/admin/vouchers/${busy.id}?wrong=delta:too_few_left,reason:required&delta=-5000`,
      })) {
        await page.goto(path);
        await shoot(name);
      }
      await context.close();
    }
  }
});

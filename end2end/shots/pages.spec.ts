// Every page and state, in both colour schemes, wide and on a phone.
import { grab, logInAt, publish, somePhone, steer } from '../lib/api.ts';
import { awake, expect, gotoAwake, logIn, parts, test } from '../lib/shop.ts';

const FOLDER = '../target/shots';

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    test(`pictures, ${colorScheme}, ${width}`, async ({ api, browser, baseURL, token, tolerate }) => {
      tolerate(/./);
      const wish = { title: 'Sichuan hot pot for four', sub_title: 'Any evening, all you can eat', rules: 'Valid at all our tables.\nOne voucher a person.\nNot to be joined with other offers.' };
      const context = await browser.newContext({ baseURL, colorScheme, viewport: { width, height: width > 500 ? 800 : 844 }, locale: 'en-GB' });
      const page = await context.newPage();
      const shoot = async (name: string): Promise<void> => {
        await page.screenshot({ path: `${FOLDER}/${name}-${colorScheme}-${width}.png`, fullPage: true });
      };
      const open = await publish(api, { ...wish, stock: 40 });
      await grab(api, open.id, await logInAt(api, somePhone()));
      const later = await publish(api, { ...wish, title: 'Tea house afternoon', beginsIn: 93_784_000 });
      const gone = await publish(api, { ...wish, title: 'Dim sum for two', stock: 1 });
      await grab(api, gone.id, await logInAt(api, somePhone()));
      const paused = await publish(api, { ...wish, title: 'Breakfast <b>noodles</b>' });
      await steer(api, paused.id, 'pause');

      await gotoAwake(page, `/vouchers/${open.id}`);
      await shoot('voucher-stranger');
      await page.goto('/login?next=/orders');
      await shoot('login');
      await page.getByLabel('Phone number').fill(somePhone());
      await page.getByRole('button', { name: 'Send me a code' }).click();
      await expect(page.getByLabel('Code', { exact: true })).toBeVisible();
      await shoot('login-code');
      await page.getByRole('button', { name: 'Log in' }).click();
      await shoot('login-wrong');

      await logIn(context, token);
      await gotoAwake(page, '/');
      await shoot('sales');
      await page.goto('/orders');
      await shoot('orders-none');
      for (const [name, sale] of Object.entries({ later, gone, paused, open })) {
        await gotoAwake(page, `/vouchers/${sale.id}`);
        await shoot(`voucher-${name}`);
      }
      await parts(page).button.click();
      await expect(parts(page).panel).toHaveAttribute('data-order', 'confirmed');
      await shoot('voucher-confirmed');
      await page.getByRole('link', { name: 'See the order' }).click();
      await awake(page);
      await shoot('order');
      await page.goto('/orders/666666666666666666');
      await shoot('order-none');
      await gotoAwake(page, '/orders');
      await shoot('orders');

      const soon = await publish(api, { ...wish, beginsIn: 8000 });
      await page.route('**/api/fn/grab', (route) => route.fulfill({ json: { outcome: 'queued', order_id: '666666666666666666' } }));
      await page.route('**/api/v1/vouchers/*/order', (route) => route.fulfill({ json: { order_id: '666666666666666666', state: 'queued' } }));
      await gotoAwake(page, `/vouchers/${soon.id}`);
      await shoot('voucher-opening');
      await expect(parts(page).panel).toHaveAttribute('data-phase', 'open');
      await parts(page).button.click();
      await expect(parts(page).panel).toHaveAttribute('data-order', 'queued');
      await shoot('voucher-queued');
      await page.unrouteAll();
      await steer(api, gone.id, 'end');
      await page.route('**/api/v1/events*', (route) => route.abort());
      await gotoAwake(page, `/vouchers/${gone.id}`);
      await expect(page.locator('.offline')).toBeVisible();
      await shoot('voucher-ended-offline');
      await page.goto('/nowhere');
      await shoot('missing');

      await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
      for (const [name, path] of Object.entries({
        'admin-sales': '/admin',
        'admin-new': '/admin/vouchers/new',
        'admin-new-wrong': '/admin/vouchers/new?wrong=title:required,pay_value:not_money,ends_at:before_begin&pay_value=4,75&stock=10',
        'admin-sale': `/admin/vouchers/${open.id}?told=published`,
      })) {
        await page.goto(path);
        await shoot(name);
      }
      await context.close();
    });
  }
}

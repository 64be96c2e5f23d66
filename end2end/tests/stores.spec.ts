// What shoppers see when a store breaks for real.
import { grab, logInAt, publish, somePhone } from '../lib/api.ts';
import { withPrivateShop } from '../lib/private.ts';
import { expect, gotoAwake, logIn, parts, test } from '../lib/shop.ts';

test('while Redis is down nothing is called sold out; when it is back the open page sells', async ({ page, tolerate }) => {
  test.slow();
  tolerate(/503|ERR_/);
  await withPrivateShop([], async ({ base, api, stopRedis, startRedis }) => {
    const sale = await publish(api, { stock: 3 });
    await logIn(page.context(), await logInAt(api, somePhone()), base);
    await gotoAwake(page, `${base}/vouchers/${sale.id}`);
    const { panel, button, left } = parts(page);
    await expect(panel).toHaveAttribute('data-phase', 'open');
    await stopRedis();
    await expect(panel).toHaveAttribute('data-phase', 'not_ready');
    await expect(button).toHaveText('Getting ready…');
    const answer = await page.request.get(`${base}/vouchers/${sale.id}`, { headers: { Accept: 'text/html' } });
    expect(answer.status()).toBe(503);
    expect(await answer.text()).toContain('A moment, please');
    await startRedis();
    await expect(panel).toHaveAttribute('data-phase', 'open', { timeout: 20_000 });
    await expect(left).toHaveText('3 left');
    // The first answer may still be "busy, press again": as told, one presses again, and never gets two.
    await expect(async () => {
      await button.click();
      await expect(panel).toHaveAttribute('data-order', 'confirmed', { timeout: 3000 });
    }).toPass({ timeout: 30_000 });
    await expect(left).toHaveText('2 left');
  });
});

test('a place that Redis has lost is told as lost, on the voucher’s page and on the order’s', async ({ page, tolerate }) => {
  test.slow();
  tolerate(/404|503|ERR_/);
  // Nobody settles here: what is accepted stays in Redis alone, and is lost with it.
  await withPrivateShop(['--role', 'web'], async ({ base, api, loseSales }) => {
    const sale = await publish(api, { stock: 3 });
    const token = await logInAt(api, somePhone());
    await logIn(page.context(), token, base);
    await gotoAwake(page, `${base}/vouchers/${sale.id}`);
    const { panel, button, status } = parts(page);
    await button.click();
    await expect(panel).toHaveAttribute('data-order', 'queued');
    await expect(status).toContainText('Your place is safe');
    const { body } = await grab(api, sale.id, token);
    const order = await page.context().newPage();
    await gotoAwake(order, `${base}/orders/${body.order_id}`);
    await expect(order.locator('.order-page')).toHaveAttribute('data-state', 'queued');
    loseSales();
    await expect(panel).toHaveAttribute('data-note', 'gone', { timeout: 30_000 });
    await expect(status).toContainText('Nothing was taken from you');
    await expect(order.locator('.order-page')).toHaveAttribute('data-state', 'gone', { timeout: 30_000 });
    await order.reload();
    await expect(order.getByRole('main')).toContainText('nothing was taken from you');
  });
});

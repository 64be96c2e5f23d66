// The main job: a shopper grabs a voucher and watches it become an order.
import { grab, logInAt, orderOf, publish, restock, somePhone, steer } from '../lib/api.ts';
import { expect, gotoAwake, parts, test } from '../lib/shop.ts';

test('a grab becomes a confirmed order without a reload', async ({ api, shopper }) => {
  const sale = await publish(api, { stock: 3 });
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button, status, orderId, left } = parts(shopper);
  await shopper.evaluate(() => Object.assign(window, { stillHere: true }));
  await expect(left).toHaveText('3 left');
  await button.click();
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
  await expect(status).toContainText('Confirmed');
  await expect(orderId).toHaveText(/^\d{15,19}$/);
  await expect(left).toHaveText('2 left');
  await expect(button).toHaveAttribute('aria-disabled', 'true');
  expect(await shopper.evaluate(() => 'stillHere' in window)).toBe(true);

  const id = await orderId.textContent();
  await shopper.getByRole('link', { name: 'See my orders' }).click();
  const row = shopper.locator('.order', { hasText: id ?? '?' });
  await expect(row.locator('.order-status')).toHaveAttribute('data-state', 'confirmed');
});

test('the last unit is gone: the page says so, and opens again when a unit comes back', async ({ api, token, shopper }) => {
  const sale = await publish(api, { stock: 1 });
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button, status } = parts(shopper);
  await expect(panel).toHaveAttribute('data-phase', 'open');
  expect((await grab(api, sale.id, await logInAt(api, somePhone()))).status).toBe(202);
  await expect(panel).toHaveAttribute('data-phase', 'sold_out');
  await expect(button).toHaveText('Sold out');
  await expect(button).toHaveAttribute('aria-disabled', 'true');
  await expect(status).toContainText('Every unit is sold');

  await restock(api, sale.id, 1);
  await expect(panel).toHaveAttribute('data-phase', 'open');
  await button.click();
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
  expect((await orderOf(api, sale.id, token)).state).toBe('confirmed');
});

test('a grab that comes too late is told that all are gone', async ({ api, shopper, tolerate }) => {
  tolerate(/ERR_FAILED/);
  const sale = await publish(api, { stock: 1 });
  // Neither the stream nor a question reaches the server, so that the page can't know.
  await shopper.route('**/api/v1/events*', (route) => route.fulfill({ status: 200, contentType: 'text/event-stream', body: ': nothing\n\n' }));
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button, status } = parts(shopper);
  await shopper.route(`**/api/v1/vouchers/${sale.id}`, (route) => route.abort());
  await grab(api, sale.id, await logInAt(api, somePhone()));
  await button.click();
  await expect(panel).toHaveAttribute('data-note', 'sold_out');
  await expect(status).toContainText('somebody was faster');
});

test('a scheduled sale opens at the second without a reload, and is bought', async ({ api, shopper }) => {
  const sale = await publish(api, { stock: 2, beginsIn: 5000 });
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button, digits } = parts(shopper);
  await expect(button).toHaveAttribute('aria-disabled', 'true');
  await expect(digits).toHaveText(/^00:00:0[1-5]$/);
  await shopper.evaluate(() => {
    const panel = document.querySelector('.panel');
    new MutationObserver(() => {
      if (panel?.getAttribute('data-phase') === 'open' && !('openedAt' in window)) Object.assign(window, { openedAt: Date.now() });
    }).observe(panel!, { attributes: true });
  });
  await expect(panel).toHaveAttribute('data-phase', 'open');
  const openedAt = await shopper.evaluate(() => (window as unknown as { openedAt: number }).openedAt);
  // Test, browser and server share one machine's clock.
  expect(Math.abs(openedAt - Date.parse(sale.begins_at))).toBeLessThan(1000);
  await button.click();
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
});

test('a paused sale says so, goes on without a reload, and ends', async ({ api, shopper }) => {
  const sale = await publish(api);
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button } = parts(shopper);
  await steer(api, sale.id, 'pause');
  await expect(panel).toHaveAttribute('data-phase', 'paused');
  await expect(button).toHaveText('Paused');
  await steer(api, sale.id, 'resume');
  await expect(panel).toHaveAttribute('data-phase', 'open');
  await steer(api, sale.id, 'end');
  await expect(panel).toHaveAttribute('data-phase', 'ended');
  await expect(button).toHaveText('Sale ended');
});

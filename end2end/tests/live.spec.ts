// What the page shows is what is: over the stream, after it was lost, and without it.
import { grab, logInAt, publish, somePhone } from '../lib/api.ts';
import { expect, gotoAwake, parts, test } from '../lib/shop.ts';

test('R60: a lost stream is said, comes back, and tells the state first', async ({ api, token, shopper, tolerate }) => {
  tolerate(/ERR_FAILED/);
  const sale = await publish(api);
  let cut = true;
  await shopper.route('**/api/v1/events*', (route) => (cut ? route.abort() : route.continue()));
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel } = parts(shopper);
  const offline = shopper.locator('.offline');
  await expect(offline).toBeVisible();
  // Bought elsewhere while the page heard nothing.
  expect((await grab(api, sale.id, token)).status).toBe(202);
  await expect(panel).not.toHaveAttribute('data-order', /./);
  cut = false;
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
  await expect(offline).toBeHidden();
});

test('without any stream the page asks, and still sees stock and order', async ({ api, shopper, tolerate }) => {
  tolerate(/ERR_FAILED/);
  const sale = await publish(api);
  await shopper.route('**/api/v1/events*', (route) => route.abort());
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button, left } = parts(shopper);
  await grab(api, sale.id, await logInAt(api, somePhone()));
  await expect(left).toHaveText('4 left');
  await button.click();
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
});

test('R58: an order that is confirmed before the stream is there is shown', async ({ api, shopper }) => {
  const sale = await publish(api);
  let letGo = (): void => {};
  const held = new Promise<void>((then) => (letGo = then));
  await shopper.route('**/api/v1/events*', async (route) => {
    await held;
    await route.continue();
  });
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button, orderId } = parts(shopper);
  await button.click();
  await expect(orderId).toHaveText(/^\d+$/);
  letGo();
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
});

test('a lost answer is asked for again, and makes no second order', async ({ api, shopper, tolerate }) => {
  tolerate(/ERR_FAILED|ERR_CONNECTION/);
  const sale = await publish(api);
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  let lost = 0;
  await shopper.route('**/api/fn/grab', async (route) => {
    if (lost > 0) return route.continue();
    lost += 1;
    await route.fetch();
    await route.abort();
  });
  const { panel, button, left } = parts(shopper);
  await button.click();
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
  await expect(left).toHaveText('4 left');
  expect(lost).toBe(1);
});

test('the list and the orders are live too', async ({ api, token, shopper }) => {
  const title = `Live ${Date.now()}`;
  const sale = await publish(api, { title, stock: 2 });
  await gotoAwake(shopper, '/');
  const card = shopper.locator('.card', { hasText: title });
  await expect(card.locator('.left')).toHaveText('2 left');
  await grab(api, sale.id, token);
  await expect(card.locator('.left')).toHaveText('1 left');
});

test('times are shown in the reader’s own zone', async ({ api, shopper }) => {
  const sale = await publish(api);
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const opens = shopper.locator('.times time').first();
  await expect(opens).toContainText('GMT+8');
  await expect(opens).toHaveAttribute('title', /UTC$/);
});

// The page of one order.
import { grab, logInAt, publish, somePhone } from '../lib/api.ts';
import { expect, gotoAwake, logIn, parts, test } from '../lib/shop.ts';

test('an order has a page with its steps, times and what to do next', async ({ api, shopper, token }) => {
  const sale = await publish(api, { title: 'Dumplings' });
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  await parts(shopper).button.click();
  await expect(parts(shopper).panel).toHaveAttribute('data-order', 'confirmed');
  await shopper.getByRole('link', { name: 'See the order' }).click();
  await expect(shopper).toHaveURL(/\/orders\/\d{15,19}$/);
  await expect(shopper.getByRole('heading', { level: 1 })).toHaveText('Dumplings');
  const steps = shopper.locator('.steps li');
  await expect(steps.nth(0)).toContainText(/Place taken.*GMT\+8/);
  await expect(steps.nth(1)).toContainText(/Confirmed.*GMT\+8/);
  await expect(steps.nth(1)).toHaveAttribute('data-step', 'done');
  await expect(shopper.locator('.next-step')).toContainText('Show the order number');
  const { body } = await grab(api, sale.id, token);
  expect(shopper.url()).toContain(body.order_id);
});

test('the page of a queued order hears that it is confirmed, and when', async ({ api, shopper, token }) => {
  const sale = await publish(api);
  const { body } = await grab(api, sale.id, token);
  // The page as it was a moment before the order settled.
  await shopper.route(`**/orders/${body.order_id}`, async (route) => {
    if (route.request().resourceType() !== 'document') return route.continue();
    const answer = await route.fetch();
    const html = (await answer.text()).replaceAll('&quot;state&quot;:&quot;confirmed&quot;', '&quot;state&quot;:&quot;queued&quot;').replaceAll('"state":"confirmed"', '"state":"queued"');
    await route.fulfill({ response: answer, body: html });
  });
  await expect.poll(async () => (await api.get(`/api/v1/orders/${body.order_id}`, { headers: { Cookie: `sid=${token}` } })).json()).toMatchObject({ state: 'confirmed' });
  await gotoAwake(shopper, `/orders/${body.order_id}`);
  await expect(shopper.locator('.order-page')).toHaveAttribute('data-state', 'confirmed');
  await expect(shopper.locator('.order-page .status')).toContainText('Confirmed');
  await expect(shopper.locator('.steps li').nth(1)).toContainText('GMT+8');
});

test('another’s order, and none, are not found; a stranger logs in first', async ({ api, page, token, tolerate }) => {
  tolerate(/404/);
  const sale = await publish(api);
  const { body } = await grab(api, sale.id, await logInAt(api, somePhone()));
  await page.goto(`/orders/${body.order_id}`);
  await expect(page).toHaveURL(`/login?next=/orders/${body.order_id}`);
  await logIn(page.context(), token);
  const answer = await page.goto(`/orders/${body.order_id}`);
  expect(answer?.status()).toBe(404);
  await expect(page.getByRole('main')).toContainText('nothing was taken from you');
});

test('an order that the server knows no more is told as lost, and can be tried again', async ({ api, shopper, tolerate }) => {
  tolerate(/404/);
  const sale = await publish(api);
  // An acceptance that no store remembers.
  await shopper.route('**/api/fn/grab', (route) => route.fulfill({ json: { outcome: 'queued', order_id: '666666666666666666' } }));
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button, status } = parts(shopper);
  await button.click();
  await expect(panel).toHaveAttribute('data-order', 'queued');
  await expect(panel).toHaveAttribute('data-note', 'gone', { timeout: 20_000 });
  await expect(status).toContainText('lost your place');
  await expect(button).toHaveAttribute('aria-disabled', 'false');
  await shopper.unrouteAll();
  await button.click();
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
});

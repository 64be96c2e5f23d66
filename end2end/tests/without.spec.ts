// Without and before the browser's half of the shop.
import { grab, logInAt, publish, somePhone } from '../lib/api.ts';
import { awake, expect, logIn, parts, test } from '../lib/shop.ts';

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('a voucher is bought, from the login to the confirmed order', async ({ api, page }) => {
    const sale = await publish(api);
    await page.goto(`/vouchers/${sale.id}`);
    await parts(page).button.click();
    await expect(page).toHaveURL(`/login?next=/vouchers/${sale.id}`);
    await page.getByLabel('Phone number').fill(somePhone());
    await page.getByRole('button', { name: 'Send me a code' }).click();
    const demo = await page.getByText('Demo: your code is').textContent();
    await page.getByLabel('Code', { exact: true }).fill(/\d{6}/.exec(demo ?? '')![0]);
    await page.getByRole('button', { name: 'Log in' }).click();
    await parts(page).button.click();
    await expect(page).toHaveURL(`/vouchers/${sale.id}`);
    // Queued at first: the page then loads itself again.
    await expect(parts(page).panel).toHaveAttribute('data-order', 'confirmed');
    await page.goto('/orders');
    await expect(page.locator('.order-status')).toHaveAttribute('data-state', 'confirmed');
  });

  test('a refusal is told in words', async ({ api, page, token }) => {
    const sale = await publish(api, { stock: 1 });
    await logIn(page.context(), token);
    await page.goto(`/vouchers/${sale.id}`);
    await grab(api, sale.id, await logInAt(api, somePhone()));
    await parts(page).button.click();
    await expect(page).toHaveURL(`/vouchers/${sale.id}?told=sold_out`);
    await expect(parts(page).status).toContainText('somebody was faster');
  });

  test('a scheduled sale opens by itself', async ({ api, shopper: page }) => {
    const sale = await publish(api, { beginsIn: 4000 });
    await page.goto(`/vouchers/${sale.id}`);
    await expect(parts(page).panel).toHaveAttribute('data-phase', /scheduled|opening/);
    await expect(parts(page).panel).toHaveAttribute('data-phase', 'open');
    await parts(page).button.click();
    await expect(parts(page).panel).toHaveAttribute('data-order', 'confirmed');
  });
});

test('R50: a click before the islands are awake is not lost', async ({ api, shopper }) => {
  const sale = await publish(api);
  let release = (): void => {};
  const held = new Promise<void>((then) => (release = then));
  await shopper.route('**/*.wasm', async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  await shopper.goto(`/vouchers/${sale.id}`, { waitUntil: 'domcontentloaded' });
  await parts(shopper).button.click();
  await expect(parts(shopper).panel).toHaveAttribute('data-order', /queued|confirmed/);
  release();
  await awake(shopper);
  await expect(parts(shopper).panel).toHaveAttribute('data-order', 'confirmed');
});

test('R52: with the browser’s half gone after a release the form still buys', async ({ api, shopper, tolerate }) => {
  tolerate(/wasm|404|Failed/);
  const sale = await publish(api);
  await shopper.route('**/*.wasm', (route) => route.fulfill({ status: 404 }));
  await shopper.goto(`/vouchers/${sale.id}`);
  await expect(shopper.locator('.stale')).toBeVisible();
  await parts(shopper).button.click();
  await expect(parts(shopper).panel).toHaveAttribute('data-order', /queued|confirmed/);
});

// Dead letters: told, replayed, released. Each test makes its own, and cares for no other.
import { logInAt, orderOf, publish, somePhone } from '../lib/api.ts';
import { bury, redis, sumOf } from '../lib/console.ts';
import { expect, logIn, test } from '../lib/shop.ts';

test.beforeEach(async ({ context }) => {
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
});

const userOf = async (api: any, token: string): Promise<string> => {
  const answer = await api.get('/api/v1/session', { headers: { Cookie: `sid=${token}` } });
  return (await answer.json()).user.id;
};

test('a letter is replayed: its order is confirmed, and the sum adds up', async ({ api, page, token }) => {
  const sale = await publish(api);
  const { order, letter } = bury(sale.id, await userOf(api, token), 'held');
  await page.goto('/admin/dead');
  const card = page.locator(`[data-letter="${letter}"]`);
  await expect(card.locator('.badge')).toHaveText('held');
  await expect(card).toContainText('never released by itself');
  await expect(card.locator('pre')).toContainText('note=<b>text</b>');
  await expect(card.getByRole('link', { name: order })).toBeVisible();
  await card.getByRole('button', { name: 'Replay' }).click();
  await expect(page.getByRole('status')).toContainText('Queued again');
  await expect(card).toHaveCount(0);
  await expect.poll(async () => (await orderOf(api, sale.id, token)).state).toBe('confirmed');
  expect((await orderOf(api, sale.id, token)).order_id).toBe(order);
  expect(await sumOf(api, sale.id)).toMatchObject({ units: 5, live_orders: 1, ledger_stock: 4, redis_stock: 4, drift: 0 });
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled });

    test('a letter is released after a second thought: the order has failed, the unit is back', async ({ api, page, token }) => {
      const sale = await publish(api);
      const { order, letter } = bury(sale.id, await userOf(api, token), 'unwritable');
      await page.goto('/admin/dead');
      const card = page.locator(`[data-letter="${letter}"]`);
      await card.getByText('Release…').click();
      const sure = card.getByLabel('Yes, this order has failed');
      await card.getByRole('button', { name: 'Release the unit' }).click();
      await expect(sure).toBeFocused();
      await sure.check();
      await card.getByRole('button', { name: 'Release the unit' }).click();
      await expect(page.getByRole('status')).toContainText('Released');
      await expect(card).toHaveCount(0);
      expect(await orderOf(api, sale.id, token)).toMatchObject({ order_id: order, state: 'failed' });
      expect(await sumOf(api, sale.id)).toMatchObject({ units: 5, live_orders: 0, failed_orders: 1, redis_stock: 5, drift: 0 });
      await page.goto(`/admin/vouchers/${sale.id}`);
      await expect(page.locator('.history')).toContainText(`order ${order}`);
    });
  });
}

test('an order that is in the ledger is never released', async ({ api, page }) => {
  const sale = await publish(api);
  const token = await logInAt(api, somePhone());
  await api.post(`/api/v1/vouchers/${sale.id}/grab`, { headers: { Cookie: `sid=${token}` }, data: {} });
  await expect.poll(async () => (await orderOf(api, sale.id, token)).state).toBe('confirmed');
  const { order_id } = await orderOf(api, sale.id, token);
  const user = await userOf(api, token);
  const entry = redis('XADD', 'stream.dead:{p0}', '*', 'reason', 'held', 'userId', user, 'id', order_id, 'voucherId', sale.id, 'payload', 'x');
  await page.goto('/admin/dead');
  const card = page.locator(`[data-letter="0.${entry}"]`);
  await card.getByText('Release…').click();
  await card.getByLabel('Yes, this order has failed').check();
  await card.getByRole('button', { name: 'Release the unit' }).click();
  await expect(page.getByRole('status')).toContainText('nothing was released');
  expect((await orderOf(api, sale.id, token)).state).toBe('confirmed');
  expect(await sumOf(api, sale.id)).toMatchObject({ live_orders: 1, redis_stock: 4, drift: 0 });
});

test('an entry without an order can only be dropped', async ({ page }) => {
  const entry = redis('XADD', 'stream.dead:{p0}', '*', 'reason', 'unreadable', 'userId', '', 'id', '', 'voucherId', '', 'payload', 'nonsense=1');
  await page.goto('/admin/dead');
  const card = page.locator(`[data-letter="0.${entry}"]`);
  await expect(card.getByRole('button', { name: 'Replay' })).toHaveCount(0);
  await card.getByText('Drop…').click();
  await card.getByRole('button', { name: 'Drop' }).click();
  await expect(page.getByRole('status')).toContainText('Dropped');
  await expect(card).toHaveCount(0);
});

test('a release without the tick is refused by the server', async ({ api, page, token }) => {
  const sale = await publish(api);
  const { letter } = bury(sale.id, await userOf(api, token), 'held');
  const form = { letter_id: letter };
  const answer = await page.request.post('/api/fn/release_letter', { form, headers: { Accept: 'application/json' } });
  expect(await answer.json()).toBe('unconfirmed');
  await page.goto('/admin/dead');
  await expect(page.locator(`[data-letter="${letter}"]`)).toBeVisible();
  await page.locator(`[data-letter="${letter}"]`).getByRole('button', { name: 'Replay' }).click();
});

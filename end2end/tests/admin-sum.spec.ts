// Steered while two hundred buy: nobody is told a wrong thing, and every unit is somewhere.
import { grab, publish, restock, steer } from '../lib/api.ts';
import { asAdmin, mintSessions, summed, sumOf } from '../lib/console.ts';
import { expect, logIn, test } from '../lib/shop.ts';

const SHOPPERS = 230;

test('+500, -200, pause and resume while shoppers grab: units add up, in page, JSON and CSV', async ({ api, page, context }) => {
  test.slow();
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
  const sale = await publish(api, { title: 'Busy', stock: 300 });
  const sessions = mintSessions(SHOPPERS);
  const told = new Map<string, number>();
  // A pause refuses some: they come again, as people do.
  const shop = async (token: string): Promise<string | undefined> => {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const { status, body } = await grab(api, sale.id, token);
      told.set(String(status), (told.get(String(status)) ?? 0) + 1);
      if (status === 202 || status === 409) return body.order_id;
      expect([423, 429, 503], JSON.stringify(body)).toContain(status);
      await new Promise((then) => setTimeout(then, 100));
    }
    return undefined;
  };
  const queue = [...sessions];
  const accepted: string[] = [];
  const shoppers = Array.from({ length: 20 }, async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const order = await shop(next.token);
      expect(order, 'everybody gets one: there are more units than shoppers').toBeDefined();
      accepted.push(order!);
      await new Promise((then) => setTimeout(then, 60));
    }
  });
  await restock(api, sale.id, 500);
  await restock(api, sale.id, -200);
  await steer(api, sale.id, 'pause');
  await new Promise((then) => setTimeout(then, 500));
  await steer(api, sale.id, 'resume');
  await Promise.all(shoppers);
  expect(new Set(accepted).size).toBe(SHOPPERS);
  expect(told.get('202')).toBe(SHOPPERS);

  await expect.poll(async () => (await sumOf(api, sale.id)).live_orders).toBe(SHOPPERS);
  expect(await sumOf(api, sale.id)).toMatchObject({
    published: 300, changed: 300, units: 600, failed_orders: 0,
    ledger_stock: 600 - SHOPPERS, redis_stock: 600 - SHOPPERS, in_flight: 0, drift: 0,
  });
  await page.goto(`/admin/vouchers/${sale.id}`);
  await page.getByRole('main').getByRole('link', { name: 'Report' }).click();
  await expect(page.locator('[data-adds-up="true"]')).toHaveText('It adds up.');
  const parts = await Promise.all(['published', 'changed', 'units', 'live', 'left', 'accounted', 'failed', 'drift'].map((name) => summed(page, name)));
  expect(parts).toEqual([300, 300, 600, SHOPPERS, 600 - SHOPPERS, 600, 0, 0]);
  await expect(page.locator('.history tbody tr')).toHaveCount(2);
  const csv = page.waitForEvent('download');
  await page.getByRole('link', { name: 'As CSV' }).click();
  expect((await csv).suggestedFilename()).toBe(`report-${sale.id}.csv`);

  // A full page of orders, and what comes after it.
  await page.goto(`/admin/orders?voucher=${sale.id}`);
  const rows = page.locator('tbody tr');
  await expect(rows).toHaveCount(200);
  await page.getByRole('link', { name: 'Older orders' }).click();
  await expect(rows).toHaveCount(SHOPPERS - 200);
  await expect(page.getByRole('link', { name: 'Older orders' })).toHaveCount(0);
  const href = await page.getByRole('link', { name: 'This page as CSV' }).getAttribute('href');
  const listed = await (await api.get(href!, { headers: asAdmin() })).text();
  expect(listed.trim().split('\n')).toHaveLength(SHOPPERS - 200 + 1);
  await page.getByRole('link', { name: 'Newest orders' }).click();
  await expect(rows).toHaveCount(200);
});

test('the live board moves with the sale', async ({ api, page, context }) => {
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
  const sale = await publish(api, { title: 'Watched', stock: 50 });
  await page.goto(`/admin/vouchers/${sale.id}`);
  const number = (name: string) => page.locator(`[data-n="${name}"]`);
  await expect(page.locator('.pulse')).toHaveAttribute('data-state', 'live');
  await expect(number('redis-stock')).toHaveText('50');
  await expect(number('streams')).toHaveText(/^\d+$/);
  for (const { token } of mintSessions(20)) expect((await grab(api, sale.id, token)).status).toBe(202);
  await expect(number('redis-stock')).toHaveText('30');
  await expect(number('ledger-stock')).toHaveText('30');
  await expect(number('sold')).toHaveText('20');
  await expect(number('drift')).toHaveText('0');
  await expect(page.locator('.chart polyline.accepted')).toHaveAttribute('points', /,(?!118\.0)\d/);
  await steer(api, sale.id, 'pause');
  await expect(number('state')).toHaveText('Paused');
});

test('a board that gets no answer says so, and comes back', async ({ api, page, context, tolerate }) => {
  tolerate(/Failed to load|ERR_/);
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
  const sale = await publish(api);
  let cut = true;
  await page.route('**/board/events', (route) => (cut ? route.abort() : route.continue()));
  await page.goto(`/admin/vouchers/${sale.id}`);
  await expect(page.locator('.pulse')).toHaveText('No answer from the server. Trying again…');
  cut = false;
  await expect(page.locator('.pulse')).toHaveText('Live, once a second');
});

test('orders are found by phone, id and state, and a search that can not be read is told beside the field', async ({ api, page, context }) => {
  const { logInAt, orderOf, somePhone } = await import('../lib/api.ts');
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
  const sale = await publish(api, { title: 'Found <i>again</i>' });
  const phone = somePhone();
  const token = await logInAt(api, phone);
  await grab(api, sale.id, token);
  await expect.poll(async () => (await orderOf(api, sale.id, token)).state).toBe('confirmed');
  const { order_id } = await orderOf(api, sale.id, token);
  await page.goto('/admin/orders');
  const rows = page.locator('tbody tr');
  await page.getByLabel('Phone number').fill(phone);
  await page.getByRole('button', { name: 'Find' }).click();
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('Found <i>again</i>');
  await expect(rows).toContainText(`${phone.slice(0, 3)}****${phone.slice(7)}`);
  await page.goto(`/admin/orders?id=${order_id}`);
  await expect(rows).toHaveCount(1);
  await page.getByLabel('State').selectOption('Failed');
  await page.getByRole('button', { name: 'Find' }).click();
  await expect(page.getByText('No order matches.')).toBeVisible();
  await page.goto('/admin/orders?phone=1380&voucher=x');
  await expect(page.locator('.error')).toHaveText(['Eleven digits that begin with 1.', 'A sale\'s number.']);
  await expect(page.getByLabel('Phone number')).toHaveValue('1380');
});

// However often one presses, there is one order, and it has one id everywhere.
import { execFileSync } from 'node:child_process';
import { grab, orderOf, publish } from '../lib/api.ts';
import { expect, gotoAwake, parts, test } from '../lib/shop.ts';

test('R53: a double click and an Enter held down are one request', async ({ api, token, shopper }) => {
  const sale = await publish(api);
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  let requests = 0;
  shopper.on('request', (request) => {
    if (request.url().endsWith('/api/fn/grab')) requests += 1;
  });
  const { panel, button } = parts(shopper);
  await button.dblclick();
  await button.press('Enter');
  await button.press('Enter');
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
  expect(requests).toBe(1);
  expect((await orderOf(api, sale.id, token)).state).toBe('confirmed');
});

test('R53: two tabs at once have one order with one id', async ({ api, shopper }) => {
  const sale = await publish(api);
  const other = await shopper.context().newPage();
  await Promise.all([shopper, other].map((page) => gotoAwake(page, `/vouchers/${sale.id}`)));
  const [first, second] = [parts(shopper), parts(other)];
  // Whichever comes second may be told before it is pressed: it is pressed all the same.
  await Promise.all([first, second].map(({ button }) => button.click({ force: true })));
  await expect(first.panel).toHaveAttribute('data-order', 'confirmed');
  await expect(second.panel).toHaveAttribute('data-order', 'confirmed');
  expect(await first.orderId.textContent()).toBe(await second.orderId.textContent());
  await expect(first.left).toHaveText('4 left');
});

test('R46: the order id is the same text in the answer, the event, the page, the JSON and the ledger', async ({ api, token, shopper, baseURL }) => {
  const sale = await publish(api);
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, orderId } = parts(shopper);
  const { status, body } = await grab(api, sale.id, token);
  expect(status).toBe(202);
  expect(typeof body.order_id).toBe('string');
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
  await expect(orderId).toHaveText(body.order_id);

  const stream = await fetch(`${baseURL}/api/v1/events?voucher=${sale.id}`, { headers: { Cookie: `sid=${token}` } });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  while (!/event: order\ndata: .*\n\n/.test(heard)) heard += (await reader.read()).value ?? '';
  await reader.cancel();
  expect(JSON.parse(/event: order\ndata: (.*)\n/.exec(heard)![1]).order_id).toBe(body.order_id);

  expect((await orderOf(api, sale.id, token)).order_id).toBe(body.order_id);
  const url = process.env.SECKILL_DATABASE_URL;
  if (url !== undefined) {
    const sql = `SELECT id::text FROM voucher_order WHERE voucher_id = ${sale.id}`;
    expect(execFileSync('psql', [url, '-AtqX', '-c', sql], { encoding: 'utf8' }).trim()).toBe(body.order_id);
  }
});

// One stream for all tabs of a browser that look at the same: over HTTP/1.1 there are six connections.
import type { BrowserContext, Page } from '@playwright/test';
import { grab, logInAt, publish, restock, somePhone } from '../lib/api.ts';
import { expect, gotoAwake, parts, test } from '../lib/shop.ts';

/** Counts the streams that the context's pages have asked for and not given up. */
function streams(context: BrowserContext): Set<unknown> {
  const open = new Set<unknown>();
  context.on('request', (request) => {
    if (request.url().includes('/api/v1/events')) open.add(request);
  });
  context.on('requestfinished', (request) => open.delete(request));
  context.on('requestfailed', (request) => open.delete(request));
  return open;
}

async function tabsOf(first: Page, count: number): Promise<Page[]> {
  const tabs = [first];
  while (tabs.length < count) tabs.push(await first.context().newPage());
  return tabs;
}

test('eight tabs of one voucher share one stream; all hear, and all can grab', async ({ api, shopper }) => {
  test.slow();
  const open = streams(shopper.context());
  const sale = await publish(api, { stock: 9 });
  const tabs = await tabsOf(shopper, 8);
  for (const tab of tabs) await gotoAwake(tab, `/vouchers/${sale.id}`);
  await grab(api, sale.id, await logInAt(api, somePhone()));
  for (const tab of tabs) await expect(parts(tab).left).toHaveText('8 left');
  expect(open.size).toBe(1);
  await parts(tabs[7]).button.click();
  for (const tab of tabs) await expect(parts(tab).panel).toHaveAttribute('data-order', 'confirmed');
  await expect(parts(tabs[3]).left).toHaveText('7 left');
});

test('when the tab with the stream goes, the next one takes over', async ({ api, shopper }) => {
  const open = streams(shopper.context());
  const sale = await publish(api, { stock: 9 });
  const [first, second, third] = await tabsOf(shopper, 3);
  for (const tab of [first, second, third]) await gotoAwake(tab, `/vouchers/${sale.id}`);
  await first.close();
  await expect.poll(() => open.size).toBe(1);
  await restock(api, sale.id, 4);
  for (const tab of [second, third]) await expect(parts(tab).left).toHaveText('13 left');
});

test('eight tabs of eight vouchers all work', async ({ api, shopper, token }) => {
  test.slow();
  const open = streams(shopper.context());
  const tabs = await tabsOf(shopper, 8);
  const sales = [];
  for (const tab of tabs) {
    const sale = await publish(api, { stock: 5 });
    sales.push(sale);
    await gotoAwake(tab, `/vouchers/${sale.id}`);
  }
  expect(open.size).toBeLessThanOrEqual(4);
  for (const [at, tab] of tabs.entries()) {
    await parts(tab).button.click();
    await expect(parts(tab).panel, `tab ${at}`).toHaveAttribute('data-order', 'confirmed');
  }
  expect((await grab(api, sales[7].id, token)).body.code).toBe('already_ordered');
});

test('without locks each tab has a stream of its own', async ({ api, shopper }) => {
  await shopper.addInitScript(() => Object.defineProperty(Navigator.prototype, 'locks', { value: undefined }));
  const sale = await publish(api, { stock: 5 });
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  await grab(api, sale.id, await logInAt(api, somePhone()));
  await expect(parts(shopper).left).toHaveText('4 left');
});

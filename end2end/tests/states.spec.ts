// Every state has its own words, a next step, and is readable by all, in both colour schemes and languages.
import AxeBuilder from '@axe-core/playwright';
import type { Page, Route } from '@playwright/test';
import { grab, publish } from '../lib/api.ts';
import { expect, gotoAwake, parts, test } from '../lib/shop.ts';
import { inState, STATES } from '../lib/states.ts';

async function readable(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).analyze();
    const told = found.violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map((node) => node.html).join(' ')}`);
    expect(told).toEqual([]);
  }
}

for (const state of STATES) {
  test(`state: ${state.name}`, async ({ api, shopper, token, tolerate }) => {
    test.slow();
    tolerate(/401|404|ERR_|429|503/);
    await inState(state, { api, page: shopper, token }, async () => {
      const { status } = parts(shopper);
      await expect(status).toContainText(state.english);
      await readable(shopper);
      // What is pressed is as large as a fingertip.
      for (const target of await shopper.locator('main a:visible, main button:visible, nav a:visible, nav button:visible').all()) {
        const box = await target.boundingBox();
        expect(box?.height, await target.innerText()).toBeGreaterThanOrEqual(44);
      }
    });
  });
}

test('slow down names the seconds, and the button is back after them', async ({ api, shopper }) => {
  const sale = await publish(api);
  await shopper.route('**/api/fn/grab', (route) => route.fulfill({ json: { outcome: 'rate_limited', retry_after_ms: 1800 } }));
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button, status } = parts(shopper);
  await button.click();
  await expect(status).toHaveText('Too many attempts. Wait 2 s, then press again.');
  await expect(button).toHaveAttribute('aria-disabled', 'true');
  await shopper.unrouteAll();
  await expect(button).toHaveAttribute('aria-disabled', 'false');
  await button.click();
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
});

test('offline is said at once on every live page, and over when the network is back', async ({ api, shopper, token, tolerate }) => {
  tolerate(/ERR_/);
  const sale = await publish(api);
  const { order_id } = (await grab(api, sale.id, token)).body;
  for (const path of [`/vouchers/${sale.id}`, '/', '/orders', `/orders/${order_id}`]) {
    await gotoAwake(shopper, path);
    const offline = shopper.locator('.offline');
    await expect(offline).toBeHidden();
    await shopper.context().setOffline(true);
    await expect(offline, path).toBeVisible();
    await expect(offline).toHaveText(/Reconnecting/);
    await shopper.context().setOffline(false);
    await expect(offline, path).toBeHidden();
  }
});

test('a stream that opens only after the network has gone does not call it back', async ({ api, shopper, tolerate }) => {
  tolerate(/ERR_/);
  const sale = await publish(api);
  const offline = shopper.locator('.offline');
  const asked = new Promise<Route>((held) => void shopper.route('**/api/v1/events*', held, { times: 1 }));
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const stream = await asked;
  await shopper.context().setOffline(true);
  await expect(offline).toBeVisible();
  const changes = await offline.evaluateHandle((notice) => {
    const seen: MutationRecord[] = [];
    new MutationObserver((records) => seen.push(...records)).observe(notice, { attributes: true });
    return seen;
  });
  // What the page does with the stream is done when it shows the stock that came by it.
  const stock = { voucher_id: sale.id, stock: 1, state: 'live', held: false };
  await stream.fulfill({ contentType: 'text/event-stream', body: `event: stock\ndata: ${JSON.stringify(stock)}\n\nretry: 60000\n\n` });
  await expect(parts(shopper).left).toHaveText('1 left');
  expect(await changes.evaluate((seen) => seen.length)).toBe(0);
  await shopper.context().setOffline(false);
  await expect(offline).toBeHidden();
});

test('before the opening a calendar can be filled, with the right instant', async ({ api, shopper }) => {
  const sale = await publish(api, { beginsIn: 3_600_000, title: 'Tea; cake, 茶' });
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  await expect(shopper.locator('.calendar time')).toContainText('GMT+8');
  const waiting = shopper.waitForEvent('download');
  await shopper.getByRole('link', { name: 'Add to calendar' }).click();
  const download = await waiting;
  expect(download.suggestedFilename()).toBe(`sale-${sale.id}.ics`);
  let file = '';
  for await (const chunk of await download.createReadStream()) file += chunk;
  const begins = `${sale.begins_at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  expect(file).toContain(`\r\nDTSTART:${begins}\r\n`);
  expect(file).toContain('\r\nSUMMARY:Tea\\; cake\\, 茶\r\n');
});

test('a newer release while the page is open is hinted at, once the stream is back', async ({ api, shopper, tolerate }) => {
  tolerate(/ERR_/);
  const sale = await publish(api);
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  await shopper.route('**/login', async (route) => {
    const answer = await route.fetch();
    const html = (await answer.text()).replace(/data-release="[^"]*"/, 'data-release="/pkg/newer.wasm"');
    await route.fulfill({ response: answer, body: html });
  });
  const hint = shopper.locator('.stale');
  await expect(hint).toBeHidden();
  await shopper.context().setOffline(true);
  await expect(shopper.locator('.offline')).toBeVisible();
  await shopper.context().setOffline(false);
  await expect(hint).toBeVisible();
  await expect(hint.getByRole('link', { name: 'Reload' })).toBeVisible();
  await parts(shopper).button.click();
  await expect(parts(shopper).panel).toHaveAttribute('data-order', 'confirmed');
});

test('a body of the wrong shape is refused as such, not as a fault of ours', async ({ shopper }) => {
  for (const data of ['', 'nonsense', '%', '{"voucher_id": 1}', 'voucher_id[]=1&voucher_id[x]=2', 'voucher_id=%ff%fe', 'voucher_id=0']) {
    for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain']) {
      const headers = { Accept: 'application/json', 'Content-Type': type };
      const answer = await shopper.request.post('/api/fn/grab', { data: Buffer.from(data), headers });
      expect(answer.status(), `${type} ${data}`).toBeGreaterThanOrEqual(400);
      expect(answer.status(), `${type} ${data}`).toBeLessThan(500);
    }
  }
});

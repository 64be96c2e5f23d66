// What holds on every page: small, readable by all, and quiet in the console.
import AxeBuilder from '@axe-core/playwright';
import { grab, publish } from '../lib/api.ts';
import { awake, expect, gotoAwake, logIn, parts, test } from '../lib/shop.ts';

const CODE_BUDGET = 120 * 1024;
const STYLE_BUDGET = 6 * 1024;
const PAGE_BUDGET = 10 * 1024;
const AWAKE_MS = 600;

test('the voucher page keeps its budget, and its files never change under their names', async ({ api, shopper, baseURL }) => {
  const sale = await publish(api);
  const html = await (await shopper.request.get(`/vouchers/${sale.id}`, { headers: { Accept: 'text/html' } })).text();
  const sizes = { code: 0, style: 0 };
  for (const path of new Set(html.match(/\/pkg\/[\w.]+/g))) {
    const answer = await fetch(`${baseURL}${path}`, { headers: { 'Accept-Encoding': 'br' } });
    const packed = await api.get(path, { headers: { 'Accept-Encoding': 'br' } });
    expect(packed.headers()['content-encoding'], path).toBe('br');
    expect(answer.headers.get('cache-control')).toContain('immutable');
    const length = Number(packed.headers()['content-length']);
    expect(length).toBeGreaterThan(0);
    sizes[path.endsWith('.css') ? 'style' : 'code'] += length;
  }
  console.log(`voucher page: wasm and js ${sizes.code} B, css ${sizes.style} B, html ${Buffer.byteLength(html)} B`);
  expect(sizes.code).toBeLessThanOrEqual(CODE_BUDGET);
  expect(sizes.style).toBeLessThanOrEqual(STYLE_BUDGET);
  expect(Buffer.byteLength(html)).toBeLessThanOrEqual(PAGE_BUDGET);
});

test('the islands are awake soon, on a slow device too', async ({ api, shopper }) => {
  const sale = await publish(api);
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const device = await shopper.context().newCDPSession(shopper);
  await device.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await gotoAwake(shopper, `/vouchers/${sale.id}`);
    times.push(await shopper.evaluate(() => performance.getEntriesByName('hydrated')[0].startTime));
  }
  times.sort((a, b) => a - b);
  console.log(`awake after ${times.map(Math.round).join(', ')} ms at a quarter of the speed`);
  // What else the machine does only adds to what the page costs: the fastest is nearest to it.
  expect(times[0]).toBeLessThan(AWAKE_MS);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every page is readable by all, in ${colorScheme}`, async ({ api, shopper, token, browser, baseURL, tolerate }) => {
    test.slow();
    tolerate(/404/);
    await shopper.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const check = async (page = shopper): Promise<void> => {
      const found = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).analyze();
      const told = found.violations.map(({ id, nodes }) => `${page.url()} ${id}: ${nodes.map((node) => node.html).join(' ')}`);
      expect(told).toEqual([]);
    };
    const open = await publish(api);
    const later = await publish(api, { beginsIn: 3_600_000 });
    const gone = await publish(api, { stock: 1 });
    await grab(api, gone.id, process.env.SECKILL_E2E_ADMIN ?? '');
    for (const { id } of [later, gone, open]) {
      await gotoAwake(shopper, `/vouchers/${id}`);
      await check();
    }
    await parts(shopper).button.click();
    await expect(parts(shopper).panel).toHaveAttribute('data-order', 'confirmed');
    await check();
    await shopper.getByRole('link', { name: 'See the order' }).click();
    await awake(shopper);
    await check();
    await shopper.goto('/orders/666666666666666666');
    await check();
    await gotoAwake(shopper, '/');
    await check();
    await gotoAwake(shopper, '/orders');
    await check();
    for (const path of ['/login?told=bad_phone', '/nowhere', '/vouchers/999999999']) {
      await shopper.goto(path);
      await check();
    }
    const context = await browser.newContext({ baseURL, colorScheme });
    await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
    const admin = await context.newPage();
    for (const path of ['/admin', '/admin/vouchers/new', '/admin/vouchers/new?wrong=title:required', `/admin/vouchers/${open.id}`]) {
      await admin.goto(path);
      await check(admin);
    }
    await context.close();
  });
}

test('nothing moves while the page wakes up, and the first paint waits for no script', async ({ api, shopper, token }) => {
  const sale = await publish(api);
  const later = await publish(api, { beginsIn: 93_784_000 });
  await grab(api, sale.id, token);
  await shopper.addInitScript(() => {
    const moved: number[] = [];
    Object.assign(window, { moved });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) moved.push((entry as PerformanceEntry & { value: number }).value);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  for (const width of [1280, 390]) {
    await shopper.setViewportSize({ width, height: 800 });
    for (const path of ['/', `/vouchers/${sale.id}`, `/vouchers/${later.id}`, '/orders']) {
      await gotoAwake(shopper, path);
      // Two frames later everything that waking up has changed is laid out.
      await shopper.evaluate(() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then))));
      const moved = await shopper.evaluate(() => (window as unknown as { moved: number[] }).moved.reduce((a, b) => a + b, 0));
      expect(moved, `${path} at ${width}`).toBeLessThan(0.01);
      const [paint, awakeAt] = await shopper.evaluate(() => [
        performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
        performance.getEntriesByName('hydrated')[0].startTime,
      ]);
      console.log(`${path} at ${width}: first paint after ${Math.round(paint)} ms, awake after ${Math.round(awakeAt)} ms`);
    }
  }
});

test('the page is painted although no script arrives', async ({ api, shopper, tolerate }) => {
  tolerate(/ERR_/);
  const sale = await publish(api);
  await shopper.route(/\.(wasm|js)$/, () => {});
  await shopper.goto(`/vouchers/${sale.id}`, { waitUntil: 'commit' });
  await expect.poll(() => shopper.evaluate(() => performance.getEntriesByName('first-contentful-paint').length)).toBe(1);
  await expect(parts(shopper).button).toBeVisible();
});

test('the keyboard alone buys, and the focus stays', async ({ api, shopper }) => {
  const sale = await publish(api);
  await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { panel, button } = parts(shopper);
  // The first stop leads past the header.
  await shopper.keyboard.press('Tab');
  await expect(shopper.getByRole('link', { name: 'Skip to the content' })).toBeFocused();
  for (let stop = 0; stop < 12; stop += 1) {
    if (await button.evaluate((button) => button === document.activeElement)) break;
    await shopper.keyboard.press('Tab');
  }
  await expect(button).toBeFocused();
  await shopper.keyboard.press('Enter');
  await expect(panel).toHaveAttribute('data-order', 'confirmed');
  await expect(button).toBeFocused();
  // What changes each second is not announced; what became of the attempt is, politely.
  await expect(panel.getByRole('timer')).toHaveAttribute('aria-live', 'off');
  await expect(panel.locator('[aria-live=assertive], [role=alert]')).toHaveCount(0);
  await expect(parts(shopper).status).toHaveAttribute('role', 'status');
});

test('nothing scrolls sideways at 360 px, nor at twice the size', async ({ api, shopper }) => {
  const sale = await publish(api, { title: 'Averyveryveryveryveryveryveryveryveryverylongwordwithoutanyspace' });
  for (const width of [360, 640]) {
    await shopper.setViewportSize({ width, height: 400 });
    for (const path of ['/', `/vouchers/${sale.id}`, '/orders', '/login']) {
      await shopper.goto(path);
      const wider = await shopper.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(wider, `${path} at ${width}`).toBe(0);
    }
  }
});

test('the page speaks Chinese to those who ask for it', async ({ api, browser, token, baseURL }) => {
  const sale = await publish(api);
  const context = await browser.newContext({ baseURL, locale: 'zh-CN' });
  await logIn(context, token);
  const page = await context.newPage();
  await page.goto(`/vouchers/${sale.id}`);
  await awake(page);
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await page.getByRole('button', { name: '立即抢购' }).click();
  await expect(parts(page).status).toContainText('已确认');
  await context.close();
});

test('addresses without a page are told as such, and pages carry their headers', async ({ api }) => {
  for (const path of ['/nowhere', '/vouchers/0', '/vouchers/abc', '/vouchers/999999999']) {
    expect((await api.get(path, { headers: { Accept: 'text/html' } })).status(), path).toBe(404);
  }
  const answer = await api.get('/', { headers: { Accept: 'text/html' } });
  const policy = answer.headers()['content-security-policy'];
  expect(policy).toContain("script-src 'nonce-");
  const nonce = /'nonce-([^']+)'/.exec(policy)![1];
  const html = await answer.text();
  for (const script of html.match(/<script[^>]*>/g) ?? []) expect(script).toContain(nonce);
  expect(html).not.toMatch(/\sstyle="/);
});

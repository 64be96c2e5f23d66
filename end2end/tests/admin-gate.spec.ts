// Nobody gets in who shouldn't: every page, function and call of the console, from the lists that make them.
import AxeBuilder from '@axe-core/playwright';
import { publish } from '../lib/api.ts';
import { adminFunctions, adminPages, bury } from '../lib/console.ts';
import { expect, logIn, test } from '../lib/shop.ts';

const at = (path: string, id: string): string => path.replace(/:id|\{id\}/, id);

test('every page: a stranger is sent to the login, a shopper is refused', async ({ api, token }) => {
  const sale = await publish(api);
  const pages = adminPages();
  expect(pages.length).toBeGreaterThanOrEqual(6);
  for (const path of pages.map((path) => at(path, sale.id))) {
    const html = { Accept: 'text/html' };
    const stranger = await api.get(path, { headers: html, maxRedirects: 0 });
    expect(stranger.status(), path).toBe(303);
    expect(stranger.headers().location, path).toBe(`/login?next=${path}`);
    const shopper = await api.get(path, { headers: { ...html, Cookie: `sid=${token}` }, maxRedirects: 0 });
    expect(shopper.status(), path).toBe(403);
    expect(await shopper.text(), path).not.toContain(sale.title);
    const admin = { ...html, Cookie: `sid=${process.env.SECKILL_E2E_ADMIN}` };
    expect((await api.get(path, { headers: admin })).status(), path).toBe(200);
  }
  for (const path of ['/admin/vouchers/999999999', '/admin/vouchers/x', '/admin/vouchers/999999999/report']) {
    expect((await api.get(path, { headers: { Accept: 'text/html', Cookie: `sid=${token}` } })).status(), path).toBe(403);
    const admin = { Accept: 'text/html', Cookie: `sid=${process.env.SECKILL_E2E_ADMIN}` };
    expect((await api.get(path, { headers: admin })).status(), path).toBe(404);
  }
});

test('every function: refused to strangers and shoppers, whatever the body', async ({ api, token }) => {
  const sale = await publish(api, { title: 'Untouched' });
  const functions = adminFunctions();
  expect(functions.length).toBeGreaterThanOrEqual(6);
  const full = { voucher_id: sale.id, action: 'end', sure: 'yes', delta: '5', reason: 'x', letter_id: '0.1-1', 'draft[title]': 'Mine' };
  for (const name of functions) {
    for (const form of [full, {}]) {
      const call = (headers: Record<string, string>) => api.post(`/api/fn/${name}`, { form, headers, maxRedirects: 0 });
      const json = { Accept: 'application/json' };
      expect((await call(json)).status(), name).toBe(401);
      expect((await call({ ...json, Cookie: `sid=${token}` })).status(), name).toBe(403);
      const page = await call({ Accept: 'text/html' });
      expect(page.status(), name).toBe(303);
      expect(page.headers().location, name).toContain('/login?next=/admin');
    }
  }
  const { voucher } = await (await api.get(`/api/v1/vouchers/${sale.id}`)).json();
  expect(voucher).toMatchObject({ title: 'Untouched', state: 'live', stock: 5 });
});

test('every call of the REST API: refused to strangers and shoppers', async ({ api, token }) => {
  const sale = await publish(api);
  const { paths } = await (await api.get('/api/openapi.json')).json();
  const calls = Object.entries<any>(paths).filter(([path]) => path.startsWith('/api/v1/admin')).flatMap(
    ([path, methods]) => Object.keys(methods).filter((method) => ['get', 'post', 'put', 'delete', 'patch'].includes(method)).map((method) => ({ path, method })));
  expect(calls.length).toBeGreaterThanOrEqual(14);
  for (const { path, method } of calls) {
    const call = (headers = {}) => api.fetch(at(path, sale.id), { method, headers, data: method === 'get' ? undefined : {} });
    expect((await call()).status(), `${method} ${path}`).toBe(401);
    expect((await call({ Cookie: `sid=${token}` })).status(), `${method} ${path}`).toBe(403);
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every page is readable by all, in ${colorScheme}`, async ({ api, page, context, token }) => {
    test.slow();
    await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const sale = await publish(api, { title: 'Averyveryveryveryveryveryveryveryverylongwordwithoutanyspace' });
    const session = await api.get('/api/v1/session', { headers: { Cookie: `sid=${token}` } });
    const { letter } = bury(sale.id, (await session.json()).user.id, 'held');
    const wrong = `/admin/vouchers/${sale.id}?wrong=title:required,begins_at:not_a_time,delta:not_a_number&delta=x`;
    const paths = [...adminPages().map((path) => at(path, sale.id)), wrong, '/admin/orders?phone=1'];
    for (const path of paths) {
      await page.goto(path);
      await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
      const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).analyze();
      expect(violations.map(({ id, nodes }) => `${path} ${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([]);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of paths) {
      await page.goto(path);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(wider, path).toBe(0);
    }
    await page.goto('/admin/dead');
    await page.locator(`[data-letter="${letter}"]`).getByRole('button', { name: 'Replay' }).click();
  });
}

test('the console speaks Chinese to those who ask for it', async ({ api, browser, baseURL }) => {
  const sale = await publish(api);
  const context = await browser.newContext({ baseURL, locale: 'zh-CN' });
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
  const page = await context.newPage();
  await page.goto(`/admin/vouchers/${sale.id}`);
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await expect(page.locator('[data-n="state"]')).toHaveText('进行中');
  await expect(page.locator('.pulse')).toHaveText('实时，每秒更新');
  await page.goto(`/admin/vouchers/${sale.id}/report`);
  await expect(page.locator('[data-adds-up]')).toHaveText('账目相符。');
  await context.close();
});

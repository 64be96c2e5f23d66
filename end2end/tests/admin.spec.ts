// Operators create and steer sales with plain forms.
import { publish } from '../lib/api.ts';
import { expect, gotoAwake, logIn, parts, test, watch } from '../lib/shop.ts';

const asField = (at: number): string => new Date(at).toISOString().slice(0, 16);

test.beforeEach(async ({ context }) => {
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
});

test('a sale created in one browser is bought in another, and its title is text', async ({ page, browser, token, errors, baseURL }) => {
  const title = `<img src=x onerror=alert(1)> "Lunch" & <b>more</b> ${Date.now()}`;
  await page.goto('/admin');
  await page.getByRole('main').getByRole('link', { name: 'New sale' }).last().click();
  await page.getByLabel('Title', { exact: true }).fill(title);
  await page.getByLabel('Terms').fill('One\n<i>two</i>');
  await page.getByLabel('Price in ¥').fill('47.50');
  await page.getByLabel('Worth in ¥').fill('50');
  await page.getByLabel('Units').fill('2');
  await page.getByLabel('Begins (UTC)').fill(asField(Date.now() - 60_000));
  await page.getByLabel('Ends (UTC)').fill(asField(Date.now() + 3_600_000));
  await page.getByRole('button', { name: 'Publish the sale' }).click();
  await expect(page).toHaveURL(/\/admin\/vouchers\/\d+\?told=published/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
  const id = /vouchers\/(\d+)/.exec(page.url())![1];

  const context = await browser.newContext({ baseURL, locale: 'en-GB' });
  watch(context, errors);
  await logIn(context, token);
  const shopper = await context.newPage();
  await gotoAwake(shopper, `/vouchers/${id}`);
  await expect(shopper.getByRole('heading', { level: 1 })).toHaveText(title);
  await expect(shopper.locator('.price')).toContainText('¥47.50');
  expect(await shopper.locator('main img, main b, main i').count()).toBe(0);
  await parts(shopper).button.click();
  await expect(parts(shopper).panel).toHaveAttribute('data-order', 'confirmed');
  await shopper.goto('/');
  await expect(shopper.getByRole('link', { name: title })).toBeVisible();
  await context.close();

  await page.goto('/admin');
  const row = page.locator('[data-group="live"]').getByRole('row', { name: title });
  await expect(row.locator('[data-preload="done"]')).toHaveText('loaded');
  await expect(row.getByRole('cell').nth(3)).toHaveText('1');
});

test('every wrong field says so, and nothing typed is lost', async ({ page }) => {
  await page.goto('/admin/vouchers/new');
  await page.getByLabel('Subtitle').fill('Kept & <safe>');
  await page.getByLabel('Terms').fill('秒杀 100%\nsecond line');
  await page.getByLabel('Price in ¥').fill('4,75');
  await page.getByLabel('Worth in ¥').fill('0');
  await page.getByLabel('Units').fill('-3');
  await page.getByLabel('Begins (UTC)').fill('2026-01-02T10:00');
  await page.getByLabel('Ends (UTC)').fill('2026-01-01T10:00');
  await page.getByRole('button', { name: 'Publish the sale' }).click();
  const field = (label: string) => page.locator('.field', { has: page.getByLabel(label, { exact: true }) });
  await expect(field('Title').locator('.error')).toHaveText('Give the sale a title.');
  await expect(field('Price in ¥').locator('.error')).toHaveText('An amount like 47.50.');
  await expect(field('Worth in ¥').locator('.error')).toContainText('From 0.01');
  await expect(field('Units').locator('.error')).toContainText('From 1');
  await expect(field('Ends (UTC)').locator('.error')).toHaveText('A sale ends after it begins.');
  await expect(page.getByLabel('Subtitle')).toHaveValue('Kept & <safe>');
  await expect(page.getByLabel('Terms')).toHaveValue('秒杀 100%\nsecond line');
  await expect(page.getByLabel('Units')).toHaveValue('-3');
  await expect(page.getByLabel('Begins (UTC)')).toHaveValue('2026-01-02T10:00');
});

test('a sale is paused, resumed, restocked and ended', async ({ api, page }) => {
  const sale = await publish(api, { title: 'To be steered' });
  await page.goto(`/admin/vouchers/${sale.id}`);
  const state = page.locator('.bar .badge');
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(state).toHaveText('Paused');
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(state).toHaveText('Live');
  await page.getByLabel('Units, plus or minus').fill('7');
  await page.getByRole('button', { name: 'Change' }).click();
  await expect(page.locator('.error')).toHaveText('Say why the stock changes.');
  await expect(page.getByLabel('Units, plus or minus')).toHaveValue('7');
  await page.getByLabel('Reason').fill('more were found');
  await page.getByRole('button', { name: 'Change' }).click();
  await expect(page.locator('[data-n="units"]')).toHaveText('12');
  await page.getByLabel('Units, plus or minus').fill('-13');
  await page.getByLabel('Reason').fill('too many');
  await page.getByRole('button', { name: 'Change' }).click();
  await expect(page.locator('.error')).toContainText('Fewer units are left');
  await expect(page.getByLabel('Reason')).toHaveValue('too many');

  await page.getByText('End for good…').click();
  const sure = page.getByLabel('Yes, end this sale');
  await page.getByRole('button', { name: 'End for good' }).click();
  await expect(sure, 'the browser asks for the tick').toBeFocused();
  await expect(state).toHaveText('Live');
  await sure.check();
  await page.getByRole('button', { name: 'End for good' }).click();
  await expect(state).toHaveText('Ended');

  const lines = page.locator('.history tbody tr');
  await expect(lines.nth(0).getByRole('cell').nth(1)).toContainText('138****0000');
  await expect(lines.nth(0).getByRole('cell').nth(3)).toHaveText('Running');
  await expect(lines.nth(0).getByRole('cell').nth(4)).toHaveText('Ended');
  await expect(lines.nth(1).getByRole('cell').nth(3)).toHaveText('5');
  await expect(lines.nth(1).getByRole('cell').nth(4)).toHaveText('12 (+7): more were found');
  await page.goto('/admin');
  await expect(page.locator('[data-group="ended"]').getByRole('row', { name: 'To be steered' }).first()).toBeVisible();
});

test('an end without the tick is refused by the server', async ({ api, page }) => {
  const sale = await publish(api);
  const form = { voucher_id: sale.id, action: 'end' };
  const answer = await page.request.post('/api/fn/steer', { form, headers: { Accept: 'application/json' } });
  expect(await answer.json()).toBe('unconfirmed');
  await page.goto(`/admin/vouchers/${sale.id}?told=confirm`);
  await expect(page.getByRole('status')).toContainText('tick the box');
  await expect(page.locator('.bar .badge')).toHaveText('Live');
});

// A sale is edited with a plain form, and what nobody touched stays.
import { publish } from '../lib/api.ts';
import { asAdmin } from '../lib/console.ts';
import { expect, logIn, test } from '../lib/shop.ts';

test.beforeEach(async ({ context }) => {
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
});

const asField = (at: number): string => new Date(at).toISOString().slice(0, 16);

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled });

    test('what is changed is saved and told, before and after', async ({ api, page }) => {
      const sale = await publish(api, { title: 'Soup', beginsIn: 7_200_000 });
      await page.goto(`/admin/vouchers/${sale.id}`);
      await page.getByText('Edit', { exact: true }).click();
      await page.getByLabel('Title', { exact: true }).fill('Soup & <b>bread</b>');
      await page.getByLabel('Price in ¥').fill('9.90');
      const begins = asField(Date.now() + 3_600_000);
      await page.getByLabel('Begins (UTC)').fill(begins);
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page).toHaveURL(`/admin/vouchers/${sale.id}?told=saved`);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Soup & <b>bread</b>');
      const line = (field: string) => page.locator('.history tbody tr', { hasText: `Edited: ${field}` }).getByRole('cell');
      await expect(line('Title').nth(3)).toHaveText('Soup');
      await expect(line('Title').nth(4)).toHaveText('Soup & <b>bread</b>');
      await expect(line('Price in ¥').nth(4)).toHaveText('990');
      await expect(line('Begins').nth(4)).toHaveText(`${begins}:00.000Z`);
      const shown = await (await api.get(`/api/v1/vouchers/${sale.id}`)).json();
      expect(shown.voucher.pay_value).toBe(990);
      expect(shown.voucher.ends_at, 'untouched, to the millisecond').toBe(sale.ends_at);
    });

    test('R47: saving what is there changes nothing and says so', async ({ api, page }) => {
      const sale = await publish(api, { rules: 'One\nTwo', title: 'As it was' });
      await page.goto(`/admin/vouchers/${sale.id}`);
      await page.getByText('Edit', { exact: true }).click();
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByRole('status')).toContainText('Nothing changed');
      await expect(page.locator('.history tbody tr').first()).toContainText('Created');
      await expect(page.locator('.history tbody tr', { hasNotText: 'Created' })).toHaveCount(0);
      const shown = await (await api.get(`/api/v1/vouchers/${sale.id}`)).json();
      expect(shown.voucher).toMatchObject({ begins_at: sale.begins_at, ends_at: sale.ends_at, rules: 'One\nTwo' });
    });

    test('what is wrong is said beside the field, with all that was typed', async ({ api, page }) => {
      const sale = await publish(api, { beginsIn: 3_600_000 });
      await page.goto(`/admin/vouchers/${sale.id}`);
      await page.getByText('Edit', { exact: true }).click();
      await page.getByLabel('Title', { exact: true }).fill(' ');
      await page.getByLabel('Terms').fill('秒杀 & more');
      await page.getByLabel('Ends (UTC)').fill('2026-01-01T10:00');
      await page.getByRole('button', { name: 'Save' }).click();
      const field = (label: string) => page.locator('.field', { has: page.getByLabel(label, { exact: true }) });
      await expect(field('Title').locator('.error')).toHaveText('Give the sale a title.');
      await expect(field('Ends (UTC)').locator('.error')).toHaveText('A sale ends after it begins.');
      await expect(page.getByLabel('Terms')).toHaveValue('秒杀 & more');
      await expect(page.getByLabel('Ends (UTC)')).toHaveValue('2026-01-01T10:00');
      await expect(page.getByLabel('Units, plus or minus')).not.toHaveAttribute('aria-invalid', 'true');
    });
  });
}

test('two operators at once: each field keeps the last word that somebody said about it', async ({ api, page }) => {
  const sale = await publish(api, { title: 'Shared' });
  await page.goto(`/admin/vouchers/${sale.id}`);
  const { id: _id, title: _title, ...rest } = { ...sale, id: '', title: '' };
  const edit = { ...pick(rest), title: 'By the other' };
  const answer = await api.put(`/api/v1/admin/vouchers/${sale.id}`, { headers: asAdmin(), data: edit });
  expect(answer.status(), await answer.text()).toBe(200);
  await page.getByText('Edit', { exact: true }).click();
  await page.getByLabel('Subtitle').fill('By this one');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('By the other');
  await page.getByText('Edit', { exact: true }).click();
  await expect(page.getByLabel('Subtitle')).toHaveValue('By this one');
});

function pick(voucher: any): any {
  const { sub_title, rules, pay_value, actual_value, begins_at, ends_at } = voucher;
  return { sub_title, rules, pay_value, actual_value, begins_at, ends_at };
}

test('a time is shown in UTC and in the operator’s zone while it is typed', async ({ page }) => {
  await page.goto('/admin/vouchers/new');
  await page.getByLabel('Begins (UTC)').fill('2026-12-24T18:30');
  const preview = page.locator('#field-begins_at-preview');
  await expect(preview).toContainText('2026-12-24 18:30:00 UTC');
  // The browser of the tests is in Shanghai.
  await expect(preview).toContainText('Dec 25, 2026, 02:30:00 GMT+8 in your zone');
});

test('the opening of a sale that has begun can not be moved', async ({ api, page }) => {
  const sale = await publish(api);
  await page.goto(`/admin/vouchers/${sale.id}`);
  await page.getByText('Edit', { exact: true }).click();
  await page.getByLabel('Begins (UTC)').fill(asField(Date.now() + 60_000));
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('.error')).toContainText('can\'t be moved any more');
});

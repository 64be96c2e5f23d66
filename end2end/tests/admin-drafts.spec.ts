// A sale is prepared in peace, and published when it is ready.
import { expect, logIn, parts, test, watch } from '../lib/shop.ts';

const asField = (at: number): string => new Date(at).toISOString().slice(0, 16);

test('a draft is kept, changed and published, and only then seen and bought', async ({ page, context, browser, token, errors, baseURL, tolerate }) => {
  tolerate(/404/);
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
  const title = `Prepared ${Date.now()}`;
  await page.goto('/admin/vouchers/new');
  await page.getByLabel('Title', { exact: true }).fill(title);
  await page.getByLabel('Price in ¥').fill('9');
  await page.getByLabel('Worth in ¥').fill('10');
  await page.getByLabel('Units').fill('1');
  await page.getByLabel('Begins (UTC)').fill(asField(Date.now() - 60_000));
  await page.getByLabel('Ends (UTC)').fill(asField(Date.now() + 3_600_000));
  await page.getByRole('button', { name: 'Keep as a draft' }).click();
  await expect(page.getByRole('status')).toHaveText(/Kept as a draft/);
  const state = page.locator('.bar .badge');
  await expect(state).toHaveText('Draft');
  const id = /vouchers\/(\d+)/.exec(page.url())![1];

  const other = await browser.newContext({ baseURL, locale: 'en-GB' });
  watch(other, errors);
  await logIn(other, token);
  const shopper = await other.newPage();
  expect((await shopper.goto(`/vouchers/${id}`))?.status()).toBe(404);
  await shopper.goto('/');
  await expect(shopper.getByRole('link', { name: title })).toHaveCount(0);

  await page.getByLabel('Units, plus or minus').fill('4');
  await page.getByLabel('Reason').fill('more were found');
  await page.getByRole('button', { name: 'Change' }).click();
  await expect(page.locator('[data-n="units"]')).toHaveText('5');
  await page.getByText('Edit', { exact: true }).click();
  await page.getByLabel('Subtitle').fill('Ready now');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('status')).toHaveText('Saved.');
  await page.goto('/admin');
  await page.locator('[data-group="draft"]').getByRole('link', { name: title }).click();
  await page.getByRole('button', { name: 'Publish the sale' }).click();
  await expect(page.getByRole('status')).toHaveText('Published.');
  await expect(state).toHaveText('Live');

  await shopper.goto(`/vouchers/${id}`);
  await expect(shopper.getByText('Ready now')).toBeVisible();
  await parts(shopper).button.click();
  await expect(parts(shopper).panel).toHaveAttribute('data-order', 'confirmed');
  await other.close();
});

test('a draft whose end has passed says what to do', async ({ page, context }) => {
  await logIn(context, process.env.SECKILL_E2E_ADMIN ?? '');
  const answer = await page.request.post('/api/v1/admin/drafts', {
    data: {
      title: 'Too late',
      pay_value: 100,
      actual_value: 200,
      stock: 1,
      begins_at: new Date(Date.now() - 60_000).toISOString(),
      ends_at: new Date(Date.now() + 1500).toISOString(),
    },
  });
  expect(answer.status(), await answer.text()).toBe(201);
  const { voucher } = await answer.json();
  await page.goto(`/admin/vouchers/${voucher.id}`);
  await expect
    .poll(async () => (await page.request.post(`/api/v1/admin/vouchers/${voucher.id}/resume`, { data: {} })).status())
    .toBe(409);
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(voucher.ends_at));
  await page.getByRole('button', { name: 'Publish the sale' }).click();
  await expect(page.getByRole('status')).toHaveText(/Its end has passed/);
  await expect(page.locator('.bar .badge')).toHaveText('Draft');
});

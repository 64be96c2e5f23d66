// Logging in, and coming back to where one was.
import { publish, somePhone } from '../lib/api.ts';
import { expect, parts, test, awake } from '../lib/shop.ts';

test('a stranger who grabs logs in, is back at the voucher, and buys', async ({ api, page }) => {
  const sale = await publish(api);
  const phone = somePhone();
  await page.goto(`/vouchers/${sale.id}`);
  await awake(page);
  await parts(page).button.click();
  await expect(page).toHaveURL(`/login?next=/vouchers/${sale.id}`);
  await page.getByLabel('Phone number').fill(phone);
  await page.getByRole('button', { name: 'Send me a code' }).click();
  const demo = await page.getByText('Demo: your code is').textContent();
  const code = /\d{6}/.exec(demo ?? '')![0];

  // A wrong code first: the phone stays, and what is wrong stands beside the field.
  await page.getByLabel('Code', { exact: true }).fill(code === '000000' ? '000001' : '000000');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByLabel('Phone number')).toHaveValue(phone);
  await expect(page.getByLabel('Code', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await expect(page.locator('.error')).toContainText('not right');

  await page.getByLabel('Code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page).toHaveURL(`/vouchers/${sale.id}`);
  await awake(page);
  await parts(page).button.click();
  await expect(parts(page).panel).toHaveAttribute('data-order', 'confirmed');

  const cookie = (await page.context().cookies()).find((cookie) => cookie.name === 'sid');
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(page.getByRole('link', { name: 'Log in' })).toBeVisible();
  expect((await page.context().cookies()).some((cookie) => cookie.name === 'sid')).toBe(false);
});

test('what is no phone number is said beside the field, and stays', async ({ page }) => {
  await page.goto('/login');
  await page.getByLabel('Phone number').fill('12345');
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await expect(page.getByLabel('Phone number')).toHaveValue('12345');
  await expect(page.locator('.error')).toContainText('eleven digits');
});

test('a login leads to our own pages only', async ({ page }) => {
  for (const outside of ['//evil.example', '/\\evil.example', 'https://evil.example']) {
    await page.goto(`/login?next=${encodeURIComponent(outside)}`);
    await page.getByLabel('Phone number').fill(somePhone());
    await page.getByRole('button', { name: 'Send me a code' }).click();
    const demo = await page.getByText('Demo: your code is').textContent();
    await page.getByLabel('Code', { exact: true }).fill(/\d{6}/.exec(demo ?? '')![0]);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page).toHaveURL('/');
    await page.context().clearCookies();
  }
});

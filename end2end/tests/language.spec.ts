// Two languages: the browser's, until one is chosen.
import { publish } from '../lib/api.ts';
import { expect, gotoAwake, parts, test } from '../lib/shop.ts';

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with scripts' : 'without scripts', () => {
    test.use({ javaScriptEnabled });

    test('the language is switched, stays, and is switched back', async ({ api, shopper: page }) => {
      const sale = await publish(api);
      const html = page.locator('html');
      await page.goto(`/vouchers/${sale.id}`);
      await expect(html).toHaveAttribute('lang', 'en');
      const toChinese = page.getByRole('button', { name: '中文' });
      await expect(toChinese).toHaveAttribute('lang', 'zh-CN');
      await toChinese.click();
      await expect(page).toHaveURL(`/vouchers/${sale.id}`);
      await expect(html).toHaveAttribute('lang', 'zh-CN');
      await expect(parts(page).button).toHaveText('立即抢购');
      await page.goto('/login?told=wait&wait=42');
      await expect(page.getByRole('status')).toContainText('42 秒后');
      await page.goto('/');
      await expect(html).toHaveAttribute('lang', 'zh-CN');
      await page.getByRole('button', { name: 'English' }).click();
      await expect(html).toHaveAttribute('lang', 'en');
    });
  });
}

test('refusals and times are in the language of the page', async ({ api, shopper }) => {
  const sale = await publish(api, { beginsIn: 3_600_000 });
  await shopper.goto('/');
  await shopper.getByRole('button', { name: '中文' }).click();
  await gotoAwake(shopper, `/vouchers/${sale.id}?told=slow_down&wait=7`);
  await expect(parts(shopper).status).toContainText('7 秒');
  await expect(shopper.locator('.times time').first()).toContainText('月');
  await expect(shopper).toHaveURL(`/vouchers/${sale.id}`);
});

// The countdown follows the server's clock, whatever the device thinks.
import { publish } from '../lib/api.ts';
import { expect, gotoAwake, parts, test } from '../lib/shop.ts';

const MINUTES = 60_000;

/** The countdown's milliseconds, and the test's own clock when it was read. */
async function read(digits: { textContent(): Promise<string | null> }): Promise<[number, number]> {
  const text = (await digits.textContent()) ?? '';
  const [hours, minutes, seconds] = text.split(':').map(Number);
  return [((hours * 60 + minutes) * 60 + seconds) * 1000, Date.now()];
}

for (const wrongBy of [10 * MINUTES, -10 * MINUTES]) {
  test(`R48: right within a second on a device that is ${wrongBy / MINUTES} minutes off`, async ({ api, shopper }) => {
    const sale = await publish(api, { beginsIn: 30 * MINUTES });
    await shopper.clock.install({ time: Date.now() + wrongBy });
    await gotoAwake(shopper, `/vouchers/${sale.id}`);
    const { digits } = parts(shopper);
    const first = await digits.textContent();
    await expect(digits).not.toHaveText(first ?? '');
    const [shown, now] = await read(digits);
    expect(Math.abs(shown - (Date.parse(sale.begins_at) - now))).toBeLessThanOrEqual(1100);
  });
}

test('R51: waking up across a second’s end changes nothing and breaks nothing', async ({ api, shopper }) => {
  const sale = await publish(api, { beginsIn: 30 * MINUTES });
  for (let round = 0; round < 10; round += 1) await gotoAwake(shopper, `/vouchers/${sale.id}`);
  const { digits } = parts(shopper);
  let before = (await read(digits))[0];
  for (let look = 0; look < 20; look += 1) {
    const [shown] = await read(digits);
    expect(shown).toBeLessThanOrEqual(before);
    before = shown;
  }
});

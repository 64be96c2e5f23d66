// The voucher page in every state, made with real sales where the state is a sale's, and with a changed answer where it is
// a fault's.
import { type APIRequestContext, expect, type Page } from '@playwright/test';
import { grab, logInAt, publish, type Sale, somePhone, steer, type Wish } from './api.ts';
import { withPrivateShop } from './private.ts';
import { gotoAwake, logIn, parts } from './shop.ts';

const WISH: Wish = {
  title: 'Sichuan hot pot for four',
  sub_title: 'Any evening, all you can eat',
  rules: 'Valid at all our tables.\nOne voucher a person.\nNot to be joined with other offers.',
};

export interface Stage {
  api: APIRequestContext;
  page: Page;
  token: string;
}

export interface State {
  name: string;
  /** Arguments of a server of its own, where it takes one. */
  server?: string[];
  wish?: Wish;
  /** Before the page is opened. */
  before?: (stage: Stage, sale: Sale) => Promise<void>;
  /** The answer to the button. */
  answer?: { status?: number; headers?: Record<string, string>; json: unknown };
  /** What the stream says instead of the truth. */
  stream?: (sale: Sale) => string;
  /** Attribute of the panel that shows that the state is there. */
  shown: [name: string, value: string];
  /** Words of the state. */
  english: RegExp;
}

const ORDER = '666666666666666666';
const queued = { json: { outcome: 'queued', order_id: ORDER } };
const events = (...all: [name: string, data: unknown][]): string =>
  `${all.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join('')}retry: 60000\n\n`;
const failed = (reason: string) => (sale: Sale): string =>
  events(['order', { voucher_id: sale.id, order_id: ORDER, state: 'failed', reason }]);
const note = (outcome: string, english: RegExp, json: object = {}): State => ({
  name: `refused-${outcome.replaceAll('_', '-')}`,
  answer: { json: { outcome, ...json } },
  shown: ['data-note', outcome === 'rate_limited' ? 'slow_down' : outcome],
  english,
});

export const STATES: State[] = [
  { name: 'not-started', wish: { beginsIn: 93_784_000 }, shown: ['data-phase', 'scheduled'], english: /opens by itself/ },
  { name: 'opening', wish: { beginsIn: 9500 }, shown: ['data-phase', 'opening'], english: /in a moment|Open now/ },
  { name: 'open', wish: { stock: 40 }, shown: ['data-phase', 'open'], english: /Open now/ },
  { name: 'open-much', wish: { stock: 12_345 }, shown: ['data-phase', 'open'], english: /Open now/ },
  { name: 'queued', answer: queued, shown: ['data-order', 'queued'], english: /place is safe/ },
  {
    name: 'confirmed',
    before: async ({ api, token }, sale) => void (await grab(api, sale.id, token)),
    shown: ['data-order', 'confirmed'],
    english: /Confirmed/,
  },
  {
    name: 'sold-out',
    wish: { stock: 1 },
    before: async ({ api }, sale) => void (await grab(api, sale.id, await logInAt(api, somePhone()))),
    shown: ['data-phase', 'sold_out'],
    english: /Every unit is sold/,
  },
  {
    name: 'all-held',
    // Nobody settles here: the last unit stays on its way.
    server: ['--role', 'web'],
    wish: { stock: 1 },
    before: async ({ api }, sale) => void (await grab(api, sale.id, await logInAt(api, somePhone()))),
    shown: ['data-phase', 'all_held'],
    english: /Some may come back/,
  },
  { name: 'paused', before: ({ api }, sale) => steer(api, sale.id, 'pause'), shown: ['data-phase', 'paused'], english: /paused/ },
  { name: 'ended', before: ({ api }, sale) => steer(api, sale.id, 'end'), shown: ['data-phase', 'ended'], english: /over/ },
  {
    name: 'not-loaded',
    stream: (sale) => events(['stock', { voucher_id: sale.id, stock: null, state: 'live' }]),
    shown: ['data-phase', 'not_ready'],
    english: /being loaded/,
  },
  ...['duplicate', 'no_stock', 'rejected'].map((reason) => ({
    name: `failed-${reason.replace('_', '-')}`,
    answer: queued,
    stream: failed(reason),
    shown: ['data-order', 'failed'] as [string, string],
    english: /Nothing was taken/,
  })),
  note('sold_out', /somebody was faster/),
  note('ended', /Nothing was taken/),
  note('paused', /Nothing was taken/),
  note('not_ready', /Nothing was taken/),
  note('busy', /never get two/),
  note('rate_limited', /Wait 30 s/, { retry_after_ms: 29_500 }),
  {
    name: 'address-too-fast',
    answer: { status: 429, headers: { 'retry-after': '9' }, json: { code: 'rate_limited' } },
    shown: ['data-note', 'slow_down'],
    english: /Wait 9 s/,
  },
  { name: 'signed-out', answer: { status: 401, json: 'sign_in' }, shown: ['data-note', 'sign_in'], english: /session has ended/ },
];

/** Brings the page into the state, with its islands awake, and lends it to `use`. */
export async function inState(state: State, stage: Stage, use: () => Promise<void>): Promise<void> {
  if (state.server === undefined) {
    await awakeIn(state, stage);
    return use();
  }
  await withPrivateShop(state.server, async ({ api, base }) => {
    const token = await logInAt(api, somePhone());
    await logIn(stage.page.context(), token, base);
    await awakeIn(state, { ...stage, api, token }, base);
    await use();
  });
}

async function awakeIn(state: State, stage: Stage, base = ''): Promise<void> {
  const { api, page } = stage;
  const sale = await publish(api, { ...WISH, ...state.wish });
  await state.before?.(stage, sale);
  if (state.answer) await page.route('**/api/fn/grab', (route) => route.fulfill(state.answer));
  if (state.answer === queued) {
    await page.route('**/api/v1/vouchers/*/order', (route) => route.fulfill({ json: { voucher_id: sale.id, order_id: ORDER, state: 'queued' } }));
  }
  const stream = state.stream?.(sale);
  let pressed = !state.answer;
  if (stream !== undefined) {
    await page.route('**/api/v1/events*', (route) =>
      pressed ? route.fulfill({ contentType: 'text/event-stream', body: stream }) : route.fulfill({ contentType: 'text/event-stream', body: 'retry: 100\n\n' }),
    );
  }
  await gotoAwake(page, `${base}/vouchers/${sale.id}`);
  const { panel, button } = parts(page);
  if (state.answer) {
    await button.click();
    pressed = true;
  }
  await expect(panel).toHaveAttribute(...state.shown);
}

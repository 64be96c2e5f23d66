// What every test starts from: a fresh API context, shoppers, and pages that must stay free of errors.
import { test as base, type APIRequestContext, type BrowserContext, expect, type Page } from '@playwright/test';
import { logInAt, somePhone } from './api.ts';

export { expect };

interface Shop {
  /** REST without cookies: what it is told to send, it sends. */
  api: APIRequestContext;
  /** A fresh shopper's session. */
  token: string;
  /** The page's context, logged in as that shopper. */
  shopper: Page;
  /** Errors that the pages of the context have logged. */
  errors: string[];
  /** Names errors that a test provokes. */
  tolerate: (pattern: RegExp) => void;
  /** What was named. */
  tolerated: RegExp[];
}

export const test = base.extend<Shop & { guard: void }>({
  api: async ({ playwright, baseURL }, use) => {
    const api = await playwright.request.newContext({ baseURL, storageState: { cookies: [], origins: [] } });
    await use(api);
    await api.dispose();
  },
  token: async ({ playwright, baseURL }, use) => {
    const api = await playwright.request.newContext({ baseURL });
    await use(await logInAt(api, somePhone()));
    await api.dispose();
  },
  shopper: async ({ page, token, baseURL }, use) => {
    await logIn(page.context(), token, baseURL);
    await use(page);
  },
  errors: async ({}, use) => use([]),
  tolerated: async ({}, use) => use([]),
  tolerate: async ({ tolerated }, use) => use((pattern) => tolerated.push(pattern)),
  guard: [
    async ({ context, errors, tolerated, javaScriptEnabled }, use) => {
      // Without scripts nothing uses what was loaded ahead for them, and Chromium remarks on it.
      if (!javaScriptEnabled) tolerated.push(/was preloaded using link preload but not used/);
      watch(context, errors);
      await use();
      const left = errors.filter((error) => !tolerated.some((pattern) => pattern.test(error)));
      expect(left, 'errors in the console').toEqual([]);
    },
    { auto: true },
  ],
});

/** Collects what the pages of a context log as errors. */
export function watch(context: BrowserContext, errors: string[]): void {
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(`${message.text()} ${message.location().url}`);
  });
  context.on('weberror', (error) => errors.push(String(error.error())));
}

/** Gives a context a session. */
export async function logIn(context: BrowserContext, token: string, baseURL = process.env.SECKILL_E2E_BASE): Promise<void> {
  await context.addCookies([{ name: 'sid', value: token, url: baseURL, httpOnly: true, sameSite: 'Lax' }]);
}

/** Opens a page and waits until its islands are awake. */
export async function gotoAwake(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await awake(page);
}

/** Waits until the page's islands are awake. */
export async function awake(page: Page): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('data-hydrated', '1');
}

/** The parts of the voucher page. */
export function parts(page: Page) {
  const panel = page.locator('.panel');
  return {
    panel,
    button: panel.getByRole('button'),
    status: panel.locator('.status'),
    digits: panel.locator('.digits'),
    left: panel.locator('.left'),
    orderId: panel.locator('.order-id'),
  };
}

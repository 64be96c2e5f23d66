// What the console's tests need beyond a browser: many sessions, the test's own Redis, the lists of what must be guarded.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type APIRequestContext, expect, type Page } from '@playwright/test';

const ROOT = resolve(import.meta.dirname, '../..');
/** Order ids carry seconds since this. */
const IDS_SINCE = Date.UTC(2022, 0, 1) / 1000;

/** An admin's session, as a header. */
export function asAdmin(): { Cookie: string } {
  return { Cookie: `sid=${process.env.SECKILL_E2E_ADMIN}` };
}

/** Sessions of load-test accounts: no codes are sent for them. */
export function mintSessions(count: number): { user: string; token: string }[] {
  const named = [process.env.SECKILL_SERVER, 'target/debug/server', 'target/release/server'];
  const path = named.filter((path) => path !== undefined).map((path) => resolve(ROOT, path)).find(existsSync);
  if (path === undefined) throw new Error('no server binary');
  const lines = execFileSync(path, ['mint-sessions', '--count', String(count)], { cwd: ROOT, encoding: 'utf8' });
  return lines.trim().split('\n').map((line) => {
    const [user, token] = line.split(' ');
    return { user, token };
  });
}

/** A command to the Redis of the server under test. */
export function redis(...command: string[]): string {
  const socket = /^redis\+unix:\/\/([^?]+)/.exec(process.env.SECKILL_REDIS_URL ?? '')?.[1];
  const where = socket === undefined ? ['-u', process.env.SECKILL_REDIS_URL ?? 'redis://127.0.0.1'] : ['-s', socket];
  return execFileSync('redis-cli', [...where, ...command], { encoding: 'utf8' }).trim();
}

/** An order id as the engine mints them. */
export function someOrderId(): string {
  const seconds = BigInt(Math.floor(Date.now() / 1000) - IDS_SINCE);
  return String((seconds << 32n) | (0x7000_0000n + BigInt(Math.floor(Math.random() * 0x0fff_ffff))));
}

/** A unit that is taken and claimed, and whose entry has died: what a consumer leaves that gave up on it. */
export function bury(voucher: string, user: string, reason: string): { order: string; letter: string } {
  const order = someOrderId();
  redis('EVAL', "redis.call('DECR', KEYS[1]); return redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])", '2',
    `seckill:stock:${voucher}:{p0}`, `seckill:order:${voucher}:{p0}`, user, order);
  const fields = ['reason', reason, 'entry', '1-0', 'userId', user, 'id', order, 'voucherId', voucher];
  const payload = `userId=${user} id=${order} voucherId=${voucher} note=<b>text</b>`;
  const letter = redis('XADD', 'stream.dead:{p0}', '*', ...fields, 'payload', payload);
  return { order, letter: `0.${letter}` };
}

/** The sum of a sale, by REST. */
export async function sumOf(api: APIRequestContext, id: string): Promise<any> {
  const answer = await api.get(`/api/v1/admin/vouchers/${id}/report`, { headers: asAdmin() });
  expect(answer.status(), await answer.text()).toBe(200);
  return answer.json();
}

/** The console's pages, from the application's own list of routes. */
export function adminPages(): string[] {
  const routes = readFileSync(resolve(ROOT, 'app/src/document.rs'), 'utf8').matchAll(/path!\("(\/admin[^"]*)"\)/g);
  return [...routes].map(([, path]) => path);
}

/** The functions behind the console's forms, from their sources. */
export function adminFunctions(): string[] {
  const folder = resolve(ROOT, 'app/src/functions/admin');
  return readdirSync(folder).flatMap((name) => {
    const found = readFileSync(resolve(folder, name), 'utf8').matchAll(/#\[server\([^)]*endpoint = "(\w+)"/g);
    return [...found].map(([, endpoint]) => endpoint);
  });
}

/** A number of the report's page. */
export async function summed(page: Page, name: string): Promise<number> {
  return Number((await page.locator(`[data-sum="${name}"]`).textContent())!.replaceAll(',', ''));
}

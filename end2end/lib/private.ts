// A server with a Redis and a ledger of its own, for tests that break them.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type APIRequestContext, request } from '@playwright/test';
import { ADMIN_PHONE, logInAt } from './api.ts';
import { binary, freePort, ready, ROOT, stop } from './server.ts';

export interface PrivateShop {
  base: string;
  api: APIRequestContext;
  /** Ends Redis as a crash would. */
  stopRedis: () => Promise<void>;
  /** Starts it again with what its log has kept. */
  startRedis: () => Promise<void>;
  /** Loses all that Redis holds of sales and orders; the sessions stay. */
  loseSales: () => void;
}

/** Lends the shop to `use`, and ends all of it whatever happens. While it runs, the tests' operator is this shop's. */
export async function withPrivateShop(args: string[], use: (shop: PrivateShop) => Promise<void>): Promise<void> {
  const shared = process.env.SECKILL_DATABASE_URL;
  if (shared === undefined) throw new Error('SECKILL_DATABASE_URL is not set: run this through scripts/with-stores');
  const folder = mkdtempSync(join(tmpdir(), 'seckill-e2e-'));
  const socket = join(folder, 'redis.sock');
  const name = `shop_${process.pid}_${Date.now()}`;
  const sql = (text: string): void => void execFileSync('psql', [shared, '-qX', '-c', text], { stdio: ['ignore', 'ignore', 'inherit'] });
  const running: ChildProcess[] = [];
  const operator = process.env.SECKILL_E2E_ADMIN;
  let redis: ChildProcess | undefined;
  const redisCli = (...words: string[]): string => execFileSync('redis-cli', ['-s', socket, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

  const startRedis = async (): Promise<void> => {
    const settings = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
    redis = spawn('redis-server', settings, { stdio: 'ignore' });
    running.push(redis);
    const deadline = Date.now() + 10_000;
    for (;;) {
      try {
        if (redisCli('ping').trim() === 'PONG') return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
      await new Promise((then) => setTimeout(then, 50));
    }
  };
  const stopRedis = async (): Promise<void> => {
    if (redis === undefined || redis.exitCode !== null || redis.signalCode !== null) return;
    const ended = once(redis, 'exit');
    redis.kill('SIGKILL');
    await ended;
  };

  const loseSales = (): void => {
    const keys = ['seckill:*', 'stream.*'].flatMap((pattern) => redisCli('keys', pattern).split('\n').filter(Boolean));
    redisCli('del', ...keys);
  };

  sql(`CREATE DATABASE ${name}`);
  try {
    await startRedis();
    const env = {
      ...process.env,
      SECKILL_REDIS_URL: `redis+unix://${socket}`,
      SECKILL_DATABASE_URL: shared.replace(/\/[^/?]+(\?|$)/, `/${name}$1`),
    };
    const path = binary();
    execFileSync(path, ['migrate'], { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
    const base = `http://127.0.0.1:${await freePort()}`;
    const server = spawn(path, ['serve', '--demo', '--listen', base.slice('http://'.length), ...args], { cwd: ROOT, env, stdio: 'ignore' });
    running.push(server);
    await ready(base, server);
    const api = await request.newContext({ baseURL: base });
    const operatorsApi = await request.newContext({ baseURL: base });
    process.env.SECKILL_E2E_ADMIN = await logInAt(operatorsApi, ADMIN_PHONE);
    await use({ base, api, stopRedis, startRedis, loseSales });
    await api.dispose();
    await operatorsApi.dispose();
  } finally {
    process.env.SECKILL_E2E_ADMIN = operator;
    for (const process of running.reverse()) await stop(process);
    sql(`DROP DATABASE ${name} WITH (FORCE)`);
    rmSync(folder, { recursive: true, force: true });
  }
}

// Starts the server under test on a free port, and ends it. SECKILL_E2E_BASE names one that runs already.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { request } from '@playwright/test';
import { ADMIN_PHONE, logInAt } from './api.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
const READY_MS = 30_000;
const STOP_MS = 15_000;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

export function binary(): string {
  const candidates = [process.env.SECKILL_SERVER, 'target/debug/server', 'target/release/server'];
  for (const path of candidates.filter((path) => path !== undefined).map((path) => resolve(ROOT, path))) {
    if (existsSync(path)) return path;
  }
  throw new Error('no server binary: build it, or name it in SECKILL_SERVER');
}

export async function ready(base: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}; see target/end2end-server.log`);
    const up = await fetch(`${base}/readyz`).then((answer) => answer.ok, () => false);
    if (up) return;
    await new Promise((then) => setTimeout(then, 50));
  }
  throw new Error('the server did not become ready; see target/end2end-server.log');
}

export async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  const late = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(late);
}

export default async function setup(): Promise<() => Promise<void>> {
  let end = async (): Promise<void> => {};
  if (!process.env.SECKILL_E2E_BASE) {
    const path = binary();
    execFileSync(path, ['migrate'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
    const base = `http://127.0.0.1:${await freePort()}`;
    const server = spawn(path, ['serve', '--demo', '--listen', base.slice('http://'.length)], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    mkdirSync(resolve(ROOT, 'target'), { recursive: true });
    const log = createWriteStream(resolve(ROOT, 'target/end2end-server.log'));
    server.stdout.pipe(log);
    server.stderr.pipe(log);
    end = () => stop(server);
    try {
      await ready(base, server);
    } catch (error) {
      await end();
      throw error;
    }
    process.env.SECKILL_E2E_BASE = base;
  }
  // Once for all tests: codes for one phone are not sent at will.
  const api = await request.newContext({ baseURL: process.env.SECKILL_E2E_BASE });
  process.env.SECKILL_E2E_ADMIN = await logInAt(api, ADMIN_PHONE);
  await api.dispose();
  return end;
}

// Playwright runs these files without looking at their types; this looks.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';

test('the tests are of the types that they say', async () => {
  test.slow();
  const folder = resolve(import.meta.dirname, '..');
  const run = promisify(execFile)('npx', ['tsc', '--noEmit'], { cwd: folder });
  const told = await run.then(
    () => '',
    (error: { stdout: string; message: string }) => error.stdout || error.message,
  );
  expect(told).toBe('');
});

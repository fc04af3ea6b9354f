import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';

const memoryMb = 512;

/** What a process of little memory says of the shapes, and how it ended. */
async function runShapes(...args: readonly string[]): Promise<{ readonly said: string; readonly code: number | null }> {
  const child = spawn(process.execPath, [
    `--max-old-space-size=${memoryMb}`,
    '--import',
    'tsx',
    'test/fuzz/hostile/run-shapes.ts',
    ...args,
  ]);
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { said, code };
}

test('programs made to grow run or are refused, in little memory and far from the end of the stack', async () => {
  const { said, code } = await runShapes('all', '3,40');
  expect(said.split('\n').filter((line) => !/^(begin|end) /.test(line) && line !== '')).toEqual([]);
  expect(code).toBe(0);
}, 600_000);

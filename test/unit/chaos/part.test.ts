import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Machine } from '../../../chaos/process/cluster/machine.ts';
import { Part } from '../../../chaos/process/cluster/part.ts';

const LONG_MS = 60_000;

it('what one fault has asked to end is killed by another, and not started beside itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cep-part-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, 'stays.mjs');
  writeFileSync(script, "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1_000);");
  const unasked: string[] = [];
  const part = new Part({
    ...{ name: 'worker-1', at: 1, place: { host: '127.0.0.1', port: 1, before: [] } as never, args: [], env: {}, folder },
    ...{ machine: { env: {} } as unknown as Machine, onUnasked: (what) => unasked.push(what) },
  });
  part.become(script);
  part.start();
  const ended = part.end(LONG_MS);
  part.start();
  expect(part.isRunning).toBe(false);
  await part.kill();
  expect(await ended).toBe(0);
  part.start();
  expect(part.isRunning).toBe(true);
  await part.retire();
  expect(unasked).toEqual([]);
});

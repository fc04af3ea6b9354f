import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { LevelDisk } from '../../../coordinator/raft/driver/level-disk.ts';
import { openLog } from '../../../coordinator/raft/storage/open-log.ts';
import { type BuiltProgram, buildProgram } from '../built-program.ts';

let child: BuiltProgram;
let folder: string;
beforeAll(async () => {
  child = await buildProgram('test/integration/raft/crash-child.ts');
});
afterAll(() => child.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the node until so many numbers are acknowledged, and kills it in the middle of its work. */
async function killed(first: number, count: number): Promise<number[]> {
  const running = spawn(process.execPath, [child.path, folder, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  running.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    if (printed.split('\n').length > count) running.kill('SIGKILL');
  });
  await once(running, 'close');
  // The last line may be cut.
  const lines = printed.split('\n').slice(0, -1);
  expect(lines.filter((line) => line.startsWith('problem'))).toEqual([]);
  return lines.map(Number);
}

it('a node that is killed while it writes has every acknowledged entry, time and again', async () => {
  const acknowledged = new Set<number>();
  for (let round = 0; round < 4; round++) {
    const found = await killed(1 + round * 100_000, 150 + 40 * round);
    expect(found.length).toBeGreaterThan(100);
    for (const number of found) acknowledged.add(number);
    const { disk, image } = await LevelDisk.open(folder);
    const opened = openLog(image, { clusterId: 'crashing', nodeId: 1 });
    if (opened.kind !== 'opened') throw new Error(opened.kind === 'refused' ? opened.reason : 'nothing is there');
    await disk.close();
    const { entries, recovering } = opened.recovered;
    expect(recovering).toBeUndefined();
    const there = new Set(entries.filter(({ kind }) => kind === 'command').map(({ data }) => Number(Buffer.from(data).toString())));
    expect([...acknowledged].filter((number) => !there.has(number))).toEqual([]);
  }
}, 120_000);

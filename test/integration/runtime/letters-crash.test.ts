import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DeadLetterFile } from '../../../worker/connectors/delivery/dead-letter-file.ts';
import { DurableStorage } from '../../../worker/runtime/storage/durable-storage.ts';
import { type BuiltProgram, buildProgram } from './built-runtime.ts';
import { lettersIn } from './letters-under-test.ts';

let child: BuiltProgram;
interface Told {
  readonly has: readonly string[];
  /** What was under way, and of which letters. */
  readonly doing: readonly string[];
}

/** Words of the lines that it says. */
function run(stateDir: string, change: number, how = ''): readonly string[][] {
  const { stdout } = spawnSync(process.execPath, [child.path, stateDir, String(change), how], { encoding: 'utf8' });
  return stdout.split('\n').map((line) => line.split(' '));
}

function killedAt(stateDir: string, change: number, how: string): Told {
  const lines = run(stateDir, change, how);
  const has = lines.findLast(([word]) => word === 'has')?.slice(1) ?? [];
  const doing = lines.findLast(([word]) => word === 'doing' || word === 'has');
  return { has, doing: doing?.[0] === 'doing' ? doing.slice(1) : [] };
}

describe('dead letters of a process that is killed', () => {
  let base: string;
  beforeAll(async () => {
    child = await buildProgram('letters-crash-child');
  });
  afterAll(() => child.remove());
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'cep-letters-crash-'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it.each([
    ['before every change of a file', ''],
    ['in the middle of every write', 'torn'],
  ])('are there after a kill %s, and no damage is told', { timeout: 600_000 }, async (_, how) => {
    const writes = run(join(base, 'through'), 0)
      .find(([word]) => word === 'through')
      ?.slice(1);
    expect(writes?.length).toBeGreaterThan(50);
    for (const [index, isWrite] of (writes ?? []).entries()) {
      if (how === '' || isWrite === 'true') await requireWhole(join(base, `${index + 1}`), index + 1, how);
    }
  });
});

async function requireWhole(stateDir: string, change: number, how: string): Promise<void> {
  const { has, doing } = killedAt(stateDir, change, how);
  const said: unknown[] = [];
  const storage = await DurableStorage.open({ stateDir, report: (report) => report.level === 'error' && said.push(report) });
  const onDamage = (...damage: string[]): void => void said.push(damage);
  const file = await DeadLetterFile.open({ ...lettersIn(join(stateDir, 'dlq-test'), storage), onDamage });
  const { letters } = await file.page('p', { limit: 100, offset: 0 });
  const found = letters.map((text) => JSON.parse(text).id as string);
  await file.close();
  await storage.close();
  const [what = '', ...ids] = doing;
  // A full store lets the oldest go for a new one; what is being removed may be there or not.
  const mayGo = what === 'destroy' ? has : what === 'add' ? has.slice(0, Math.max(0, has.length - 3)) : ids;
  const where = `killed at ${change}, doing ${doing.join(' ')}`;
  expect([where, said]).toEqual([where, []]);
  expect([where, has.filter((id) => !mayGo.includes(id) && !found.includes(id))]).toEqual([where, []]);
  expect([where, found.filter((id) => !has.includes(id) && !(what === 'add' && ids.includes(id)))]).toEqual([where, []]);
}

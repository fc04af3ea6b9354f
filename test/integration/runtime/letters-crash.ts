import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { DeadLetterFile } from '../../../worker/connectors/delivery/dead-letter-file.ts';
import { DurableStorage } from '../../../worker/runtime/storage/durable-storage.ts';
import { lettersIn } from './letters-under-test.ts';

export interface Told {
  readonly has: readonly string[];
  /** What was under way, and of which letters. */
  readonly doing: readonly string[];
}

/** Runs a process that keeps dead letters until it ends, or is killed; gives the words of each line that it says. */
export function keepLetters(path: string, ...args: readonly string[]): readonly (readonly string[])[] {
  const { stdout } = spawnSync(process.execPath, [path, ...args], { encoding: 'utf8' });
  return stdout.split('\n').map((line) => line.split(' '));
}

/** What it had told by the end of these lines. */
export function toldBy(lines: readonly (readonly string[])[]): Told {
  const has = lines.findLast(([word]) => word === 'has')?.slice(1) ?? [];
  const doing = lines.findLast(([word]) => word === 'doing' || word === 'has');
  return { has, doing: doing?.[0] === 'doing' ? doing.slice(1) : [] };
}

/** Of all changes of files, whether each is a write. */
export function changesOf(lines: readonly (readonly string[])[]): readonly boolean[] {
  const writes = lines.find(([word]) => word === 'through')?.slice(1) ?? [];
  expect(writes.length).toBeGreaterThan(50);
  return writes.map((text) => text === 'true');
}

/** Opens what a process has left behind: every letter that it had told of must be there, and no damage told. */
export async function requireWhole(stateDir: string, { has, doing }: Told, change: number): Promise<void> {
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

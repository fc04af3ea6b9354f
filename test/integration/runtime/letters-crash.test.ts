import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BuiltProgram, buildProgram } from '../built-program.ts';
import { changesOf, keepLetters, requireWhole, toldBy } from './letters-crash.ts';

describe('dead letters of a process that is killed', { timeout: 300_000 }, () => {
  let child: BuiltProgram;
  let base: string;
  beforeAll(async () => {
    child = await buildProgram('test/integration/runtime/letters-crash-child.ts');
  });
  afterAll(() => child.remove());
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'cep-letters-crash-'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  // A kill leaves the files as they are: one process copies them before each change, the long form kills one process for each.
  it('are there as the files stood before every change of one, and no damage is told', async () => {
    const copies = join(base, 'copies');
    mkdirSync(copies);
    const lines = keepLetters(child.path, join(base, 'through'), '0', 'copied', copies);
    const copied = [...lines.keys()].filter((at) => lines[at]?.[0] === 'copied');
    expect(copied.length).toBe(changesOf(lines).length);
    for (const [index, at] of copied.entries()) {
      await requireWhole(join(copies, `${index + 1}`), toldBy(lines.slice(0, at)), index + 1);
    }
  });

  it('are there after a kill in the middle of every write, and no damage is told', async () => {
    const changes = changesOf(keepLetters(child.path, join(base, 'through'), '0'));
    for (const [index, isWrite] of changes.entries()) {
      const stateDir = join(base, `${index + 1}`);
      if (isWrite) await requireWhole(stateDir, toldBy(keepLetters(child.path, stateDir, `${index + 1}`, 'torn')), index + 1);
    }
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { type BuiltProgram, buildProgram } from '../built-program.ts';
import { changesOf, keepLetters, requireWhole, toldBy } from './letters-crash.ts';

let child: BuiltProgram;
let base: string;
beforeAll(async () => {
  child = await buildProgram('test/integration/runtime/letters-crash-child.ts');
  base = mkdtempSync(join(tmpdir(), 'cep-letters-crash-'));
});
afterAll(() => {
  child.remove();
  rmSync(base, { recursive: true, force: true });
});

it('dead letters are there after a kill before every change of a file, and no damage is told', async () => {
  const changes = changesOf(keepLetters(child.path, join(base, 'through'), '0'));
  for (const index of changes.keys()) {
    const stateDir = join(base, `${index + 1}`);
    await requireWhole(stateDir, toldBy(keepLetters(child.path, stateDir, `${index + 1}`)), index + 1);
  }
});

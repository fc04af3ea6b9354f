import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CepProcess } from '../cli/cep-process.ts';

let folder = '';
let run: CepProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-run-end-'));
});
afterEach(() => {
  run?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

it('a run that is done ends, also where something that was left to itself is under way still', async () => {
  const bin = new URL('../../../cli/bin.mjs', import.meta.url);
  // As a connection does that is about to be made.
  writeFileSync(join(folder, 'held.mjs'), `setInterval(() => undefined, 2 ** 30);\nawait import(${JSON.stringify(bin.href)});\n`);
  writeFileSync(join(folder, 'events.jsonl'), '{"event_type":"A","n":1}\n');
  const path = JSON.stringify(join(folder, 'events.jsonl'));
  writeFileSync(
    join(folder, 'rules.vpl'),
    `event A:\n    n: int\nconnector Log = file (path: ${path}, follow: false)\nstream S = A.from(Log).emit(n: n)\n`,
  );
  run = new CepProcess(['run', '-f', join(folder, 'rules.vpl')], { script: join(folder, 'held.mjs') });
  const { code, stdout } = await run.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining('S { n: 1 }')]);
});

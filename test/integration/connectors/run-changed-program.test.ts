import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CepProcess } from '../cli/cep-process.ts';

vi.setConfig({ testTimeout: 300_000 });

const program = (folder: string, version: number): string => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(In)
    .emit(n, version: ${version})
    .to(Out)
`;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-run-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a version of the program until it has delivered so many events in all. */
async function runUntil(version: number, count: number): Promise<readonly unknown[]> {
  const delivered = (): string[] => {
    const out = join(folder, 'out.jsonl');
    return existsSync(out) ? readFileSync(out, 'utf8').split('\n').slice(0, -1) : [];
  };
  writeFileSync(join(folder, 'rules.vpl'), program(folder, version));
  const run = new CepProcess(['run', '-f', join(folder, 'rules.vpl'), '--quiet', '--checkpoint-dir', join(folder, 'state')]);
  await vi.waitUntil(() => delivered().length >= count, { timeout: 120_000, interval: 20 });
  run.kill('SIGINT');
  expect(await run.ended).toMatchObject({ code: 0 });
  return delivered().map((line) => (JSON.parse(line) as { data: unknown }).data);
}

it('a run with a changed program gives nothing that came since the last run to the program of the last run', async () => {
  writeFileSync(join(folder, 'in.jsonl'), '{"event_type":"Reading","n":1}\n');
  await runUntil(1, 1);
  writeFileSync(join(folder, 'in.jsonl'), '{"event_type":"Reading","n":2}\n', { flag: 'a' });
  expect(await runUntil(2, 2)).toEqual([
    { n: 1, version: 1 },
    { n: 2, version: 2 },
  ]);
});

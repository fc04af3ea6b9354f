import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CepProcess } from '../cli/cep-process.ts';

vi.setConfig({ testTimeout: 60_000 });

let folder = '';
let running: CepProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-files-'));
});
afterEach(async () => {
  for (const process of running.splice(0)) {
    process.kill('SIGKILL');
    await process.ended;
  }
  rmSync(folder, { recursive: true });
});

async function outputs(...args: readonly string[]): Promise<readonly string[]> {
  const process = new CepProcess([...args, '--json']);
  running = [...running, process];
  await process.ended;
  return process.stdout.split('\n').filter((line) => line.startsWith('{"type":"output"'));
}

it.each([
  ['a.evt', '@5s P("x", 2)\n@6s P { a: "y", at: "2026-01-31T10:00:00Z" }\n@7s Q { timestamp: 1769853600 }\n', [5_000, 1_769_853_600_000]],
  ['a.csv', 'event_type,a,b,on,timestamp\nP,007,1,TRUE,1769853600\nQ,007,,TRUE,2026-01-31T10:00:05Z\n', [1_769_853_600_000]],
])('a program reads %s as it is simulated on it', async (name, text, times) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  const program = `
event P: a: str, b: int?, on: bool?, at: timestamp?
event Q: a: int?, on: any?, timestamp: any?
connector F = file (path: "${path}", follow: false)
stream Ps = P.from(F).emit()
stream Qs = Q.from(F).emit()
`;
  writeFileSync(join(folder, 'a.vpl'), program);
  const simulated = await outputs('simulate', '-p', join(folder, 'a.vpl'), '-e', path);
  expect(simulated.slice(0, times.length).map((line) => JSON.parse(line).timestamp)).toEqual(times);
  expect(await outputs('run', '-f', join(folder, 'a.vpl'))).toEqual(simulated);
});

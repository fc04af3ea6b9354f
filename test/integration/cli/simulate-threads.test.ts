import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { CepProcess, type Ended } from './cep-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), 'cep-threads-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const types = 'event Trade:\n    symbol: str\n    price: float\n\n';
const rows = write(
  'rows.vpl',
  `import "types.vpl"\n\nstream Dear = Trade\n    .where(price > 50.0)\n    .emit(symbol: symbol, price: price)\n`,
);
write('types.vpl', types);
const counts = write(
  'counts.vpl',
  `${types}stream Sums = Trade\n    .partition_by(symbol)\n    .window(3)\n    .aggregate(sum: sum(price))\n    .emit(sum: sum)\n`,
);
const events = write(
  'events.evt',
  Array.from({ length: 20_000 }, (_, i) =>
    i % 500 === 7 ? 'Trade {\n' : `@${i} Trade { symbol: "S${i % 7}", price: ${i % 100}.5 }\n`,
  ).join(''),
);

/** The result without what differs from run to run, and the number of threads. */
async function simulate(args: readonly string[]): Promise<{ readonly ended: Ended; readonly workers: number; readonly shown: string }> {
  const ended = await new CepProcess(['simulate', '-e', events, ...args]).ended;
  const workers = Number(/(?:Workers used: +|"workers_used":)(\d+)/.exec(ended.stdout)?.[1]);
  const stdout = ended.stdout
    .replace(/^(?:Duration|Workers used|Event rate): .*$/gm, '')
    .replace(/"(?:duration_secs|workers_used|event_rate)":[\d.e+-]+/g, '');
  return { ended: { ...ended, stdout }, workers, shown: ended.stdout };
}

describe('cep simulate --workers', () => {
  it.each([['--json'], ['--skip-invalid'], ['--quiet'], ['--streaming']])('gives with %s what one thread gives', async (option) => {
    const one = await simulate(['-p', rows, option, '--workers', '1', '--piece-bytes', '50000']);
    const three = await simulate(['-p', rows, option, '--workers', '3', '--piece-bytes', '50000']);
    expect(three.ended).toEqual(one.ended);
    expect(one.workers).toBe(1);
    expect(three.workers).toBeGreaterThan(1);
    expect(one.ended.code).toBe(option === '--skip-invalid' ? 0 : 1);
  });

  it('uses one thread for a small file', async () => {
    expect((await simulate(['-p', rows, '--workers', '4'])).workers).toBe(1);
  });

  it.each([['--json'], ['--skip-invalid'], ['--quiet']])('gives with %s what one thread gives where keys are divided', async (option) => {
    const one = await simulate(['-p', counts, option, '--workers', '1', '--piece-bytes', '50000']);
    const three = await simulate(['-p', counts, option, '--workers', '3', '--piece-bytes', '50000']);
    expect(three.ended).toEqual(one.ended);
    expect([one.workers, three.workers]).toEqual([1, 3]);
  });

  it('says why a program is not divided by the field asked for, and runs it on one thread', async () => {
    const { shown, workers } = await simulate(['-p', counts, '--workers', '2', '--partition-by', 'price', '--piece-bytes', '50000']);
    expect(workers).toBe(1);
    expect(shown).toContain('One worker was used: stream Sums remembers events: .window(3).aggregate(sum: sum(price)), but not by `price`');
  });
});

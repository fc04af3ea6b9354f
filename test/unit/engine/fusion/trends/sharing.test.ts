import { expect, test } from 'vitest';
import { check } from '../../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from '../../../../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../../../../worker/engine/engine.ts';
import { printProgram } from '../../../../../worker/engine/fusion/fuse.ts';
import { decideTrends, type NumberedTrends } from '../../../../../worker/engine/fusion/patterns/trends/decide-trends.ts';
import { ProgramFusion } from '../../../../../worker/engine/fusion/program-fusion.ts';
import { plain, shipped } from '../../../../reference/ways.ts';

const QUERIES = 50;
const BEGINNINGS = 10;

function planOf(text: string): Plan {
  const { plan, diagnostics } = check(new SourceText('test.vpl', text));
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return plan;
}

function declared(...types: readonly string[]): string {
  return types.map((type) => `event ${type}:\n    k: int\n    v: float\n`).join('');
}

function query(name: string, type: string, rest = '', closure = 'B+'): string {
  return `stream ${name} = ${type} as a -> ${closure} as b\n    .window(21ms)${rest}\n    .trend_aggregate(n: count_trends())\n    .emit(n: n)\n`;
}

function many(): Plan {
  const types = Array.from({ length: BEGINNINGS }, (_, at) => `A${at}`);
  return planOf(declared(...types, 'B') + Array.from({ length: QUERIES }, (_, at) => query(`S${at}`, `A${at % BEGINNINGS}`)).join(''));
}

test('streams with the same windows share them, others do not', () => {
  const plan = planOf(
    declared('A', 'B', 'C') +
      query('S0', 'A') +
      query('S1', 'C', '', 'B+ where v > 1') +
      query('S2', 'A', '\n    .partition_by(k)') +
      query('S3', 'A').replace('21ms', '20ms'),
  );
  const program = new ProgramFusion(plan);
  const together = plan.streams.map((one) =>
    (program.derived(decideTrends).get(one) as readonly NumberedTrends[]).map(({ stream }) => stream.name),
  );
  expect(together).toEqual([['S0', 'S1'], ['S0', 'S1'], ['S2'], ['S3']]);
});

test('an event that 50 streams take alike is counted once', () => {
  const { text } = printProgram(many()).module;
  const counting = text.split('\n').filter((line) => line.includes('.bursts['));
  expect(counting, 'one function for B, one for each beginning').toHaveLength(1 + BEGINNINGS);
  for (const line of counting) expect(line.split('.bursts[').length - 1, line).toBe(1);
  expect(
    text.split('\n').filter((line) => line.includes('for(;q0>0;')),
    'equal patterns are one function',
  ).toHaveLength(2);
});

test('and each of them has counted it when counters are read', () => {
  const results: number[] = [];
  const engine = createEngine(many(), { output: ({ fields }) => results.push(fields.get('n') as number) });
  const fields = new Map([
    ['k', 1],
    ['v', 2],
  ]);
  for (const [at, type] of ['A0', 'B', 'B', 'B', 'A1', 'B'].entries()) engine.push({ type, fields, timestamp: at, fallbackTime: at });
  const { streams } = engine.counters();
  expect([streams.get('S0')?.eventsIn, streams.get('S1')?.eventsIn, streams.get('S2')?.eventsIn]).toEqual([5, 5, 4]);
  expect([streams.get('S0')?.runsActive, streams.get('S2')?.runsActive]).toEqual([2, 0]);
  engine.end();
  expect(results).toEqual(Array.from({ length: QUERIES / BEGINNINGS }, () => [15, 1]).flat());
});

test('streams that count the same go on apart where one of them alone took windows over, then together again', () => {
  const one = planOf(declared('A', 'B') + query('S0', 'A'));
  const three = planOf(declared('A', 'B') + ['S0', 'S1', 'S2'].map((name) => query(name, 'A')).join(''));
  const seenOf = (options: EngineOptions): readonly unknown[] => {
    const seen: unknown[] = [];
    const host: EngineHost = { output: ({ stream, fields }) => seen.push([stream, fields.get('n')]) };
    const push = (engine: Engine, at: number): void => {
      const fields = new Map([
        ['k', 1],
        ['v', 2],
      ]);
      engine.push({ type: at % 3 === 0 ? 'A' : 'B', fields, timestamp: at, fallbackTime: at });
      const { streams } = engine.counters();
      seen.push([...streams.values()].map(({ eventsIn, eventsOut, runsActive }) => [eventsIn, eventsOut, runsActive]));
    };
    const first = createEngine(one, host, options);
    for (let at = 0; at < 5; at++) push(first, at);
    const second = createEngine(three, host, options);
    second.restore(first.snapshot());
    for (let at = 5; at < 50; at++) push(second, at);
    second.end();
    return seen;
  };
  const seen = seenOf(shipped);
  expect(seen).toEqual(seenOf(plain));
  expect(seen.filter((one) => Array.isArray(one) && typeof one[0] === 'string')).toHaveLength(9);
});

test('counts beyond what doubles hold go on exactly', () => {
  const results: unknown[] = [];
  const engine = createEngine(planOf(declared('A', 'B') + query('S', 'A').replace('21ms', '1s')), {
    output: ({ fields }) => results.push(fields.get('n')),
  });
  for (let at = 0; at <= 200; at++) {
    const fields = new Map([
      ['k', 1],
      ['v', 0.1],
    ]);
    engine.push({ type: at === 0 ? 'A' : 'B', fields, timestamp: at, fallbackTime: at });
  }
  engine.end();
  expect(results).toEqual([String(2n ** 200n - 1n)]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOf } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { Plan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import { physicalPlanOf } from '../../../../worker/engine/fusion/fuse.ts';
import { type Row, scopeOf } from '../../../../worker/engine/operators/row.ts';
import { ReferenceBackend } from '../../../reference/reference-backend.ts';
import { expectAlike } from '../../../reference/seen.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { Oracle } from '../patterns/oracle.ts';

const runs = Number(process.env['FUZZ_RUNS'] ?? 40);

const types = ['A', 'B', 'C', 'D'];
const declared = types.map((type) => `event ${type}:\n    id: int\n    k: int\n`).join('\n');

/** Several `NOT`s with a time, one behind the other. */
const patterns: readonly string[] = [
  'A as a -> NOT B within 2s -> NOT C within 3s -> D as d',
  'A as a -> NOT B within 2s -> NOT C within 3s -> D as d .within(8s)',
  'A as a -> NOT B where k == a.k within 2s -> NOT C where k == a.k within 3s -> D where k == a.k as d .within(9s)',
  'A as a -> NOT B within 1s -> NOT C within 1s -> NOT B within 2s -> D as d .partition_by(k)',
  'A as a -> NOT B within 2s -> NOT B within 1s -> NOT C -> D as d',
  'A as a -> B as b -> NOT C within 1s -> NOT A within 2s .partition_by(k).emit(a: a.id, b: b.id)',
  'A as a -> NOT B within 2s -> NOT C within 3s .within(4s).emit(a: a.id)',
  'A as a -> NOT B within 2s -> NOT C .within(5s).emit(a: a.id)',
  'A as a -> NOT D within 1s -> NOT C within 1s -> D as d .after_match(skip_past_last)',
];

interface Given {
  readonly type: string;
  readonly k: number;
  readonly time: number;
}

const inOrder = fc
  .array(
    fc.record({
      type: fc.constantFrom('A', 'A', 'A', 'B', 'C', 'D', 'D', 'D'),
      k: fc.integer({ min: 1, max: 2 }),
      gap: fc.constantFrom(0, 250, 500, 1000, 2500),
    }),
    {
      minLength: 4,
      maxLength: 16,
    },
  )
  .map((all) => {
    let time = 1_000;
    return all.map(({ type, k, gap }): Given => {
      time += gap;
      return { type, k, time };
    });
  });

test.each(patterns)('%s: as the reference matches it, in the generated code that ships', (pattern) => {
  const plan = planOf(`${declared}\nstream S = ${pattern}${pattern.includes('.emit') ? '' : '.emit(a: a.id, d: d.id)'}\n`);
  expect(runsOfSource(plan)).toEqual(['kernel']);
  let matches = 0;
  fc.assert(
    fc.property(inOrder, fc.nat(16), (events, cut) => {
      const rows = events.map(rowOf);
      const found = shipped(plan, rows);
      expect(found).toEqual(byTheOracle(plan, rows));
      matches += found.length;
      const input = rows.map(({ type, time, fields }) => ({ type, fields, fallbackTime: time }));
      expectAlike(plan, input, { cuts: [cut] });
    }),
    { numRuns: runs },
  );
  expect(matches).toBeGreaterThan(0);
});

/** The same, where an event may carry an earlier time than those before it. */
const displaced = fc
  .tuple(inOrder, fc.array(fc.constantFrom(0, 0, 0, 500, 1000, 2500), { minLength: 16, maxLength: 16 }))
  .map(([events, by]) => events.map((event, at): Given => ({ ...event, time: Math.max(0, event.time - (by[at] ?? 0)) })));

/** A `NOT` that begins with the second of these, and takes a second, is over before the first of them: the last cannot end it. */
const overdue: Given[] = [
  { type: 'A', k: 1, time: 3000 },
  { type: 'B', k: 1, time: 1000 },
  { type: 'C', k: 1, time: 2000 },
];

test.each([
  ...patterns,
  'A as a -> B as b -> NOT C within 1s .emit(a: a.id, b: b.id)',
  'A as a -> B as b -> NOT C within 1s .within(2s).emit(a: a.id, b: b.id)',
])('%s: the same where events carry earlier times than those before them', (pattern) => {
  const plan = planOf(`${declared}\nstream S = ${pattern}${pattern.includes('.emit') ? '' : '.emit(a: a.id, d: d.id)'}\n`);
  expect(runsOfSource(plan)).toEqual(['kernel']);
  fc.assert(
    fc.property(displaced, (events) => {
      const rows = events.map(rowOf);
      expect(shipped(plan, rows)).toEqual(byTheOracle(plan, rows));
    }),
    { numRuns: runs, examples: [[overdue]] },
  );
});

function runsOfSource(plan: Plan): readonly string[] {
  const [stream] = physicalPlanOf(plan).streams;
  return [...new Set(stream?.source.runs.map(({ by }) => by))];
}

function rowOf({ type, k, time }: Given, index: number): Row {
  const fields = new Map<string, Value>([
    ['id', index],
    ['k', k],
  ]);
  return { type, time, order: index + 1, fields, bound: null, attributes: null, causes: [index + 1] };
}

/** The ids of each match with its time. */
function shipped(plan: Plan, rows: readonly Row[]): readonly string[] {
  const found: string[] = [];
  const engine = createEngine(plan, { output: ({ time, fields }) => found.push(`${time} ${[...fields.values()]}`) });
  for (const { type, time, fields } of rows) engine.push({ type, timestamp: time, fallbackTime: time, fields });
  engine.end();
  return found;
}

function byTheOracle(plan: Plan, rows: readonly Row[]): readonly string[] {
  const { source, partition } = plan.streams[0] as StreamPlan;
  if (source.kind !== 'pattern') throw new Error('no pattern');
  const backend = new ReferenceBackend(plan);
  const oracle = new Oracle(source.pattern, rows, {
    expression: (expression) => backend.expression(expression),
    partition: (row) => keyOf(partition.keys.map(({ value }) => backend.expression(value)(scopeOf(row)))),
    until: Infinity,
  });
  return oracle.run().map(({ captures, time }) => `${time} ${captures.flat()}`);
}

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planOf } from '../../../scenarios/run-program.ts';
import { type EngineRun, start } from '../support/engine-run.ts';
import { AGGREGATES, EMIT } from './naive-aggregates.ts';
import { type SessionShape, sessionOutputs } from './session-oracle.ts';
import { slotReads } from './slot-reads.ts';
import { EVENT, inputs, outputsOf, timeOperators } from './timeline.ts';

const RUNS = Number(process.env['WINDOW_RUNS'] ?? 150);

const shapes: fc.Arbitrary<SessionShape> = fc.record({
  gapUs: fc.constantFrom(5_000, 8_000, 12_000),
  latenessUs: fc.constantFrom(0, 0, 6_000, 20_000),
  earlyUs: fc.constantFrom(null, null, 3_000, 10_000),
});

/** A session is remembered for two gaps after it has closed: what is displaced further than that is not tested. */
const events = inputs({ displacedMs: 10, stepMs: 15 });

function programOf(
  { gapUs, latenessUs, earlyUs }: SessionShape,
  outOfOrderUs: number,
  aggregates: readonly string[],
  emit: string,
): string {
  const early = earlyUs === null ? '' : `, early: ${earlyUs}us`;
  return `${EVENT}stream W = E.partition_by(k)${timeOperators(outOfOrderUs, latenessUs)}.window(session: ${gapUs}us${early}).aggregate(${aggregates.join(', ')})${emit}
stream L = W.late.emit(i: i)
`;
}

const UNORDERED = AGGREGATES.filter((one) => !one.includes('collect') && !one.includes('ema'));
const UNORDERED_EMIT = EMIT.replace(', all: all', '').replace(', smooth: smooth', '');

/** An output without what needs the order of arrival. */
function unordered(line: string): string {
  return line.replace(/"all":\[[^\]]*\],/, '').replace(/"smooth":[^,]*,/, '');
}

describe('session windows', () => {
  test('give what the events that lie within a gap of each other give, in order of their end', () => {
    fc.assert(
      fc.property(events, shapes, fc.constantFrom(0, 0, 5_000, 30_000), (list, shape, outOfOrderUs) => {
        const expected = sessionOutputs({ events: list, outOfOrderUs }, shape);
        expect(outputsOf(programOf(shape, outOfOrderUs, AGGREGATES, EMIT), list)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  test('merge whole when no aggregate needs the order of arrival', () => {
    fc.assert(
      fc.property(events, shapes, fc.constantFrom(5_000, 30_000), (list, shape, outOfOrderUs) => {
        const expected = sessionOutputs({ events: list, outOfOrderUs }, shape).map(unordered);
        expect(outputsOf(programOf(shape, outOfOrderUs, UNORDERED, UNORDERED_EMIT), list)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  test('give the same when they are restored at any point', () => {
    fc.assert(
      fc.property(events, shapes, fc.constantFrom(0, 5_000, 30_000), fc.nat({ max: 18 }), (list, shape, outOfOrderUs, restartAt) => {
        const program = programOf(shape, outOfOrderUs, AGGREGATES, EMIT);
        expect(outputsOf(program, list, { restartAt })).toEqual(outputsOf(program, list));
      }),
      { numRuns: RUNS },
    );
  });
});

describe('keys that come once', () => {
  const started = (gapMs: number): EngineRun => {
    return start(planOf(`${EVENT}stream W = E.partition_by(k).window(session: ${gapMs}ms).aggregate(n: count())`));
  };
  /** A new key for each ms. */
  const pushKeys = (run: EngineRun, from: number, keys: number): void => {
    for (let time = from; time < from + keys; time++) run.push('E', time, { i: time, k: `key-${time}`, v: 1 });
  };
  const remembered = (run: EngineRun): number => new Set(JSON.stringify(run.engine.snapshot()).match(/key-\d+/g)).size;

  test.each([500, 1_000, 2_000])('cost the same however long they are remembered: gap of %i ms', (gapMs) => {
    const run = started(gapMs);
    pushKeys(run, 0, 4 * gapMs);
    const reads = slotReads(() => pushKeys(run, 4 * gapMs, 4_000));
    expect(reads / 4_000).toBeLessThan(100);
  });

  test('are remembered for half as long again at most', () => {
    const run = started(1_000);
    pushKeys(run, 0, 20_000);
    expect(remembered(run)).toBeLessThan(1.5 * 3_000 + 100);
  });

  test('are forgotten after a rush of them, when few come', () => {
    const run = started(1_000);
    pushKeys(run, 0, 10_000);
    for (let time = 14_000; time < 18_000; time += 100) pushKeys(run, time, 1);
    expect(remembered(run)).toBeLessThan(100);
  });

  test('are remembered after a restore at no higher cost', () => {
    const run = started(2_000);
    pushKeys(run, 0, 10_000);
    const snapshot = run.engine.snapshot();
    const restored = started(2_000);
    const reads = slotReads(() => restored.engine.restore(snapshot));
    expect(reads / 6_000).toBeLessThan(100);
    expect(remembered(restored)).toBe(remembered(run));
  });
});

describe('a key with many open sessions', () => {
  const timelines = inputs({ displacedMs: 400, stepMs: 40, keys: ['a', 'a', 'b'], eventsMin: 60, eventsMax: 90 });
  const latenessUs = 800_000;

  test.each([
    ['whatever is asked for', AGGREGATES, EMIT],
    ['fused', UNORDERED, UNORDERED_EMIT],
  ])('has them as if all of them were looked through, also after a restore: %s', (_, aggregates, emit) => {
    fc.assert(
      fc.property(
        timelines,
        fc.constantFrom(8_000, 12_000),
        fc.constantFrom(null, 10_000),
        fc.nat({ max: 90 }),
        (list, gapUs, earlyUs, at) => {
          const shape = { gapUs, latenessUs, earlyUs };
          const program = programOf(shape, 0, aggregates, emit);
          const expected = sessionOutputs({ events: list, outOfOrderUs: 0 }, shape);
          const outputs = outputsOf(program, list);
          expect(outputs).toEqual(aggregates === AGGREGATES ? expected : expected.map(unordered));
          expect(outputsOf(program, list, { restartAt: at })).toEqual(outputs);
        },
      ),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });

  const SESSIONS = 2_000;
  const GAP_MS = 10;

  test.each([
    ['that are fused', 'n: count()'],
    ['whose rows are whole', 'n: count(), all: collect(i)'],
  ])('looks through a few of them for each event: %s', (_, aggregates) => {
    const run = start(
      planOf(`${EVENT}stream W = E.partition_by(k).allowed_lateness(1h).window(session: ${GAP_MS}ms).aggregate(${aggregates}).emit(n: n)`),
    );
    const push = (time: number): void => run.push('E', time, { i: time, k: 'a', v: 1 });
    const reads = slotReads(() => {
      for (let i = 0; i < SESSIONS; i++) push(2 * GAP_MS * ((i * 7) % SESSIONS));
      // Each joins two, from both ends on.
      for (let i = 0; i < SESSIONS / 2; i++) push(2 * GAP_MS * (i % 2 === 0 ? i : SESSIONS - 1 - i) + GAP_MS);
      run.engine.end();
    });
    expect(reads / (1.5 * SESSIONS)).toBeLessThan(300);
    const counts = run.outputs.map((text) => Number(/"n":(\d+)/.exec(text)?.[1]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1.5 * SESSIONS);
    expect(counts.length).toBe(SESSIONS / 2);
  });
});

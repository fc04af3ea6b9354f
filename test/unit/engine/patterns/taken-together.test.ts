import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InputEvent } from '../../../../shared/events/event.ts';
import { fieldsToJson } from '../../../../shared/events/text.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from '../../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';

const events = `event Failed:
    user: str
    ms: int

event Ok:
    user: str
    ms: int

`;
const read = 'n: count(more), total: sum(more.ms), all: collect(more.ms), was: first(more).ms, is: last(more).ms, id: match_id';

/** Runs of one list, which take the events of a closure together, and such as take each for itself. */
const programs: Readonly<Record<string, string>> = {
  'one key': `${events}stream S = Failed as first -> Failed+ as more -> Ok as ok within 1h .partition_by(user).emit(at: first.ms, ${read})\n`,
  'no key': `${events}stream S = Failed as first -> Failed+ as more -> Ok as ok within 1h .emit(at: first.ms, u: last(more).user, ${read})\n`,
  'a time that passes': `${events}stream S = Failed as first -> Failed+ as more -> Ok as ok within 40ms .partition_by(user).emit(at: first.ms, ${read})\n`,
  'too many': `${events}stream S = Failed as first -> Failed+ as more -> Ok as ok within 1h .partition_by(user).max_closure(12).emit(at: first.ms, ${read})\n`,
  'all runs end': `${events}stream S = Failed as first -> Failed+ as more -> Ok as ok within 1h .partition_by(user).after_match(skip_past_last).emit(at: first.ms, ${read})\n`,
  'a row for each': `${events}stream S = Failed as first -> Failed+ as more -> Ok as ok within 1h .partition_by(user).watermark(out_of_order: 3ms).emit(at: first.ms, ${read})\n`,
  'events that are only counted': `${events}stream S = Failed as first -> Failed+ as more -> Ok as ok within 1h .partition_by(user).emit(at: first.ms, n: count(more))\n`,
  'a condition of each run': `${events}stream S = Failed as first -> Failed{2,} where ms > first.ms + 3 as more -> Ok as ok within 1h .partition_by(user).emit(at: first.ms, ${read})\n`,
};

function failed(ms: number, user = 'bob', type = 'Failed'): InputEvent {
  return {
    type,
    fields: new Map<string, string | number>([
      ['user', user],
      ['ms', ms],
    ]),
    fallbackTime: ms,
  };
}

/** The outputs of a run whose engine is given up before some events: a new one goes on with what the one before has saved. */
function outputsOf(plan: Plan, input: readonly InputEvent[], handOver: (at: number, engine: Engine) => EngineOptions | null): string[] {
  const outputs: string[] = [];
  const host = {
    output: ({ stream, time, fields }: { stream: string; time: number; fields: ReadonlyMap<string, never> }) =>
      outputs.push(`${stream} ${time} ${fieldsToJson(fields)}`),
  };
  let engine = createEngine(plan, host as never, {});
  for (const [at, event] of input.entries()) {
    const options = handOver(at, engine);
    if (options !== null) {
      const next = createEngine(plan, host as never, options);
      next.restore(JSON.parse(JSON.stringify(engine.snapshot(at % 4 === 3 ? 1 + (at % 3) : undefined))));
      engine = next;
    }
    engine.push(event);
  }
  engine.end();
  return outputs;
}

const stored = (engine: Engine, format?: number): number => JSON.stringify(engine.snapshot(format)).length;

describe('a state of runs that have taken events together', () => {
  const engineAfter = (count: number): Engine => {
    const engine = createEngine(planOf(programs['one key'] as string), { output: () => undefined });
    for (let ms = 0; ms < count; ms++) engine.push(failed(ms));
    return engine;
  };

  it('grows with the events, not with the events of each run', () => {
    const [few, many] = [engineAfter(200), engineAfter(800)];
    expect(stored(many) / stored(few)).toBeLessThan(5);
    expect(stored(few, 3)).toBeGreaterThan(10 * stored(few));
  });

  it.each([
    ['an event has come late', 'one key', 3],
    ['each run has a condition', 'a condition of each run', 0],
  ])('grows with the events where each run takes them for itself: %s', (_why, name, late) => {
    const bytesAfter = (count: number): number => {
      const engine = createEngine(planOf(programs[name] as string), { output: () => undefined });
      for (let ms = 0; ms < count; ms++) engine.push(failed(ms === 10 ? ms - late : ms));
      return stored(engine);
    };
    expect(bytesAfter(600) / bytesAfter(200)).toBeLessThan(4);
  });

  it('is as small when it is saved again by who has gone on with it', () => {
    const engine = createEngine(planOf(programs['one key'] as string), { output: () => undefined });
    engine.restore(JSON.parse(JSON.stringify(engineAfter(400).snapshot())));
    for (let ms = 400; ms < 800; ms++) engine.push(failed(ms));
    expect(stored(engine)).toBeLessThan(1.05 * stored(engineAfter(800)));
  });
});

const inputs = fc.array(
  fc.record({
    isOk: fc.integer({ min: 0, max: 24 }).map((one) => one === 0),
    user: fc.constantFrom('ann', 'bob', 'bob', 'bob'),
    late: fc.integer({ min: -40, max: 6 }).map((one) => Math.max(0, one)),
    cut: fc.constantFrom(null, null, null, null, null, { isFused: false }, { explain: true }, {}, {}),
  }),
  { minLength: 20, maxLength: 120 },
);

it.each(Object.entries(programs))(
  'what follows is the same, however often an engine goes on with what another has saved: %s',
  (_name, program) => {
    const plan = planOf(program);
    let outputs = 0;
    fc.assert(
      fc.property(inputs, (steps) => {
        const input = steps.map(({ isOk, user, late }, at) => failed(at * 2 - late, user, isOk ? 'Ok' : 'Failed'));
        const unbroken = outputsOf(plan, input, () => null);
        outputs += unbroken.length;
        expect(outputsOf(plan, input, (at) => steps[at]?.cut ?? null)).toEqual(unbroken);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 30), seed: 7 },
    );
    expect(outputs).toBeGreaterThan(30);
  },
);

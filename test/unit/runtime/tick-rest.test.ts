import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Value } from '../../../shared/events/value.ts';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../worker/engine/engine.ts';
import { TickRest } from '../../../worker/runtime/pipelines/ticks.ts';
import { IdleSources } from '../../../worker/runtime/threads/idle-sources.ts';

const began = 1_700_000_000_000;

const programs = {
  'a run that ends': 'stream S = A as a -> B as b within 7s\n    .emit(a: a.n, b: b.n)\n',
  'something that does not come': 'stream S = A as a -> NOT B within 4s\n    .emit(a: a.n)\n',
  'a window': 'stream S = A.window(3s).aggregate(n: count()).emit(n: n)\n',
  'a join, out of order, silent after 6 s': `stream L = A.watermark(out_of_order: 2s, idle: 6s).emit(n: n)
stream R = B.watermark(out_of_order: 2s, idle: 6s).emit(n: n)
stream S = join(L, R).on(L.n == R.n).window(5s).emit(n: L.n)
`,
  'sources that are silent after different times': `stream L = A.watermark(out_of_order: 2s, idle: 6s).window(3s).aggregate(n: count()).emit(n: n)
stream R = B.from(K, topic: "b").watermark(out_of_order: 2s, idle: 12s).window(3s).aggregate(n: count()).emit(n: n)
`,
  'a merge of sources of which one may have given nothing': `stream S = merge(A, B.from(K, topic: "b"))
    .watermark(idle: 6s).window(3s).aggregate(n: count()).emit(n: n)
`,
  'a timer': 'stream T = timer(5s).emit(n: 1)\nstream S = A.window(20s).aggregate(n: count()).emit(n: n)\n',
};

/** A program as its thread runs it, and what it says when. */
class Run {
  readonly said: unknown[] = [];
  ticks = 0;
  readonly #engine: Engine;
  readonly #idle: IdleSources;
  readonly #rest = new TickRest();
  readonly #mayRest: boolean;
  #now = began;

  constructor(source: string, mayRest: boolean) {
    const { plan, diagnostics } = check(
      new SourceText('p.vpl', `connector K = mqtt(url: "mqtt://127.0.0.1")\nevent A:\n    n: int\n\nevent B:\n    n: int\n\n${source}`),
    );
    expect(diagnostics).toEqual([]);
    this.#engine = createEngine(plan as Plan, {
      output: ({ stream, fields }) => void this.said.push([this.#now - began, stream, fields.get('n') ?? fields.get('a')]),
    });
    this.#idle = new IdleSources(plan as Plan);
    this.#mayRest = mayRest;
  }

  /** What the clock says, every tenth of a second. */
  clock(now: number): void {
    this.#now = now;
    if (!this.#mayRest || !this.#rest.leavesOut(now)) this.#tick(now);
  }

  #tick(now: number): void {
    this.ticks++;
    this.#idle.tick(this.#engine, now);
    this.#rest.begin(now, Math.min(this.#engine.dueInMs(), this.#idle.evenMs(now)));
  }

  event(type: string, n: number, arrived: number, timestamp: number | undefined): void {
    const leftOut = this.#rest.end();
    if (leftOut !== undefined) this.#tick(leftOut);
    this.#rest.end();
    this.#now = arrived;
    const fields = new Map<string, Value>([['n', n]]);
    this.#engine.push({ type, fields, fallbackTime: arrived, ...(timestamp === undefined ? {} : { timestamp }) });
    this.#idle.observe(type, arrived);
  }

  get late(): number {
    return this.#engine.eventsLate;
  }
}

const events = fc.array(
  fc.record({
    type: fc.constantFrom('A', 'B'),
    n: fc.integer({ min: 0, max: 2 }),
    /** Tenths of a second until it comes. */
    pause: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 400 })),
    /** How far its own time is behind its arrival, ms; absent: it states none. */
    behindMs: fc.option(fc.integer({ min: -500, max: 4_000 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 12 },
);

it.each(Object.entries(programs))('leaves out no tick that something is said at: %s', (_, source) => {
  const ticks = { whole: 0, resting: 0 };
  fc.assert(
    fc.property(events, (all) => {
      const [whole, resting] = [new Run(source, false), new Run(source, true)];
      for (const run of [whole, resting]) {
        let now = began;
        const pass = (tenths: number): void => {
          for (let left = tenths; left > 0; left--) {
            now += 100;
            run.clock(now);
          }
        };
        pass(3);
        for (const { type, n, pause, behindMs } of all) {
          pass(pause);
          run.event(type, n, now + 7, behindMs === undefined ? undefined : now + 7 - behindMs);
        }
        pass(450);
      }
      expect(resting.said).toEqual(whole.said);
      expect(resting.late).toBe(whole.late);
      ticks.whole += whole.ticks;
      ticks.resting += resting.ticks;
    }),
    { numRuns: 60 },
  );
  expect(ticks.resting).toBeLessThan(ticks.whole / 4);
});

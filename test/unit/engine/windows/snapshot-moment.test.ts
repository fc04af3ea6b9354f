import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EngineSnapshot } from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { type EngineRun, start } from '../support/engine-run.ts';
import { EVENT, inputs, ms, type TestEvent, timeOperators } from './timeline.ts';

const AGGREGATES = 'n: count(), all: sum(v), mean: avg(v), spread: stddev(v), least: min(v), ones: collect(i), tail: ema(v, 3)';

const windows = [
  '.window(3)',
  '.window(4, sliding: 2)',
  '.window(20ms)',
  '.window(20ms, sliding: 5ms)',
  '.window(20ms, sliding: 5ms, early: 5ms)',
  '.window(session: 10ms)',
  '.window(session: 10ms, early: 4ms)',
  '',
];

function push(run: EngineRun, { index, type, k, v, us }: TestEvent): void {
  run.push(type, ms(us), { i: index, k, v });
}

/** What the engine holds after so many events, read at once. */
function stateAfter(program: string, events: readonly TestEvent[]): string {
  const run = start(planOf(program));
  for (const event of events) push(run, event);
  return JSON.stringify(run.engine.snapshot());
}

test.each(windows)('a snapshot shows the moment at which it was taken, whenever it is read: %s', (window) => {
  const program = fc
    .tuple(fc.constantFrom(0, 10_000), fc.constantFrom(0, 8_000), fc.constantFrom('', ', expire: 30ms'))
    .map(([outOfOrderUs, latenessUs, expire]) => {
      const lateness = window === '' || window.startsWith('.window(3') || window.startsWith('.window(4') ? 0 : latenessUs;
      return `${EVENT}stream S = E${timeOperators(outOfOrderUs, lateness)}.partition_by(k${expire})${window}.aggregate(${AGGREGATES}).emit(n: n)\n`;
    });
  fc.assert(
    fc.property(program, inputs(), fc.array(fc.nat(18), { maxLength: 4 }), fc.nat(18), (text, events, moments, readAt) => {
      const run = start(planOf(text));
      const taken: { at: number; snapshot: EngineSnapshot }[] = [];
      const read = (): void => {
        for (const { at, snapshot } of taken.splice(0)) {
          expect(JSON.stringify(snapshot), `of moment ${at}`).toBe(stateAfter(text, events.slice(0, at)));
          expect(JSON.stringify(snapshot), 'and again').toBe(JSON.stringify(snapshot));
        }
      };
      for (const event of events) {
        for (const _ of moments.filter((moment) => moment === event.index))
          taken.push({ at: event.index, snapshot: run.engine.snapshot() });
        if (event.index === readAt) read();
        push(run, event);
      }
      taken.push({ at: events.length, snapshot: run.engine.snapshot() });
      run.engine.end();
      read();
    }),
    { numRuns: 60 },
  );
});

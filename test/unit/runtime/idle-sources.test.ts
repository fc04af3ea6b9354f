import { expect, it } from 'vitest';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { Engine } from '../../../worker/engine/engine.ts';
import { IdleSources, type SavedIdleSources } from '../../../worker/runtime/threads/idle-sources.ts';

const hourMs = 3_600_000;
const began = 1_700_000_000_000;

/** A program whose only source has events with times of their own, idle after 5 s, and to what time it was moved on. */
class Told {
  readonly moves: number[] = [];
  readonly #idle: IdleSources;
  readonly #engine = {
    advance: (time: number, source?: string) => void (source !== undefined && this.moves.push(time)),
  } as Pick<Engine, 'advance'> as Engine;

  constructor(saved?: SavedIdleSources) {
    const { plan } = check(new SourceText('p.vpl', 'stream S = A.watermark(idle: 5s).emit(n: n)\n'));
    this.#idle = new IdleSources(plan as Plan);
    if (saved) this.#idle.load(saved);
  }

  event(own: number, arrived: number): void {
    this.#idle.observe({ type: 'A', own, fields: undefined, arrived });
  }

  /** A tick every tenth of a second. */
  ticks(from: number, to: number): void {
    for (let now = from; now <= to; now += 100) this.#idle.tick(this.#engine, now);
  }

  save(): SavedIdleSources {
    return this.#idle.save();
  }
}

it('moves a source on by the time in which nothing came, once that is long enough', () => {
  const told = new Told();
  told.ticks(began, began + 1_000);
  told.event(50, began + 1_000);
  told.ticks(began + 1_100, began + 5_900);
  expect(told.moves).toEqual([]);
  told.ticks(began + 6_000, began + 6_100);
  expect(told.moves).toEqual([50 + 5_000, 50 + 5_100]);
});

it('takes no clock that is set, forward or back, for silence', () => {
  const told = new Told();
  told.ticks(began, began + 1_000);
  told.event(50, began + 1_000);
  told.ticks(began + 1_100, began + 3_000);
  // Ahead by an hour, with an event that arrived by the clock of another machine, and back again as a pipeline goes on elsewhere.
  told.ticks(began + hourMs + 3_100, began + hourMs + 4_000);
  told.event(60, began + 4_000);
  told.ticks(began + hourMs + 4_100, began + hourMs + 6_000);
  const elsewhere = new Told(told.save());
  elsewhere.event(70, began + 6_000);
  elsewhere.ticks(began + 6_100, began + 8_000);
  expect([told.moves, elsewhere.moves]).toEqual([[], []]);
  elsewhere.ticks(began + 8_100, began + 12_000);
  expect(elsewhere.moves.at(0)).toBe(70 + 5_000);
});

it('sees silence where events arrive by a clock that is far ahead of the ticks', () => {
  const told = new Told();
  told.ticks(began, began + 1_000);
  told.event(50, began + hourMs);
  told.ticks(began + 1_100, began + 16_000);
  expect(told.moves.at(0)).toBe(50 + 5_000);
});

it('goes on after a restart with the silence that it had seen, not with the time in which nobody listened', () => {
  const before = new Told();
  before.ticks(began, began + 1_000);
  before.event(50, began + 1_000);
  before.ticks(began + 1_100, began + 4_000);
  const replayed = new Told(before.save());
  const restarted = new Told(before.save());
  before.ticks(began + 4_100, began + 7_000);
  replayed.ticks(began + 4_100, began + 7_000);
  restarted.ticks(began + hourMs, began + hourMs + 1_900);
  expect(replayed.moves).toEqual(before.moves);
  expect(before.moves[0]).toBe(50 + 5_000);
  expect(restarted.moves).toEqual([]);
  restarted.ticks(began + hourMs + 2_000, began + hourMs + 2_000);
  expect(restarted.moves).toEqual([50 + 5_000]);
});

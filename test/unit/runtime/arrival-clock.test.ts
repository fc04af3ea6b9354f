import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ArrivalClock } from '../../../worker/runtime/arrival-clock.ts';

const hour = 3_600_000;

/** A machine whose clocks are moved by hand. */
class SetClock {
  wall = 1_700_000_000_000;
  elapsed = 0;
  wallMs = (): number => this.wall;
  elapsedMs = (): number => this.elapsed;

  pass(ms: number): void {
    this.wall += ms;
    this.elapsed += ms;
  }
}

describe('the time of arrival', () => {
  it('is that of the wall clock, while nobody sets it', () => {
    const machine = new SetClock();
    const clock = new ArrivalClock(machine);
    for (const ms of [0, 1, 250, 60_000, hour]) {
      machine.pass(ms);
      expect(clock.now()).toBe(machine.wall);
    }
  });

  it('goes on a little slower when the clock is set back, until the two are one again', () => {
    const machine = new SetClock();
    const clock = new ArrivalClock(machine);
    const before = clock.now();
    machine.wall -= hour;
    machine.pass(60_000);
    expect(clock.now()).toBe(before + 54_000);
    machine.pass(10 * hour);
    expect(clock.now()).toBe(machine.wall);
  });

  it('goes on from where the process before left it', () => {
    const machine = new SetClock();
    const clock = new ArrivalClock(machine);
    clock.notBefore(machine.wall + hour);
    machine.pass(1_000);
    expect(clock.now()).toBe(machine.wall - 1_000 + hour + 900);
    clock.notBefore(0);
    expect(clock.now()).toBe(machine.wall - 1_000 + hour + 900);
  });

  it('never goes back, however the clock is set', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: -2 * hour, max: 2 * hour }), fc.integer({ min: 0, max: 5_000 })));
    fc.assert(
      fc.property(steps, (moves) => {
        const machine = new SetClock();
        const clock = new ArrivalClock(machine);
        let last = clock.now();
        for (const [step, passed] of moves) {
          machine.wall += step;
          machine.pass(passed);
          const now = clock.now();
          expect(now).toBeGreaterThanOrEqual(Math.max(last, machine.wall));
          last = now;
        }
      }),
    );
  });
});

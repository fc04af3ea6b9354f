import { beforeEach, expect, it } from 'vitest';
import { ReplayHold } from '../../../../worker/runtime/placed/replay-hold.ts';

let hold: ReplayHold;
beforeEach(() => {
  hold = new ReplayHold();
});

function spoke(sequence: number): void {
  hold.unlike(sequence);
  hold.speaks();
}

it('holds from the first thing that is said of what would not come again alike until a checkpoint has the last', () => {
  hold.speaks();
  expect([hold.isHeld, hold.committed(1)]).toEqual([false, false]);
  spoke(2);
  spoke(4);
  expect([hold.committed(3), hold.isHeld]).toEqual([false, true]);
  expect([hold.committed(4), hold.isHeld]).toEqual([true, false]);
});

it('holds what is said later and may depend on it, and nothing that says nothing', () => {
  hold.unlike(2);
  expect(hold.isHeld).toBe(false);
  hold.speaks();
  hold.unlike(5);
  // What was said needs the second input alone.
  expect([hold.isHeld, hold.committed(3), hold.isHeld]).toEqual([true, true, false]);
  hold.speaks();
  expect([hold.isHeld, hold.committed(5)]).toEqual([true, true]);
  hold.speaks();
  expect(hold.isHeld).toBe(false);
});

it('is outrun when three checkpoints in a row have found more than they have', () => {
  spoke(10);
  const outrun = [9, 10, 11, 12].map((sequence) => {
    spoke(sequence + 1);
    return [hold.committed(sequence), hold.isOutrun];
  });
  expect(outrun).toEqual([
    [false, false], // It was made before any of it.
    [false, false],
    [false, false],
    [false, true],
  ]);
  expect([hold.committed(13), hold.isOutrun]).toEqual([true, false]);
});

it('is not outrun by what one checkpoint after another has caught up with', () => {
  for (let sequence = 1; sequence < 20; sequence += 2) {
    spoke(sequence);
    spoke(sequence + 1);
    expect([hold.committed(sequence), hold.isOutrun, hold.committed(sequence + 1)]).toEqual([false, false, true]);
  }
});

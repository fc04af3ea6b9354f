import { beforeEach, expect, it } from 'vitest';
import { ClockHold } from '../../../../worker/runtime/placed/clock-hold.ts';

let hold: ClockHold;
beforeEach(() => {
  hold = new ClockHold();
});

it('holds from the first thing that the clock has made until a checkpoint has the last', () => {
  expect([hold.isHeld, hold.committed(1)]).toEqual([false, false]);
  hold.spoke(2);
  hold.spoke(4);
  expect([hold.committed(3), hold.isHeld]).toEqual([false, true]);
  expect([hold.committed(4), hold.isHeld]).toEqual([true, false]);
});

it('is outrun when three checkpoints in a row have found more than they have', () => {
  hold.spoke(10);
  const outrun = [9, 10, 11, 12].map((sequence) => {
    hold.spoke(sequence + 1);
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
    hold.spoke(sequence);
    hold.spoke(sequence + 1);
    expect([hold.committed(sequence), hold.isOutrun, hold.committed(sequence + 1)]).toEqual([false, false, true]);
  }
});

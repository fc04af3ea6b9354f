import { expect, it } from 'vitest';
import { type CoreTimes, IdleCores } from '../../../../cli/simulation/threads/idle-cores.ts';

it('counts the cores that have had nothing to do in the part that is over', () => {
  const states: (readonly CoreTimes[])[] = [
    [
      { idle: 0, all: 1_000 },
      { idle: 500, all: 1_000 },
    ],
    [
      { idle: 150, all: 1_200 },
      { idle: 700, all: 1_200 },
    ],
    [
      { idle: 150, all: 1_400 },
      { idle: 700, all: 1_400 },
    ],
  ];
  const idle = new IdleCores(() => states.shift() ?? []);
  expect(idle.count(10)).toBe(0);
  expect(idle.count(100)).toBe(0);
  expect(idle.count(210)).toBe(1.75);
  expect(idle.count(300)).toBe(1.75);
  expect(idle.count(410)).toBe(0);
});

it('counts those of this machine', () => {
  const idle = new IdleCores();
  idle.count(0);
  expect(idle.count(1_000)).toBeGreaterThanOrEqual(0);
});

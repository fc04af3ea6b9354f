import { describe, expect, it } from 'vitest';
import { goalOfScenario, pairGoals, verdictOf } from '../../bench/gates/goals.ts';
import { type Circumstances, noisyCount } from '../../bench/gates/noise.ts';
import { pairFigures } from '../../bench/gates/pair-gate.ts';
import { microCases } from '../../bench/micro/cases.ts';
import { scenarios } from '../../bench/scenarios.ts';

describe('the goals', () => {
  it('ask of every scenario half the speed of its bound, of the plain filter nine tenths', () => {
    expect(goalOfScenario('04-rising-run')).toEqual({ gate: 0.5, target: 0.8 });
    expect(goalOfScenario('01-filter')).toEqual({ gate: 0.9, target: 0.9 });
  });

  it('compare scenarios that exist', () => {
    const names = [...scenarios, ...microCases].map(({ name }) => name);
    expect(names).toContain('01-filter');
    for (const { name, than } of pairGoals) expect(names).toEqual(expect.arrayContaining([name, than]));
  });
});

describe('the verdict', () => {
  const goal = { gate: 0.5, target: 0.8 };

  it('is passed at the gate, and says when the target is reached', () => {
    expect(verdictOf(0.499, goal)).toBe('FAIL');
    expect(verdictOf(0.5, goal)).toBe('pass');
    expect(verdictOf(0.8, goal)).toBe('pass, target');
    expect(verdictOf(2, { gate: 0.9 })).toBe('pass');
  });

  it('fails what is no number', () => {
    expect(verdictOf(Number.NaN, goal)).toBe('FAIL');
  });
});

describe('scenarios beside each other', () => {
  it('are compared round by round', () => {
    const [pair] = pairFigures([
      { name: '08-open-runs', perEvent: [20, 400] },
      { name: '07-sequence', perEvent: [18, 320] },
    ]);
    expect(pair).toMatchObject({ name: '08-open-runs', than: '07-sequence', gate: 0.9, verdict: 'FAIL' });
    expect(pair?.ratio.max).toBeCloseTo(0.9);
    expect(pair?.ratio.median).toBeCloseTo(0.85);
  });

  it('are left out when one of the two was not measured', () => {
    expect(pairFigures([{ name: '08-open-runs', perEvent: [1] }])).toEqual([]);
  });
});

describe('the noise of a measurement', () => {
  const quiet: Circumstances = { before: 100, after: 100, elapsedMs: 50, cpuMs: 50 };

  it('is a calibration slower than the fastest of the whole run', () => {
    expect(noisyCount([quiet], [quiet])).toBe(0);
    expect(noisyCount([quiet], [quiet, { ...quiet, before: 80 }])).toBe(1);
  });

  it('is a measured process that waited for others', () => {
    expect(noisyCount([quiet, { ...quiet, elapsedMs: 61 }], [quiet])).toBe(1);
    expect(noisyCount([{ ...quiet, cpuMs: 70 }], [quiet])).toBe(0);
  });
});

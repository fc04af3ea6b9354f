import { describe, expect, test } from 'vitest';
import { limits } from '../../../../../shared/limits.ts';
import { fuse } from '../../../../../worker/engine/fusion/fuse.ts';
import { planOf } from '../../../../scenarios/run-program.ts';
import { type EngineRun, start } from '../../support/engine-run.ts';

const EVENTS = 'event A:\n    k: int\n    i: int\nevent B:\n    k: int\n    i: int\n';

function run(join: string, window: string): EngineRun {
  const plan = planOf(`${EVENTS}stream J = ${join}(A, B).on(A.k == B.k).window(${window}).emit(a: A.i, b: B.i)\n`);
  const source = plan.streams[0]?.source as object;
  expect(fuse(plan)?.kernelOf(source), 'the join is generated code').toBeDefined();
  return start(plan);
}

function dropped({ engine }: EngineRun): number {
  return engine.counters().streams.get('J')?.runsDropped.get('max_runs') ?? 0;
}

describe('the state budget of a join in generated code', () => {
  test.each(['join', 'left_join'])('of a %s drops what would end first, counts it, and keeps the rest', (join) => {
    const joined = run(join, '1h');
    const { push, outputs } = joined;
    for (let i = 0; i <= limits.patternRunsDefault + 5; i++) push('A', i === 3 ? 50 : i, { k: i, i });
    expect(dropped(joined)).toBe(6);
    const now = limits.patternRunsDefault + 5;
    for (const k of [0, 3, 6, 20]) push('B', now, { k, i: -k });
    expect(outputs).toEqual([3, 20].map((k) => `J@${now} {"a":${k},"b":${-k}}`));
    expect(dropped(joined)).toBe(10);
  });

  test('drops a row that the arriving one still meets', () => {
    const joined = run('join', '1h');
    for (let i = 0; i < limits.patternRunsDefault; i++) joined.push('A', i, { k: i, i });
    joined.push('B', limits.patternRunsDefault, { k: 0, i: 1 });
    expect(joined.outputs).toEqual([`J@${limits.patternRunsDefault} {"a":0,"b":1}`]);
    expect(dropped(joined)).toBe(1);
  });

  test('is not used up by what a newer event replaces', () => {
    const joined = run('join', '1h, policy: latest');
    const last = limits.patternRunsDefault + 10;
    for (let i = 0; i <= last; i++) joined.push('A', i, { k: i % 2, i });
    joined.push('B', last, { k: 1, i: 0 });
    expect(dropped(joined)).toBe(0);
    expect(joined.outputs).toEqual([`J@${last} {"a":${last - 1},"b":0}`]);
  });

  test('is given back by what has ended, at keys that are never seen again', () => {
    const joined = run('join', '10ms');
    for (let i = 0; i <= 3 * limits.patternRunsDefault; i++) joined.push('A', i, { k: i, i });
    expect(dropped(joined)).toBe(0);
  });

  test('is kept where rows come and go at its edge', () => {
    const joined = run('join', `${limits.patternRunsDefault - 10}ms`);
    for (let i = 0; i <= 2 * limits.patternRunsDefault; i++) joined.push('A', i, { k: i, i });
    expect(dropped(joined)).toBe(0);
    joined.push('B', 2 * limits.patternRunsDefault, { k: limits.patternRunsDefault + 10, i: 1 });
    expect(joined.outputs).toHaveLength(1);
  });
});

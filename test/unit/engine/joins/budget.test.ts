import { describe, expect, test } from 'vitest';
import { limits } from '../../../../shared/limits.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { type EngineRun, start } from '../support/engine-run.ts';

function run(window: string): EngineRun {
  return start(planOf(`stream J = join(A, B).on(A.k == B.k).window(${window}).emit(a: A.i, b: B.i)\n`));
}

describe('the state budget of a join', () => {
  test('drops what would end first, counts it, and keeps the rest', () => {
    const { engine, push, outputs } = run('1h');
    for (let i = 0; i <= limits.patternRunsDefault; i++) push('A', i, { k: i, i });
    expect(engine.counters().streams.get('J')?.runsDropped).toEqual(new Map([['max_runs', 1]]));
    const now = limits.patternRunsDefault;
    push('B', now, { k: 0, i: 'oldest' });
    push('B', now, { k: 2, i: 'third' });
    expect(outputs).toEqual([`J@${now} {"a":2,"b":"third"}`]);
  });

  test('is not used up by what a newer event replaces', () => {
    const { engine, push, outputs } = run('1h, policy: latest');
    for (let i = 0; i <= limits.patternRunsDefault + 10; i++) push('A', i, { k: 1, i });
    push('B', limits.patternRunsDefault + 10, { k: 1, i: 0 });
    expect(engine.counters().streams.get('J')?.runsDropped).toEqual(new Map());
    expect(outputs).toEqual([`J@${limits.patternRunsDefault + 10} {"a":${limits.patternRunsDefault + 10},"b":0}`]);
  });

  test('is given back by what has ended', () => {
    const { engine, push } = run('10ms');
    for (let i = 0; i <= limits.patternRunsDefault + 10; i++) push('A', i, { k: 1, i });
    expect(engine.counters().streams.get('J')?.runsDropped).toEqual(new Map());
  });
});

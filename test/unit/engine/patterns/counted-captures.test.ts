import { describe, expect, it } from 'vitest';
import type { Row } from '../../../../worker/engine/operators/row.ts';
import { Capture, type Captures, capturesInOrder, capturesOneByOne, rollBack } from '../../../../worker/engine/patterns/captures.ts';
import { StateRun } from '../../../states/state-run.ts';

const program = `event Failed:
    user: str

event Ok:
    user: str

pattern Guessed = Failed as first -> Failed{4,} as more -> Ok as ok
    within 10m partition by user

stream Breach = Guessed
    .emit(user: first.user, failures: count(more) + 1)
`;

/** Failures of one user, each of which begins a run that counts all that follow. */
function failed(count: number): StateRun {
  const run = new StateRun(program, {});
  for (let n = 0; n < count; n++) run.push({ type: 'Failed', time: n, fields: { user: 'bob' } });
  return run;
}

const bytesOf = (run: StateRun, format?: number): number => JSON.stringify(run.engine.snapshot(format)).length;

describe('a state of runs that only count', () => {
  it('grows with the runs, not with the events that each of them has counted', () => {
    const [few, many] = [bytesOf(failed(200)), bytesOf(failed(800))];
    expect(many / few).toBeLessThan(5);
    expect(bytesOf(failed(200), 2)).toBeGreaterThan(10 * few);
  });

  it.each([
    ['as it ships', {}],
    ['row by row', { isFused: false }],
  ])('is gone on with %s', (_way, options) => {
    const saved = JSON.parse(JSON.stringify(failed(50).engine.snapshot()));
    const run = new StateRun(program, options);
    run.engine.restore(saved);
    run.push({ type: 'Ok', time: 60, fields: { user: 'bob' } });
    run.end();
    // The last four failures have begun runs that lack some.
    expect(run.outputs).toHaveLength(46);
    expect(run.outputs[0]).toContain('50');
    expect(run.outputs.at(-1)).toContain('5');
  });
});

describe('a capture that stands for several events', () => {
  const row = (time: number): Row => ({ time }) as Row;
  const [first, between, last] = [row(1), row(8), row(9)];
  /** Of nine events at the positions 11 to 19, as the elements 0 to 8. */
  const top = new Capture(last, 19, 8, new Capture(between, 18, 7, new Capture(first, 11, 0, null), 7));
  const each = (captures: Captures) => capturesInOrder(captures[0] ?? null).map(({ row: { time }, at, element }) => [time, at, element]);

  it('counts as many, and gives its row for each', () => {
    expect(top.length).toBe(9);
    expect(top.rows()).toEqual([first, ...Array(7).fill(between), last]);
  });

  it('is as many captures, one for each event', () => {
    const all = capturesOneByOne([top, null]);
    expect(all[1]).toBeNull();
    const expected = [[1, 11, 0], ...[12, 13, 14, 15, 16, 17, 18].map((at) => [8, at, at - 11]), [9, 19, 8]];
    expect(each(all)).toEqual(expected);
    expect(each([top])).toEqual(expected);
    expect(all[0]?.length).toBe(9);
  });

  it.each([0, 1, 2, 5, 8, 9])('is rolled back to %i events', (length) => {
    const rolled = (captures: Captures): Captures => rollBack(captures, [{ firstSlot: 0, lengths: [length] }]);
    const [some] = rolled([top]);
    expect(some?.length ?? 0).toBe(length);
    expect(each(capturesOneByOne(rolled([top])))).toEqual(each(rolled(capturesOneByOne([top]))));
  });
});

import { describe, expect, it } from 'vitest';
import type { Invocation, RegisterOperation } from '../../../chaos/linearizability/checker.ts';
import { audit, isClean, percentile, type Recording } from '../../../chaos/process/audit.ts';

const create = (value: number, result: boolean | undefined = true): RegisterOperation => ({
  kind: 'compareAndSet',
  expected: 0,
  value,
  result,
});
const change = (value: number, result: boolean | undefined = true): RegisterOperation => ({ kind: 'replace', value, result });
const read = (result: number): RegisterOperation => ({ kind: 'read', result });

function called(calledAt: number, returnedAt: number | undefined, operation: RegisterOperation, key = 'a'): Invocation {
  return { key, operation, calledAt, returnedAt };
}

/** A leader is killed at 100; writes go on at 130. */
const sound: readonly Invocation[] = [
  called(0, 10, create(1)),
  called(20, 30, read(1)),
  called(90, undefined, change(2, undefined)),
  called(120, 130, read(2)),
  called(121, 131, change(3)),
  called(140, 150, read(3)),
  called(151, 160, create(4, false)),
  called(170, 180, change(0)),
  called(190, 200, change(5, false)),
  called(125, 135, create(6), 'b'),
];

function recording({ history = sound, last = { a: 0, b: 6 } }: { history?: readonly Invocation[]; last?: object } = {}): Recording {
  const done = history.filter(
    ({ operation, returnedAt }) => operation.kind !== 'read' && returnedAt !== undefined && operation.kind !== 'write',
  );
  return {
    history,
    acknowledgements: done.map(({ calledAt, returnedAt }) => ({ sentAt: calledAt, at: returnedAt as number })),
    kills: [100],
    last: new Map(Object.entries(last)),
  };
}

describe('the audit of killed leaders', () => {
  it('finds nothing in what is sound, and counts it', () => {
    const report = audit(recording());
    expect(report).toMatchObject({ kills: 1, unknown: 1, reads: 3, lost: [], verdict: 'linearizable', gapsMs: [121] });
    expect(isClean(report)).toBe(true);
  });

  it.each<[string, (history: Invocation[]) => void]>([
    ['a read that shows what was before an acknowledged change', (history) => history.splice(5, 1, called(140, 150, read(1)))],
    ['a read that shows what was never written', (history) => history.splice(5, 1, called(140, 150, read(9)))],
    ['an acknowledged write that is missing from the history', (history) => history.splice(4, 1)],
    ['a change of what is not there that is acknowledged', (history) => history.splice(8, 1, called(190, 200, change(5)))],
    ['a connector that is made twice', (history) => history.splice(6, 1, called(151, 160, create(4)))],
    ['a change of what was acknowledged that is said to be absent', (history) => history.splice(4, 1, called(121, 131, change(3, false)))],
  ])('finds %s', (_, plant) => {
    const history = [...sound];
    plant(history);
    const report = audit(recording({ history, last: { a: 0, b: 6 } }));
    expect(report.verdict).toBe('violation at a');
    expect(isClean(report)).toBe(false);
  });

  it.each<[string, object, string[]]>([
    ['is gone', { a: 0, b: 0 }, ['b']],
    ['cannot be read', { a: 0 }, ['b']],
    ['came back after it was acknowledged to be removed', { a: 3, b: 6 }, ['a']],
  ])('finds an acknowledged write lost whose connector %s at the end', (_, last, lost) => {
    const report = audit(recording({ last }));
    expect([report.lost, isClean(report)]).toEqual([lost, false]);
  });

  it('takes a write of unknown outcome for done or not', () => {
    const history = [
      called(0, 10, create(1)),
      called(20, undefined, change(2, undefined)),
      called(0, undefined, create(3, undefined), 'b'),
    ];
    for (const last of [
      { a: 1, b: 0 },
      { a: 2, b: 3 },
    ]) {
      expect(audit(recording({ history, last })).lost).toEqual([]);
    }
  });
});

describe('a percentile', () => {
  it('is the nearest rank', () => {
    const sorted = Array.from({ length: 200 }, (_, at) => at + 1);
    expect([0.5, 0.99, 1].map((share) => percentile(sorted, share))).toEqual([100, 198, 200]);
    expect([percentile([], 0.5), percentile([7], 0.99)]).toEqual([0, 7]);
  });
});

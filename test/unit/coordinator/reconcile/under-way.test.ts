import { expect, it } from 'vitest';
import type { Action } from '../../../../coordinator/reconcile/action.ts';
import { Backoff } from '../../../../coordinator/reconcile/backoff.ts';
import { Executor } from '../../../../coordinator/reconcile/executor.ts';
import { UnderWay } from '../../../../coordinator/reconcile/under-way.ts';

const close = (incarnation: string): Action => {
  return { key: 'placement p', kind: 'close', worker: { id: 'w1', incarnation }, placement: { id: 'p' } } as Action;
};

it('what is asked of a lost process makes way for others, and its late end ends nothing else', () => {
  const underWay = new UnderWay();
  const lateEnd = underWay.begin(close('i1'));
  underWay.giveUp(({ incarnation }) => incarnation === 'i0');
  expect(underWay.has('placement p')).toBe(true);
  underWay.giveUp(({ incarnation }) => incarnation === 'i1');
  expect(underWay.has('placement p')).toBe(false);
  const end = underWay.begin(close('i2'));
  lateEnd();
  expect(underWay.has('placement p')).toBe(true);
  end();
  expect(underWay.size).toBe(0);
});

it('migrations that failed do not hold up a drain for longer than it waits, and not at all once one was completed', async () => {
  let nowMs = 0;
  const backoff = new Backoff(() => nowMs);
  const state = { migrations: new Map([['m', { placementId: 'p' }]]) };
  const executor = new Executor({ group: { state, propose: async () => ({}) }, backoff } as unknown as ConstructorParameters<
    typeof Executor
  >[0]);
  const ended = (status: 'failed' | 'completed'): Promise<void> => {
    const command = { type: 'EndMigration', payload: { migrationId: 'm', status } } as const;
    return executor.carryOut({ key: 'placement p', kind: 'propose', command }, () => true);
  };
  for (let times = 0; times < 10; times++) await ended('failed');
  expect(backoff.isDue('migrate p')).toBe(false);
  nowMs += 5_000;
  expect(backoff.isDue('migrate p')).toBe(true);
  await ended('failed');
  await ended('completed');
  expect(backoff.isDue('migrate p')).toBe(true);
});

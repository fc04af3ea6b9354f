import { describe, expect, it } from 'vitest';
import { WorkerLeases } from '../../../coordinator/liveness/worker-leases.ts';

const workers = ['a', 'b', 'c'].map((id) => ({ id, incarnation: 'i1' }));
const [a, b, c] = workers as [
  { id: string; incarnation: string },
  { id: string; incarnation: string },
  { id: string; incarnation: string },
];

function leasesAt(): { leases: WorkerLeases; to: (ms: number) => void } {
  let nowMs = 0;
  const leases = new WorkerLeases({ timeoutMs: 1_000, now: () => nowMs });
  return {
    leases,
    to: (ms) => {
      nowMs = ms;
    },
  };
}

describe('leases', () => {
  it('end before the leader takes them for ended', () => {
    const { leases, to } = leasesAt();
    leases.heard(a, 0);
    to(1_000);
    expect([leases.leaseMs < 1_000, leases.isOver(a)]).toEqual([true, false]);
    to(1_001);
    expect(leases.isOver(a)).toBe(true);
  });

  it('are taken for full by whoever begins to lead, for the one before may have granted them', () => {
    const { leases, to } = leasesAt();
    leases.heard(a, 0);
    to(5_000);
    leases.begin();
    expect(workers.map((one) => leases.isOver(one))).toEqual([false, false, false]);
    to(6_001);
    expect(leases.isOver(b)).toBe(true);
  });

  it('have a full time of a process that comes later, and is not heard of yet', () => {
    const { leases, to } = leasesAt();
    leases.meet([a]);
    to(5_000);
    leases.meet([a, b]);
    expect([leases.isOver(a), leases.isOver(b)]).toEqual([true, false]);
    to(6_001);
    expect([leases.isOver(b), leases.silentMs(b)]).toEqual([true, 1_001]);
  });

  it('are of a process: another one under the same name has its own', () => {
    const { leases, to } = leasesAt();
    to(1_500);
    leases.heard({ id: 'a', incarnation: 'i2' }, 1_500);
    expect([leases.isOver(a), leases.isOver({ id: 'a', incarnation: 'i2' })]).toEqual([true, false]);
  });

  it('are over at once when the process is proven dead, until it is heard after all', () => {
    const { leases } = leasesAt();
    leases.heard(a, 0);
    leases.died(a);
    expect([leases.isOver(a), leases.mayBeReplaced(a, workers)]).toEqual([true, true]);
    leases.heard(a, 1);
    expect(leases.isOver(a)).toBe(false);
  });

  it('of more than half of all that end at once are waited for once more', () => {
    const { leases, to } = leasesAt();
    to(1_001);
    leases.heard(c, 1_001);
    expect([leases.isMassLoss(workers), leases.isOver(a), leases.mayBeReplaced(a, workers)]).toEqual([true, true, false]);
    to(2_001);
    expect(leases.mayBeReplaced(a, workers)).toBe(true);
  });

  it('of all that are there are waited for once more, however many names there are of which nothing is left', () => {
    const { leases, to } = leasesAt();
    const gone = ['d', 'e', 'f', 'g'].map((id) => ({ id, incarnation: 'i1' }));
    leases.meet(gone);
    to(5_000);
    leases.meet(workers);
    to(6_001);
    expect([leases.isOver(a), leases.mayBeReplaced(a, [...gone, ...workers])]).toEqual([true, false]);
  });

  it('of those that a leader before had lost say nothing about the others, until they are heard of', () => {
    const { leases, to } = leasesAt();
    const gone = ['d', 'e', 'f', 'g'].map((id) => ({ id, incarnation: 'i1' }));
    const all = [...gone, ...workers];
    to(5_000);
    leases.begin(gone);
    leases.meet(all);
    expect(all.map((one) => leases.isPresent(one))).toEqual([...gone.map(() => false), ...workers.map(() => true)]);
    // The leader before may have granted them something.
    expect(gone.some((one) => leases.isOver(one))).toBe(false);
    to(6_001);
    for (const one of [a, b]) leases.heard(one, 6_001);
    expect([leases.isMassLoss(all), leases.mayBeReplaced(c, all)]).toEqual([false, true]);
    for (const one of gone) leases.heard(one, 6_001);
    to(7_002);
    for (const one of [a, b]) leases.heard(one, 7_002);
    expect([leases.isMassLoss(all), gone.some((one) => leases.mayBeReplaced(one, all))]).toEqual([true, false]);
  });

  it('of fewer are not, nor are those of the dead', () => {
    const { leases, to } = leasesAt();
    to(1_001);
    leases.heard(b, 1_001);
    leases.heard(c, 1_001);
    expect(leases.mayBeReplaced(a, workers)).toBe(true);
    leases.died(b);
    expect([leases.isMassLoss(workers), leases.mayBeReplaced(b, workers)]).toEqual([false, true]);
  });
});

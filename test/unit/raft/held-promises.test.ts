import { expect, it } from 'vitest';
import type { Message } from '../../../coordinator/raft/core/messages.ts';
import { HeldPromises } from '../../../coordinator/raft/driver/held-promises.ts';

const alive = (round: number, { to = 1, term = 1 } = {}): Message => ({ type: 'heartbeatResponse', from: 2, to, term, round });
const accepted = (index: number): Message => {
  return { type: 'appendResponse', from: 2, to: 1, term: 1, accepted: true, index, hintIndex: 0, hintTerm: 0, isRecovering: false };
};

const refused = (index: number, { to = 1, term = 1 } = {}): Message => {
  return { type: 'appendResponse', from: 2, to, term, accepted: false, index, hintIndex: index, hintTerm: 1, isRecovering: true };
};

function held() {
  const sent: Message[] = [];
  return { sent, promises: new HeldPromises((message) => sent.push(message)) };
}

it('keeps one answer to the heartbeats of a leader however long a write takes, the newest', () => {
  const { sent, promises } = held();
  for (let round = 1; round <= 100_000; round++) promises.hold([alive(round)], 7);
  promises.release(6);
  expect([promises.size, sent]).toEqual([1, []]);
  promises.release(7);
  expect([promises.size, sent]).toEqual([0, [alive(100_000)]]);
});

it('lets it leave with the write that the first of them waited for, although later ones are on their way', () => {
  const { sent, promises } = held();
  for (let seq = 1; seq <= 5; seq++) promises.hold([accepted(seq), alive(seq)], seq);
  promises.release(1);
  expect(sent).toEqual([accepted(1), alive(5)]);
  promises.hold([alive(6)], 5);
  promises.release(5);
  expect(sent.slice(2)).toEqual([accepted(2), accepted(3), accepted(4), accepted(5), alive(6)]);
});

it('keeps answers to several nodes, and of several terms, apart', () => {
  const { sent, promises } = held();
  promises.hold([alive(1), alive(2, { to: 3 })], 1);
  promises.hold([alive(0, { term: 2 })], 2);
  promises.release(1);
  expect(sent).toEqual([alive(1), alive(2, { to: 3 })]);
  promises.release(2);
  expect(sent.slice(2)).toEqual([alive(0, { term: 2 })]);
});

it('keeps one of the refusals that say the same, however long a write takes, with the write that the first of them waited for', () => {
  const { sent, promises } = held();
  for (let round = 1; round <= 10_000; round++) promises.hold([refused(5), alive(round)], round);
  promises.hold([refused(6), refused(5, { to: 3 }), refused(5, { term: 2 })], 10_001);
  expect(promises.size).toBe(5);
  promises.release(1);
  expect(sent).toEqual([refused(5), alive(10_000)]);
  promises.hold([refused(5)], 10_001);
  promises.release(10_001);
  expect(sent.slice(2)).toEqual([refused(6), refused(5, { to: 3 }), refused(5, { term: 2 }), refused(5)]);
});

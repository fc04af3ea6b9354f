import { describe, expect, it } from 'vitest';
import type { Input, Message, Output } from '../../../coordinator/raft/core/messages.ts';
import { Raft } from '../../../coordinator/raft/core/raft.ts';
import { raftDefaults } from '../../../coordinator/raft/core/state.ts';

const configuration = { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] };

type Unaddressed<M> = M extends Message ? Omit<M, 'from' | 'to' | 'term'> : never;

/** Node 1 of three, leading term 1 by the vote of node 2, whose disks answer at once. */
class Leader {
  /** Who has been sent one, in this order. */
  readonly snapshotsTo: number[] = [];
  readonly #raft = new Raft(
    { ...raftDefaults, id: 1, random: () => 0 },
    {
      hardState: { term: 0, vote: 0, commit: 0 },
      snapshot: { index: 0, term: 0, configuration },
      entries: [],
      recovering: undefined,
    },
  );

  constructor() {
    for (let tick = 0; tick < raftDefaults.electionTicks; tick++) this.step({ type: 'tick' });
    this.hear(2, { type: 'voteResponse', pre: true, granted: true });
    this.hear(2, { type: 'voteResponse', pre: false, granted: true });
    if (this.#raft.view.role !== 'leader') throw new Error('it does not lead');
  }

  get commit(): number {
    return this.#raft.view.log.commit;
  }

  matchOf(id: number): number | undefined {
    return this.#raft.leadership?.followers.get(id)?.match;
  }

  /** All that is sent because of it. */
  step(input: Input): Message[] {
    const output = this.#raft.step(input);
    this.snapshotsTo.push(...output.sendSnapshot);
    return [...output.sendNow, ...output.sendAfter, ...this.#store(output)];
  }

  #store({ write }: Output): Message[] {
    const last = write?.entries.at(-1);
    return write === undefined ? [] : this.step({ type: 'stored', seq: write.seq, through: last?.index ?? 0, term: last?.term ?? 0 });
  }

  hear(from: number, message: Unaddressed<Message>): Message[] {
    return this.step({ type: 'message', message: { ...message, from, to: 1, term: 1 } as Message });
  }

  /** Commits with node 2 alone; gives what is sent to node 3. */
  commitOne(bytes: number): Message[] {
    const sent = this.step({ type: 'propose', id: 1, data: [new Uint8Array(bytes)] });
    const index = this.#raft.view.log.lastIndex;
    return [
      ...sent,
      ...this.hear(2, { type: 'appendResponse', accepted: true, index, hintIndex: 0, hintTerm: 0, isRecovering: false }),
    ].filter(({ to }) => to === 3);
  }
}

const isAppend = ({ to, type }: Message): boolean => to === 3 && type === 'appendRequest';
const isHeartbeat = ({ to, type }: Message): boolean => to === 3 && type === 'heartbeat';
const alive = { type: 'heartbeatResponse', round: 0 } as const;
const bytesIn = (messages: readonly Message[]): number =>
  messages.reduce(
    (sum, message) => sum + (message.type === 'appendRequest' ? message.entries.reduce((of, { data }) => of + data.length, 0) : 0),
    0,
  );
const accepted = (index: number) =>
  ({ type: 'appendResponse', accepted: true, index, hintIndex: 0, hintTerm: 0, isRecovering: false }) as const;
/** With which a node that has lost entries answers a heartbeat: its log ends there. */
const endsAt = (index: number, hintTerm = 1) =>
  ({ type: 'appendResponse', accepted: false, index, hintIndex: index, hintTerm, isRecovering: true }) as const;

describe('the leader of a term', () => {
  it('sends a follower that answers all heartbeats of a long stall at once what it lacks once per interval of heartbeats', () => {
    const leader = new Leader();
    let heartbeats = 0;
    for (let at = 0; at < 1_300; at++) heartbeats += leader.commitOne(1_024).filter(isHeartbeat).length;
    expect([leader.commit, heartbeats]).toEqual([1_301, 1_300]);
    for (let interval = 0; interval < 3; interval++) {
      for (let tick = 0; tick < raftDefaults.heartbeatTicks; tick++) leader.step({ type: 'tick' });
      let [appends, bytes] = [0, 0];
      for (let at = 0; at < heartbeats; at++)
        for (const message of leader.hear(3, alive).filter(isAppend)) {
          appends++;
          if (message.type === 'appendRequest') bytes += message.entries.reduce((sum, { data }) => sum + data.length, 0);
        }
      expect(appends).toBe(1);
      expect(bytes).toBeLessThanOrEqual(raftDefaults.bytesPerMessageMax);
    }
  });

  it('sends a follower that has lost entries what it lacks once, however many heartbeats it answers at once', () => {
    const leader = new Leader();
    leader.hear(3, accepted(1));
    for (let at = 0; at < 3_000; at++) leader.commitOne(1_024);
    // It had all of them, and starts again without most.
    leader.hear(3, accepted(3_001));
    const sent = Array.from({ length: 1_000 }, () => [...leader.hear(3, endsAt(10)), ...leader.hear(3, alive)]).flat();
    expect(sent.filter(isAppend)).toMatchObject([{ previousIndex: 10 }]);
    expect(bytesIn(sent)).toBeLessThanOrEqual(raftDefaults.bytesPerMessageMax);
  });

  it('sends it nothing again that is on its way while it catches up', () => {
    const leader = new Leader();
    leader.hear(3, accepted(1));
    for (let at = 0; at < 3_000; at++) leader.commitOne(1_024);
    leader.hear(3, accepted(3_001));
    const sent = leader.hear(3, endsAt(10)).filter(isAppend);
    for (let at = 0; at < Math.min(sent.length, 50); at++) {
      const message = sent[at];
      if (message?.type !== 'appendRequest') throw new Error('something else is sent');
      const index = message.previousIndex + message.entries.length;
      sent.push(...[...leader.hear(3, accepted(index)), ...leader.hear(3, endsAt(index)), ...leader.hear(3, alive)].filter(isAppend));
    }
    // Also what it needs to know which of them are committed, which it believes of no heartbeat.
    expect(sent.at(-1)).toMatchObject({ previousIndex: 3_001, entries: [], commit: 3_001 });
    expect(bytesIn(sent)).toBe(2_991 * 1_024);
  });

  it('takes it back at once that a follower has what it says that it has lost', () => {
    const leader = new Leader();
    leader.hear(3, accepted(1));
    leader.step({ type: 'propose', id: 1, data: [new Uint8Array(1)] });
    leader.hear(3, accepted(2));
    expect(leader.commit).toBe(2);
    leader.hear(3, endsAt(1));
    leader.step({ type: 'propose', id: 2, data: [new Uint8Array(1)] });
    leader.hear(3, endsAt(1));
    expect(leader.matchOf(3)).toBe(1);
    // What stands at the end of its log may be of another leader.
    leader.hear(3, accepted(3));
    expect(leader.hear(3, endsAt(3, 2)).filter(isAppend)).toMatchObject([{ previousIndex: 3, entries: [] }]);
  });

  it('sends a snapshot to one whose log agrees nowhere with what is left of its own', () => {
    const leader = new Leader();
    leader.hear(3, accepted(1));
    for (let at = 0; at < 9; at++) leader.commitOne(1);
    // It acknowledged all that is left out, lost it, and has others' entries at the place where the log begins now.
    leader.hear(3, accepted(10));
    leader.step({ type: 'compact', index: 8, keep: 0 });
    leader.hear(3, endsAt(9, 0));
    expect([leader.snapshotsTo, leader.matchOf(3)]).toEqual([[3], 7]);
  });

  it('asks again although reads, each with heartbeats of its own, come without a pause', () => {
    const leader = new Leader();
    leader.commitOne(10);
    let appends = 0;
    for (let tick = 0; tick < 4 * raftDefaults.heartbeatTicks; tick++) {
      leader.step({ type: 'tick' });
      leader.step({ type: 'read', id: 2 });
      appends += leader.hear(3, alive).filter(isAppend).length;
      leader.hear(2, { ...alive, round: 0 });
    }
    expect(appends).toBe(4);
  });
});

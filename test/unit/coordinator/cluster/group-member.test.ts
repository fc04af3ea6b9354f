import { describe, expect, it, vi } from 'vitest';
import { GroupMember } from '../../../../coordinator/cluster/group-member.ts';
import { MemoryMember } from '../../../../coordinator/cluster/memory-member.ts';
import { Replica } from '../../../../coordinator/cluster/replica.ts';
import { type Proposed, RaftRefusal, type RaftRefusalReason } from '../../../../coordinator/raft/group.ts';
import { bounds } from '../../../../coordinator/state/bounds.ts';
import type { Command } from '../../../../coordinator/state/commands.ts';
import { CepError } from '../../../../shared/errors/error.ts';

/** A leader that refuses what it is asked first, each time for the next of some reasons; `timeout` may have been done all the same. */
class Refusing extends MemoryMember {
  readonly #reasons: RaftRefusalReason[];
  readonly #isDoneAllTheSame: boolean;

  constructor(replica: Replica, reasons: readonly RaftRefusalReason[], isDoneAllTheSame = false) {
    super({ nodeId: 1, url: 'http://a', state: replica });
    this.#reasons = [...reasons];
    this.#isDoneAllTheSame = isDoneAllTheSame;
  }

  override async propose(data: Uint8Array): Promise<Proposed> {
    const reason = this.#reasons.shift();
    if (reason === undefined) return await super.propose(data);
    if (this.#isDoneAllTheSame) await super.propose(data);
    throw new RaftRefusal(reason, 1, 'http://a');
  }
}

const create: Command = { type: 'CreateConnector', payload: { name: 'a', type: 'kafka', parameters: {} } };
const request = { session: 's', sequence: 1, lowestUnacknowledged: 1, digest: '' };

function refusing(reasons: readonly RaftRefusalReason[], isDoneAllTheSame = false) {
  const replica = new Replica();
  const group = new GroupMember({ member: new Refusing(replica, reasons, isDoneAllTheSame), replica, clock: () => 5 });
  const send = () =>
    group.byLeader(
      () => group.propose(create, request),
      () => Promise.resolve('undone'),
    );
  return { group, send };
}

describe('a change that the leader refuses', () => {
  it.each(['notLeader', 'noLeader', 'transferring', 'notReady', 'superseded'] as const)(
    'for the reason %s is sent again',
    async (reason) => {
      const { group, send } = refusing([reason, reason]);
      expect(await send()).toMatchObject({ isRepeat: false, index: 1 });
      expect(group.state.connectors.size).toBe(1);
    },
  );

  it('without saying whether it was done is sent again, and done once', async () => {
    const { group, send } = refusing(['timeout'], true);
    expect(await send()).toMatchObject({ isRepeat: true, value: { name: 'a', version: 1 } });
    expect(group.state.connectors.get('a')).toMatchObject({ version: 1, createdIndex: 1 });
  });

  it.each([
    ['overloaded', 'overloaded'],
    ['changePending', 'member_conflict'],
    ['invalid', 'member_conflict'],
    ['stopped', 'outcome_unknown'],
  ] as const)('for the reason %s is refused as %s', async (reason, code) => {
    await expect(refusing([reason]).send()).rejects.toMatchObject({ code });
  });

  it('is not said to be undone once it may have been done, by a leader that has no place for it any more', async () => {
    const attempt = (refusals: readonly Error[]) => {
      const left = [...refusals];
      const { group } = refusing([]);
      return group.byLeader(
        () => Promise.reject(left.shift() ?? new RaftRefusal('noLeader')),
        () => Promise.resolve('undone'),
      );
    };
    const [moving, elsewhere] = [new CepError('pipeline_moving', 'nothing was taken'), new CepError('not_leader', 'another leads')];
    await expect(attempt([moving])).rejects.toBe(moving);
    await expect(attempt([elsewhere])).rejects.toBe(elsewhere);
    await expect(attempt([new RaftRefusal('timeout'), moving])).rejects.toMatchObject({ code: 'outcome_unknown' });
    await expect(attempt([new RaftRefusal('timeout'), elsewhere])).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('is not taken for undone once it may have been done, when its session is forgotten by then', async () => {
    const expired = new CepError('session_expired', 'it is not known any more');
    const attempt = (refusals: readonly Error[]) => {
      const left = [...refusals];
      const { group } = refusing([]);
      return group.byLeader(
        () => Promise.reject(left.shift()),
        () => Promise.resolve('undone'),
      );
    };
    await expect(attempt([expired])).rejects.toBe(expired);
    await expect(attempt([new RaftRefusal('notLeader'), expired])).rejects.toBe(expired);
    await expect(attempt([new RaftRefusal('timeout'), expired])).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('is not sent again as the first of a session that is forgotten by then', async () => {
    let nowMs = 5;
    const replica = new Replica();
    const group = new GroupMember({ member: new Refusing(replica, ['timeout'], true), replica, clock: () => nowMs });
    let attempts = 0;
    const here = () => {
      attempts++;
      const done = group.propose(create, request);
      nowMs += bounds.sessionMsMax;
      return done;
    };
    await expect(group.byLeader(here, () => Promise.resolve('undone'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect([attempts, group.state.connectors.size]).toEqual([1, 1]);
  });

  it('for two seconds is refused: as undone when it is, and as unknown when it may have been done', async () => {
    const always = (reason: RaftRefusalReason): RaftRefusalReason[] => Array(10_000).fill(reason);
    const undone = refusing(always('notLeader')).send();
    const unknown = refusing(['timeout', ...always('noLeader')]).send();
    // Both at once: nobody would hear the one that comes while the other is waited for.
    await Promise.all([
      expect(undone).rejects.toMatchObject({ code: 'no_leader', retryAfterSeconds: 1 }),
      expect(unknown).rejects.toMatchObject({ code: 'outcome_unknown', retryAfterSeconds: undefined }),
    ]);
  });
});

describe('what is asked of a leader elsewhere', () => {
  const following = (answers: readonly (string | 'undone' | 'unknown')[], options = {}) => {
    const replica = new Replica();
    const member = new MemoryMember({ nodeId: 1, url: 'http://a', state: replica });
    const status = { ...member.status(), role: 'follower', leader: 2 } as const;
    const group = new GroupMember({ member: Object.assign(member, { status: () => status }), replica, clock: () => 5 });
    const left = [...answers];
    return group.byLeader(
      () => Promise.reject(new Error('it does not lead')),
      async () => left.shift() ?? 'undone',
      { ...options, refusedWith: (answer: string) => (answer.startsWith('refused ') ? answer.slice('refused '.length) : undefined) },
    );
  };

  it('is asked again until there is an answer', async () => {
    expect(await following(['undone', 'unknown', 'done'])).toBe('done');
  });

  it('is not said to be undone once it may have been done, whatever the next one says that did not look into the log', async () => {
    const refused = 'refused pipeline_moving';
    expect(await following([refused])).toBe(refused);
    expect(await following(['unknown', refused, 'done'])).toBe('done');
    expect(await following(['unknown', 'refused already_exists'])).toBe('refused already_exists');
    expect(await following(['refused session_expired'])).toBe('refused session_expired');
    await expect(following(['unknown', 'refused session_expired'])).rejects.toMatchObject({ code: 'outcome_unknown' });
    await expect(following(['unknown', ...Array<string>(1_000).fill(refused)])).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('is unknown when an answer was lost once, but for reads, which do nothing', async () => {
    const [change, read, undone] = [following(['unknown']), following(['unknown'], { isRead: true }), following([])];
    const refusals = [change, read, undone].map((attempt) => attempt.catch((error: unknown) => error));
    expect(await Promise.all(refusals)).toMatchObject([{ code: 'outcome_unknown' }, { code: 'no_leader' }, { code: 'no_leader' }]);
  });
});

it('a read is not asked for ever where each leader is silent until the next one leads', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const replica = new Replica();
    const member = new MemoryMember({ nodeId: 1, url: 'http://a', state: replica });
    let term = 1;
    const status = () => ({ ...MemoryMember.prototype.status.call(member), role: 'follower', leader: 2, term }) as const;
    const group = new GroupMember({ member: Object.assign(member, { status }), replica, clock: () => 5 });
    const elsewhere = (): Promise<'unknown'> =>
      new Promise((resolve) => {
        const next = (): void => {
          term++;
          resolve('unknown');
        };
        setTimeout(next, 3_000);
      });
    let problem: unknown;
    const asked = group.byLeader(() => Promise.reject(new Error('it does not lead')), elsewhere, { isRead: true });
    asked.catch((error: unknown) => {
      problem = error;
    });
    await vi.advanceTimersByTimeAsync(14_000);
    expect([problem, term]).toEqual([undefined, 5]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(problem).toMatchObject({ code: 'no_leader' });
  } finally {
    vi.useRealTimers();
  }
});

describe('the state of a member', () => {
  it('is reached when its commands are applied, and not waited for for ever', async () => {
    const replica = new Replica();
    const member = new MemoryMember({ nodeId: 1, url: 'http://a', state: replica });
    const group = new GroupMember({ member, replica, clock: () => 5 });
    const reached = replica.reached(2, 20_000);
    expect(await replica.reached(2, 1)).toBe(false);
    await group.propose(create, undefined);
    await group.propose({ type: 'DeleteConnector', payload: { name: 'a' } }, undefined);
    expect([await reached, await replica.reached(1, 1)]).toEqual([true, true]);
  });

  it('stops at an entry that it does not know, and says where and what to do', () => {
    const replica = new Replica();
    const data = new TextEncoder().encode(JSON.stringify({ format: 1, type: 'FlyToTheMoon', payload: {}, at: 5 }));
    const apply = (): unknown => replica.apply({ index: 7, term: 1, data });
    expect(apply).toThrow(
      "entry 7 of the log cannot be applied: this version has no command 'FlyToTheMoon'. Start the version of cep that",
    );
    expect(replica.state.index).toBe(0);
  });

  it('is told of with what has happened, and as a whole when a snapshot takes its place', async () => {
    const replica = new Replica();
    const told: unknown[] = [];
    replica.onChange((state, events) => told.push([state.index, events.map(({ type }) => type)]));
    const member = new MemoryMember({ nodeId: 1, url: 'http://a', state: replica });
    const group = new GroupMember({ member, replica, clock: () => 5 });
    await group.propose(create, undefined);
    const snapshot = Buffer.concat([...replica.save()]);
    const other = new Replica();
    other.onChange((state, events) => told.push([state.connectors.size, events]));
    other.restore(snapshot);
    expect(told).toEqual([
      [0, []],
      [1, ['ConnectorCreated']],
      [1, []],
    ]);
  });
});

it('asks the group once for all reads of one turn, and again for what is asked later', async () => {
  const replica = new Replica();
  const member = new MemoryMember({ nodeId: 1, url: 'http://a', state: replica });
  const group = new GroupMember({ member, replica, clock: () => 5 });
  const asked = vi.spyOn(member, 'readIndex');
  const together = [group.confirmed(), group.confirmed()];
  expect(await Promise.all(together)).toMatchObject([{ index: 0 }, { index: 0 }]);
  expect(asked).toHaveBeenCalledTimes(1);
  await group.propose(create, request);
  expect(await group.confirmed()).toMatchObject({ index: 1, state: { index: 1 } });
  expect(asked).toHaveBeenCalledTimes(2);
});

it('tells all who asked in one turn that the group does not know', async () => {
  const replica = new Replica();
  const member = new MemoryMember({ nodeId: 1, url: 'http://a', state: replica });
  vi.spyOn(member, 'readIndex').mockRejectedValueOnce(new RaftRefusal('timeout'));
  const group = new GroupMember({ member, replica, clock: () => 5 });
  const together = [group.confirmed(), group.confirmed()];
  expect(await Promise.allSettled(together)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(await group.confirmed()).toMatchObject({ index: 0 });
});

import { expect, it } from 'vitest';
import { GroupMember } from '../../../coordinator/cluster/group-member.ts';
import { Replica } from '../../../coordinator/cluster/replica.ts';
import type { RaftMember, RaftStatus } from '../../../coordinator/raft/group.ts';
import { ClusterRequests } from '../../../coordinator/server/cluster-requests.ts';
import type { ForwardOptions } from '../../../coordinator/server/leader-forwarding.ts';
import { Answer } from '../../../shared/http/answer.ts';

const call = { request: { headers: {} }, caller: { name: 'operator' } } as never;

/** A member that follows one which never answers, until this one leads. */
class Follower {
  readonly requests: ClusterRequests;
  handedOn = 0;
  #status = { role: 'follower', leader: 2, leaderUrl: 'http://b', term: 1, peers: [] } as unknown as RaftStatus;
  readonly #listeners = new Set<(status: RaftStatus) => void>();

  constructor() {
    const onStatus = (listener: (status: RaftStatus) => void) => {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    };
    const member = { status: () => this.#status, onStatus } as unknown as RaftMember;
    const forward = (_request: unknown, _status: RaftStatus, { signal }: ForwardOptions = {}) => {
      this.handedOn++;
      return new Promise((resolve) => signal?.addEventListener('abort', () => resolve('unknown')));
    };
    const group = new GroupMember({ member, replica: new Replica(), clock: () => 1 });
    this.requests = new ClusterRequests(group, { forward } as never);
  }

  /** Something of the group changes. */
  becomes(change: Partial<RaftStatus>): void {
    this.#status = { ...this.#status, ...change };
    for (const listener of this.#listeners) listener(this.#status);
  }
}

const here = async (): Promise<Answer> => new Answer(200, 'here');

it('a leader that is silent is waited for until another one leads, by changes and by what is asked of it', async () => {
  const follower = new Follower();
  const { requests } = follower;
  const asked = [requests.byLeader(call, here), requests.observed(call, undefined, () => new Answer(200, 'here'))];
  follower.becomes({ peers: [{ id: 3 }] as never });
  expect(follower.handedOn).toBe(2);
  follower.becomes({ role: 'leader', leader: 1, term: 2 });
  const answers = await Promise.all(asked);
  expect(answers.map(({ body }) => body)).toEqual(['here', 'here']);
  expect(answers[1]?.headers['x-cep-consistency']).toBe('local');
});

it('what ends a lead is not sent again once it has', async () => {
  const follower = new Follower();
  let isAnswered = false;
  void follower.requests.byLeader(call, here, { endsLead: true }).then(() => {
    isAnswered = true;
  });
  follower.becomes({ role: 'leader', leader: 1, term: 2 });
  await new Promise((resolve) => setImmediate(resolve));
  expect([isAnswered, follower.handedOn]).toEqual([false, 1]);
});

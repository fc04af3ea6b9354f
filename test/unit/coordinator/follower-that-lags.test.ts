import { expect, it } from 'vitest';
import { GroupMember } from '../../../coordinator/cluster/group-member.ts';
import { Replica } from '../../../coordinator/cluster/replica.ts';
import type { RaftMember, RaftStatus } from '../../../coordinator/raft/group.ts';
import { ClusterRequests } from '../../../coordinator/server/cluster-requests.ts';
import type { ClusterState } from '../../../coordinator/state/cluster-state.ts';
import { emptyState } from '../../../coordinator/state/cluster-state.ts';
import { CepError } from '../../../shared/errors/error.ts';

const call = { request: { headers: {} }, caller: { name: 'operator' } } as never;
const status = { role: 'follower', leader: 2, leaderUrl: 'http://b', term: 1, peers: [] } as unknown as RaftStatus;

/** A member that follows a leader whose log goes up to 5, and has all of that when it has waited for it, or not yet. */
function follower(comesInTime: boolean): ClusterRequests {
  let state: ClusterState = { ...emptyState, index: 3 };
  const replica = Object.assign(Object.create(Replica.prototype) as Replica, {
    reached: async (index: number) => {
      if (comesInTime) state = { ...state, index };
      return comesInTime;
    },
  });
  Object.defineProperty(replica, 'state', { get: () => state });
  const member = { status: () => status, onStatus: () => () => undefined } as unknown as RaftMember;
  return new ClusterRequests(new GroupMember({ member, replica, clock: () => 1 }), { readIndex: async () => 5 } as never);
}

it('judges nothing by what it has before it has everything that was acknowledged', async () => {
  expect((await follower(true).caughtUp(call)).index).toBe(5);
  await expect(follower(false).caughtUp(call)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
});

it('what is only asked is answered without a leader too, by what the member has', async () => {
  const [fresh, late] = await Promise.all([
    follower(true).known(call),
    follower(false)
      .known(call)
      .catch((error: unknown) => error),
  ]);
  expect(fresh).toMatchObject({ state: { index: 5 }, isStale: false });
  expect(late).toMatchObject({ code: 'overloaded' });
  const alone = follower(true);
  alone.group.byLeader = () => Promise.reject(new CepError('no_leader', 'nobody leads'));
  expect(await alone.known(call)).toMatchObject({ state: { index: 3 }, isStale: true });
});

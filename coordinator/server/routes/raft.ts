import Type from 'typebox';
import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { limitParameter, offsetParameter } from '../../../shared/http/query.ts';
import {
  memberAddedSchema,
  memberPromotedSchema,
  memberRemovedSchema,
  memberRequestSchema,
  memberSchema,
  raftStatusSchema,
  transferRequestSchema,
  transferredSchema,
} from '../../../shared/protocol/cluster.ts';
import type { Checkpoints } from '../../checkpoints/checkpoints.ts';
import { successorOf } from '../../cluster/successor.ts';
import type { RaftPeerStatus, RaftStatus } from '../../raft/group.ts';
import { type ClusterRequests, consistencyParameter } from '../cluster-requests.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';
import { memberWire, raftStatusWire } from '../wire.ts';
import { leaderErrors } from './leader-errors.ts';

const tag = 'raft';
const raftPath = `${clusterPath}/raft`;
const memberPath = `${raftPath}/members/{id}`;
const memberErrors = ['member_conflict', ...leaderErrors] as const;
/** A learner that is further behind would hold up what needs its vote. */
const PROMOTION_LAG_MAX = 1_000;
/** Checkpoints are copied before the leader answers. */
const COPYING_MS_MAX = 600_000;

export interface RaftRoutesOptions {
  readonly requests: ClusterRequests;
  /** False: the coordinator is on its own, and its group does not change. */
  readonly isGroup: boolean;
  /** The URL of a member as it is kept. @throws CepError `validation_error` when it is none that a member can have */
  readonly memberUrl: (text: string) => string;
  readonly checkpoints: Checkpoints;
}

/** The Raft group itself: how it stands, and who its members are. */
export function raftRoutes(options: RaftRoutesOptions): readonly ClusterRoute[] {
  const { requests, isGroup } = options;
  const { group } = requests;
  const status = (path: string, operation: string): ClusterRoute =>
    clusterRoute({
      method: 'GET',
      path,
      operation,
      summary: 'Show who leads the group, and how far each member is, as the asked member knows it; with `strong`, the leader',
      tag,
      access: 'key',
      query: { consistency: consistencyParameter },
      success: { 200: raftStatusSchema },
      errors: ['validation_error', ...leaderErrors],
      handle: (call) =>
        requests.read(call, call.query.consistency, ({ format }) => new Answer(200, raftStatusWire(group.status(), isGroup, format))),
    });
  return [
    status(`${raftPath}/status`, 'getRaftStatus'),
    status(raftPath, 'getRaft'),
    clusterRoute({
      method: 'GET',
      path: `${raftPath}/members`,
      operation: 'listMembers',
      summary: 'List the members of the group by id, as the asked member knows them; with `strong`, the leader',
      tag,
      access: 'key',
      query: { limit: limitParameter, offset: offsetParameter, consistency: consistencyParameter },
      success: { 200: Type.Array(memberSchema) },
      errors: ['invalid_limit', 'invalid_offset', 'validation_error', ...leaderErrors],
      handle: (call) => {
        const { limit, offset, consistency } = call.query;
        return requests.read(call, consistency, () => {
          const { peers, leader } = group.status();
          const page = peers.slice(offset, offset + limit).map((peer) => memberWire(peer, leader));
          return new Answer(200, page, { 'x-total-count': String(peers.length) });
        });
      },
    }),
    ...changeRoutes(options),
  ];
}

function changeRoutes({ requests, isGroup, memberUrl, checkpoints }: RaftRoutesOptions): readonly ClusterRoute[] {
  const { group } = requests;
  const requireGroup = (): void => {
    if (isGroup) return;
    throw new CepError('member_conflict', 'this coordinator is on its own: it has no group that could change', {
      hint: 'start coordinators with --raft',
    });
  };
  return [
    clusterRoute({
      method: 'POST',
      path: `${raftPath}/members`,
      operation: 'addMember',
      summary: 'Add a member, which receives everything and does not vote before it is promoted',
      tag,
      access: 'key',
      body: memberRequestSchema,
      success: { 201: memberAddedSchema },
      errors: ['quota_exceeded', 'session_expired', 'idempotency_conflict', ...memberErrors],
      idempotency: 'handler',
      isAudited: true,
      handle: (call) => {
        requireGroup();
        const member = { id: call.body.id, url: memberUrl(call.body.url) };
        return requests.changeBy(call, async (request) => {
          await group.propose({ type: 'SetMember', payload: member }, request);
          // A repeat is not judged by the state, and what it asks for is done: since then the member has left.
          if (group.state.removedMembers.includes(member.id)) {
            throw new CepError('member_conflict', `member ${member.id} was removed since, and ids are never used again`, {
              hint: 'add it under an id that no member has had',
            });
          }
          await group.changeMembership({ kind: 'addLearner', id: member.id });
          const peer = group.status().peers.find(({ id }) => id === member.id);
          return new Answer(201, { ...member, role: peer?.role === 'voter' ? memberWire(peer, group.status().leader).role : 'learner' });
        });
      },
    }),
    clusterRoute({
      method: 'POST',
      path: `${memberPath}/promote`,
      operation: 'promoteMember',
      summary: 'Let a learner vote that has nearly all entries',
      tag,
      access: 'key',
      success: { 200: memberPromotedSchema },
      errors: ['member_not_found', ...memberErrors],
      isAudited: true,
      handle: (call) => {
        requireGroup();
        return requests.byLeader(
          call,
          async () => {
            const peer = peerOf(group.status(), call.params.id);
            requireCaughtUp(peer);
            await group.changeMembership({ kind: 'promote', id: peer.id });
            const uncopied = await checkpoints.spreadIfPossible();
            return new Answer(200, { id: peer.id, url: peer.url, role: 'follower', ...(uncopied.length > 0 ? { uncopied } : {}) });
          },
          { answerMsMax: COPYING_MS_MAX },
        );
      },
    }),
    clusterRoute({
      method: 'DELETE',
      path: memberPath,
      operation: 'removeMember',
      summary: 'Remove a member; its id is never used again',
      tag,
      access: 'key',
      success: { 200: memberRemovedSchema },
      errors: ['member_not_found', 'storage_unavailable', ...memberErrors],
      isAudited: true,
      handle: (call) => {
        requireGroup();
        return requests.byLeader(
          call,
          async () => {
            const id = removable(group.status(), call.params.id, group.state.members);
            // One that is gone has nothing that could still be saved.
            if (isReachable(group.status(), id)) await checkpoints.spread(id);
            else await checkpoints.spreadIfPossible(id);
            await group.changeMembership({ kind: 'remove', id });
            await group.propose({ type: 'RemoveMember', payload: { id } }, undefined);
            const uncopied = await checkpoints.spreadIfPossible();
            return new Answer(200, { removed: true, ...(uncopied.length > 0 ? { uncopied } : {}) });
          },
          { answerMsMax: COPYING_MS_MAX },
        );
      },
    }),
    clusterRoute({
      method: 'POST',
      path: `${raftPath}/transfer`,
      operation: 'transferLeadership',
      summary: 'Hand leadership to a member: to the named one, else to the one with most entries',
      tag,
      access: 'key',
      body: transferRequestSchema,
      isBodyOptional: true,
      success: { 200: transferredSchema },
      errors: ['member_not_found', ...memberErrors],
      isAudited: true,
      handle: (call) => {
        requireGroup();
        return requests.byLeader(
          call,
          async () => {
            const to = chosen(group.status(), call.body.to);
            if (to !== group.status().nodeId) await group.transferLeadership(to);
            return new Answer(200, { leader_id: to });
          },
          { endsLead: true },
        );
      },
    }),
  ];
}

function peerOf({ peers }: RaftStatus, text: string): RaftPeerStatus {
  const peer = peers.find(({ id }) => String(id) === text);
  if (peer) return peer;
  const known = peers.map(({ id }) => id).join(', ');
  throw new CepError('member_not_found', `the group has no member '${text}'`, { hint: `it has ${known}` });
}

function isReachable({ peers }: RaftStatus, id: number): boolean {
  return peers.some((peer) => peer.id === id && peer.isReachable);
}

/** One that does not answer would be missing from majorities at once: of two members none could go on, nor take it back. */
function requireCaughtUp({ id, url, role, lag, isReachable }: RaftPeerStatus): void {
  if (role === 'voter') return;
  if (!isReachable) {
    throw new CepError('member_conflict', `member ${id} at ${url} cannot be reached, and its vote would be missing`, {
      hint: `start it with --raft-node-id ${id}, or see whether its URL is right: cep raft remove ${id}`,
    });
  }
  if (lag !== undefined && lag <= PROMOTION_LAG_MAX) return;
  const found = lag === undefined ? 'it is not known how far it is' : `it is ${lag} entries behind`;
  throw new CepError('member_conflict', `member ${id} has not caught up: ${found}`, {
    hint: `it may vote once it is at most ${PROMOTION_LAG_MAX} entries behind: cep raft status shows how far it is`,
  });
}

/** The id of a member without which the group goes on. */
function removable(status: RaftStatus, text: string, known: { readonly values: () => Iterable<{ readonly id: number }> }): number {
  const { peers, nodeId } = status;
  // One that is no member any more, and whose removal was not noted to its end.
  const noted = [...known.values()].find(({ id }) => String(id) === text);
  if (noted && !peers.some(({ id }) => id === noted.id)) return noted.id;
  const peer = peerOf(status, text);
  if (peer.id === nodeId) {
    throw new CepError('member_conflict', `member ${peer.id} leads the group`, { hint: 'let another one lead first: cep raft transfer' });
  }
  const rest = peers.filter(({ id, role }) => role === 'voter' && id !== peer.id);
  const reachable = rest.filter(({ isReachable }) => isReachable).length;
  if (peer.role === 'learner' || reachable > rest.length / 2) return peer.id;
  const left = `of the ${rest.length} voting members that would be left, ${reachable} can be reached`;
  throw new CepError('member_conflict', `without member ${peer.id} the group could not go on: ${left}`, {
    hint: 'bring back those that are down, or remove one of them first',
  });
}

function chosen(status: RaftStatus, to: number | undefined): number {
  if (to !== undefined) {
    const peer = peerOf(status, String(to));
    if (peer.role === 'voter') return peer.id;
    throw new CepError('member_conflict', `member ${to} does not vote, so it cannot lead`, { hint: 'promote it first: cep raft promote' });
  }
  const best = successorOf(status);
  if (best !== undefined) return best;
  throw new CepError('member_conflict', 'no other voting member of the group can be reached, so none can lead');
}

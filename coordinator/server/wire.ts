import type { Static } from 'typebox';
import type { connectorSchema, memberSchema, raftNodeSchema, raftStatusSchema } from '../../shared/protocol/cluster.ts';
import type { RaftPeerStatus, RaftStatus } from '../raft/group.ts';
import type { Connector } from '../state/cluster-state.ts';

export function connectorWire(connector: Connector): Static<typeof connectorSchema> {
  const { name, type, parameters, description, version, createdAtMs, updatedAtMs } = connector;
  return {
    name,
    connector_type: type,
    params: { ...parameters },
    ...(description === undefined ? {} : { description }),
    version,
    created_at: createdAtMs,
    updated_at: updatedAtMs,
  };
}

type NodeRole = Static<typeof raftNodeSchema>['role'];

function roleOf({ id, role }: RaftPeerStatus, leader: number): NodeRole {
  if (id === leader) return 'leader';
  return role === 'learner' ? 'learner' : 'follower';
}

export function memberWire(peer: RaftPeerStatus, leader: number): Static<typeof memberSchema> {
  return { id: peer.id, url: peer.url, role: roleOf(peer, leader), reachable: peer.isReachable };
}

/** `format`: in which the group writes its log. */
export function raftStatusWire(status: RaftStatus, isGroup: boolean, format: number): Static<typeof raftStatusSchema> {
  const { nodeId, role, leader, leaderUrl, term, commitIndex, appliedIndex, lastIndex, peers, isRecovering, isRemoved } = status;
  const isLearner = peers.some(({ id, role: own }) => id === nodeId && own === 'learner');
  return {
    enabled: isGroup,
    node_id: nodeId,
    role: role === 'preCandidate' ? 'candidate' : isLearner && role === 'follower' ? 'learner' : role,
    leader_id: leader === 0 ? null : leader,
    leader_url: leaderUrl ?? null,
    term,
    commit_index: commitIndex,
    applied_index: appliedIndex,
    last_index: lastIndex,
    nodes: peers.map((peer) => ({
      ...memberWire(peer, leader),
      ...(peer.matchIndex === undefined ? {} : { match_index: peer.matchIndex }),
      lag: peer.lag ?? null,
      ...(peer.formatMax === undefined ? {} : { log_format_max: peer.formatMax }),
    })),
    recovering: isRecovering,
    ...(isRemoved && { removed: true }),
    log_format: format,
  };
}

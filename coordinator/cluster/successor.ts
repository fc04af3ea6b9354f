import type { RaftStatus } from '../raft/group.ts';

/** Of the others that vote and can be reached, the one with most entries, as a leader knows it; undefined when there is none. */
export function successorOf({ peers, nodeId }: RaftStatus): number | undefined {
  const others = peers.filter(({ id, role, isReachable }) => id !== nodeId && role === 'voter' && isReachable);
  const [best] = others.sort((a, b) => (b.matchIndex ?? 0) - (a.matchIndex ?? 0));
  return best?.id;
}

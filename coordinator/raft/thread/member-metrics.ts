import type { MetricRegistry, Series } from '../../../shared/telemetry/metric-registry.ts';
import { type MetricName, metrics } from '../../../shared/telemetry/metrics-table.ts';
import type { Index, Role } from '../core/messages.ts';
import type { RaftRefusalReason } from '../group.ts';
import type { ThreadStatus } from './messages.ts';

const roles: readonly Role[] = ['follower', 'preCandidate', 'candidate', 'leader'];
const commitBuckets = metrics.cep_raft_commit_seconds.buckets;

/** What a scrape sees of a member. */
export class MemberMetrics {
  readonly #registry: MetricRegistry;
  readonly #commits: Series;

  constructor(registry: MetricRegistry, status: () => ThreadStatus, applied: () => Index) {
    this.#registry = registry;
    this.#commits = registry.series('cep_raft_commit_seconds', {});
    const gauge = (name: MetricName, read: (now: ThreadStatus) => number): void =>
      registry.collect(name, () => [{ labels: [], value: read(status()) }]);
    gauge('cep_raft_role', ({ role }) => roles.indexOf(role));
    gauge('cep_raft_term', ({ term }) => term);
    gauge('cep_raft_commit_index', ({ commitIndex }) => commitIndex);
    gauge('cep_raft_applied_index', applied);
    gauge('cep_raft_last_index', ({ lastIndex }) => lastIndex);
    gauge('cep_raft_recovering', ({ isRecovering }) => Number(isRecovering));
    gauge('cep_raft_packets_dropped_total', ({ packetsDropped }) => packetsDropped);
    gauge('cep_raft_connections_refused_total', ({ connectionsRefused }) => connectionsRefused);
    registry.collect('cep_raft_wal_sync_seconds', () => [{ labels: [], value: status().writes }]);
    registry.collect('cep_raft_peer_lag', () => {
      const { members, lastIndex } = status();
      return members.flatMap(({ id, matchIndex }) =>
        matchIndex === undefined ? [] : [{ labels: [String(id)], value: Math.max(0, lastIndex - matchIndex) }],
      );
    });
    registry.collect('cep_raft_peer_reachable', () => {
      const { members, formats } = status();
      return members.map(({ id }) => ({ labels: [String(id)], value: Number(formats.has(id)) }));
    });
  }

  /** Of a proposal, a read or a change. */
  answered(ms: number): void {
    this.#registry.observe(this.#commits, ms / 1_000, commitBuckets);
  }

  refused(reason: RaftRefusalReason): void {
    this.#registry.count('cep_raft_refused_total', { reason });
  }
}

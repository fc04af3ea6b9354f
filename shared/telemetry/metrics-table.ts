/**
 * The table of metrics. The registry, `/metrics` and the documentation read it; dashboards and alert rules are made of it.
 * Labels stand in the order in which they are written. Units are base units: seconds, bytes.
 */
export interface MetricDescriptor {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence for people. */
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, ascending, without infinity. */
  readonly buckets?: readonly number[];
  /**
   * Label values of the series that are there from the start, with 0, where it is known which there can be: a counter whose series comes with its
   * first step has no increase then, and no alert fires.
   */
  readonly fromStart?: readonly (readonly string[])[];
}

const latencyBucketsSeconds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1] as const;
const ofPipeline = ['tenant', 'pipeline'] as const;
const alone = { labels: [], fromStart: [[]] } as const;

export const metrics = {
  cep_events_total: {
    type: 'counter',
    help: 'Events taken, by event type; "other" are those of types beyond 1,000.',
    labels: [...ofPipeline, 'event_type'],
  },
  cep_events_processed: { type: 'counter', help: 'Events that a stream has processed.', labels: [...ofPipeline, 'stream'] },
  cep_output_events_total: {
    type: 'counter',
    help: 'Output events, by stream and event type.',
    labels: [...ofPipeline, 'stream', 'event_type'],
  },
  cep_processing_latency_seconds: {
    type: 'histogram',
    help: 'Time from an event to the end of everything it caused.',
    labels: [...ofPipeline, 'stream'],
    buckets: latencyBucketsSeconds,
  },
  cep_stream_queue_size: { type: 'gauge', help: 'Events that wait for a stream.', labels: [...ofPipeline, 'stream'] },
  cep_active_streams: { type: 'gauge', help: 'Streams of running pipelines.', labels: ofPipeline },

  cep_events_invalid_total: { type: 'counter', help: 'Events that were refused because they do not fit their type.', labels: ofPipeline },
  cep_events_incomplete_total: {
    type: 'counter',
    help: 'Events that lacked a declared field and were processed with null there.',
    labels: [...ofPipeline, 'event_type', 'field'],
  },
  cep_events_late_total: { type: 'counter', help: 'Events whose window, run or join had ended.', labels: ofPipeline },
  cep_events_unread_total: {
    type: 'counter',
    help: 'Events of types that no stream reads; of the first hundred such types.',
    labels: [...ofPipeline, 'event_type'],
  },
  cep_events_refused_total: { type: 'counter', help: 'Events refused by a quota, a full queue or a budget.', labels: ofPipeline },
  cep_requests_refused_total: {
    type: 'counter',
    help: 'Requests with events refused by a quota or a full queue before their body was read; those events are in no other count.',
    labels: ofPipeline,
  },
  cep_dlq_events_total: {
    type: 'counter',
    help: 'Dead letters written, by connector: a sink, a source, or `on_error`.',
    labels: [...ofPipeline, 'connector'],
  },
  cep_dlq_dropped_total: {
    type: 'counter',
    help: 'Dead letters that fell out because the tenant had too many.',
    labels: [...ofPipeline, 'connector'],
  },
  cep_connector_state: { type: 'gauge', help: 'Circuit breaker: 0 closed, 1 half-open, 2 open.', labels: [...ofPipeline, 'connector'] },
  cep_connector_transitions_total: {
    type: 'counter',
    help: 'Changes of a circuit breaker, by the state that it became.',
    labels: [...ofPipeline, 'connector', 'state'],
  },
  cep_source_dropped_total: {
    type: 'counter',
    help: 'Messages that came to a source faster than they could be taken and were dropped, by this process or, over UDP, by the system.',
    labels: [...ofPipeline, 'source'],
  },
  cep_smtp_unverified: {
    type: 'gauge',
    help: 'Is 1 where certificates of mail servers are not looked at (CEP_SMTP_DANGEROUS), else 0.',
    labels: [],
  },
  cep_lookups_total: {
    type: 'counter',
    help: 'What `.enrich` has asked a connector, by how that ended; answers out of the cache are not asked for.',
    labels: [...ofPipeline, 'connector', 'result'],
  },
  cep_lookups_open: { type: 'gauge', help: 'What `.enrich` asks a connector now.', labels: [...ofPipeline, 'connector'] },
  cep_lookups_oldest_seconds: {
    type: 'gauge',
    help: 'Time for which the oldest of that has been asked; 0 when nothing is.',
    labels: [...ofPipeline, 'connector'],
  },
  cep_runs_active: { type: 'gauge', help: 'Partial matches that are open.', labels: ofPipeline },
  cep_runs_dropped_total: {
    type: 'counter',
    help: 'Partial matches that were given up, by stream and reason.',
    labels: [...ofPipeline, 'stream', 'reason'],
  },
  cep_tap_total: { type: 'counter', help: 'Rows that passed a tap, by its name.', labels: [...ofPipeline, 'name'] },
  cep_state_bytes: { type: 'gauge', help: 'State of a pipeline.', labels: ofPipeline },
  cep_checkpoint_seconds: { type: 'gauge', help: 'Time that the last checkpoint took.', labels: ofPipeline },
  cep_checkpoint_age_seconds: {
    type: 'gauge',
    help: 'Time since all that came through was saved, of a pipeline that runs.',
    labels: ofPipeline,
  },
  cep_checkpoint_wait_seconds: {
    type: 'gauge',
    help: 'Time for which a checkpoint has waited for the engine, which first works through what it has, look-ups included; 0 when none waits.',
    labels: ofPipeline,
  },
  cep_queue_depth: { type: 'gauge', help: 'Events that wait for the engine of a pipeline.', labels: ofPipeline },
  cep_engine_queue_bytes: { type: 'gauge', help: 'Bytes that wait for an engine thread.', labels: ['thread'] },
  cep_engine_restarts_total: { type: 'counter', help: 'Engine threads that were replaced.', labels: ['thread'] },
  cep_wal_bytes: { type: 'gauge', help: 'Events on disk that no checkpoint holds yet.', labels: [] },
  cep_storage_failures_total: { type: 'counter', help: 'Failures of the state directory.', labels: [] },

  cep_raft_role: { type: 'gauge', help: 'Role in the Raft group: 0 follower, 1 asks for an election, 2 candidate, 3 leader.', labels: [] },
  cep_raft_term: { type: 'gauge', help: 'Term of the Raft group, as this member knows it.', labels: [] },
  cep_raft_commit_index: { type: 'gauge', help: 'Last entry of the Raft log that is committed.', labels: [] },
  cep_raft_applied_index: { type: 'gauge', help: 'Last entry of the Raft log that the state of this member has.', labels: [] },
  cep_raft_last_index: { type: 'gauge', help: 'Last entry of the Raft log.', labels: [] },
  cep_raft_recovering: { type: 'gauge', help: 'Is 1 while this member has lost acknowledged entries and does not vote.', labels: [] },
  cep_raft_leader_changes_total: { type: 'counter', help: 'Changes of the leader or the term, as this member saw them.', ...alone },
  cep_raft_commit_seconds: {
    type: 'histogram',
    help: 'Time from a proposal, a read or a change of members to its answer.',
    labels: [],
    buckets: latencyBucketsSeconds,
  },
  cep_raft_wal_sync_seconds: {
    type: 'histogram',
    help: 'Time of a write to the Raft log until it was durable.',
    labels: [],
    buckets: latencyBucketsSeconds,
  },
  cep_raft_refused_total: { type: 'counter', help: 'Proposals, reads and changes that were refused, by reason.', labels: ['reason'] },
  cep_raft_peer_lag: { type: 'gauge', help: 'Entries that a member is behind; known to the leader.', labels: ['peer'] },
  cep_raft_peer_reachable: { type: 'gauge', help: 'Whether there is a connection to a member.', labels: ['peer'] },
  cep_raft_packets_dropped_total: {
    type: 'counter',
    help: 'Packets to other members that were dropped, because there was no connection or too much waited in it.',
    labels: [],
  },
  cep_raft_connections_refused_total: { type: 'counter', help: 'Connections to the Raft listener that came to nothing.', labels: [] },
  cep_raft_slow_disk_handovers_total: {
    type: 'counter',
    help: 'Times this member led and handed over because its disk was slower than those of the others.',
    ...alone,
  },
  cep_raft_standstill_handovers_total: {
    type: 'counter',
    help: 'Times this member led and handed over because the thread that answers requests stood still.',
    ...alone,
  },
  cep_raft_loop_stalls_total: { type: 'counter', help: 'Times the Raft thread stood still for half an election timeout.', ...alone },

  cep_cluster_workers: { type: 'gauge', help: 'Workers of the cluster, by status.', labels: ['status'] },
  cep_cluster_deployments: { type: 'gauge', help: 'Placed pipelines of the cluster, by status.', labels: ['status'] },
  cep_cluster_pipeline_groups: { type: 'gauge', help: 'Pipeline groups of the cluster.', labels: [] },
  cep_cluster_connectors: { type: 'gauge', help: 'Connectors of the cluster.', labels: [] },
  cep_cluster_worker_clock_ahead_seconds: {
    type: 'gauge',
    help: 'By how much the clock of a worker is ahead of the middle of all, as the leader sees it.',
    labels: ['worker'],
  },
  cep_cluster_failovers_total: { type: 'counter', help: 'Pipelines of lost workers that were given to others.', ...alone },
  cep_cluster_ingress_refused_total: {
    type: 'counter',
    help: 'Injected events that a pipeline refused when nobody waited for the answer any more.',
    ...alone,
  },
  cep_cluster_ingress_given_up_total: {
    type: 'counter',
    help: 'Injected events that went with a pipeline which was taken away, and that no checkpoint had.',
    ...alone,
  },
  cep_cluster_migrations_total: {
    type: 'counter',
    help: 'Migrations that have ended, by result.',
    labels: ['result'],
    fromStart: [['completed'], ['failed']],
  },
  cep_cluster_migration_seconds: {
    type: 'histogram',
    help: 'Time from the start of a migration to its end.',
    labels: [],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },

  cep_worker_lease_remaining_seconds: {
    type: 'gauge',
    help: 'Time until what the cluster has placed here would stop by itself, if no heartbeat were answered any more.',
    labels: [],
  },
  cep_worker_fenced_total: { type: 'counter', help: 'Placements that stopped because their lease had ended.', ...alone },
  cep_worker_placements: { type: 'gauge', help: 'What the cluster has placed here, by status.', labels: ['status'] },

  cep_loop_delay_seconds: {
    type: 'gauge',
    help: 'Delay of the event loop in the last whole minute, by thread and quantile.',
    labels: ['thread', 'quantile'],
  },
  cep_http_requests_total: { type: 'counter', help: 'Requests answered, by route and status.', labels: ['route', 'status'] },
  cep_rate_limited_total: { type: 'counter', help: 'Requests refused by the rate limit.', ...alone },
  cep_stream_clients: { type: 'gauge', help: 'Clients that follow output events, by transport.', labels: ['transport'] },
  cep_stream_gap_events_total: {
    type: 'counter',
    help: 'Output events that slow clients missed, by transport.',
    labels: ['transport'],
    fromStart: [['sse'], ['websocket']],
  },
  cep_trace_spans_total: {
    type: 'counter',
    help: 'Spans of traces: exported, failed (the collector did not take them), or dropped because too many waited.',
    labels: ['result'],
    fromStart: [['exported'], ['dropped'], ['failed']],
  },
  cep_log_lines_total: {
    type: 'counter',
    help: 'Log lines written, by level.',
    labels: ['level'],
    fromStart: [['trace'], ['debug'], ['info'], ['warn'], ['error']],
  },
} as const satisfies Record<string, MetricDescriptor>;

export type MetricName = keyof typeof metrics;

/** A value for each label of a metric. */
export type LabelsOf<N extends MetricName> = { readonly [L in (typeof metrics)[N]['labels'][number]]: string };

import type { LogFields, Logger, LogLevel } from './logger.ts';
import type { MetricRegistry } from './metric-registry.ts';
import { metrics as metricTable } from './metrics-table.ts';
import type { Tracer } from './tracing.ts';

/** What happens inside and is worth a line: how bad it is, the message, and what it moves. Messages never vary; fields do. */
interface InternalEvent<Fields extends LogFields> {
  readonly level: LogLevel;
  readonly message: string;
  readonly count?: (metrics: MetricRegistry, fields: Fields) => void;
}

function event<Fields extends LogFields>(
  level: LogLevel,
  message: string,
  count?: (metrics: MetricRegistry, fields: Fields) => void,
): InternalEvent<Fields> {
  return count === undefined ? { level, message } : { level, message, count };
}

interface OfRequest extends LogFields {
  readonly method: string;
  readonly path: string;
}

/** The table of internal events: each is one log line and, where there is one, one step of a metric. */
export const internalEvents = {
  ServerListening: event<{ url: string; version: string }>('info', 'Server listening'),
  MetricsListening: event<{ url: string }>('info', 'Metrics listening'),
  ServerReady: event<LogFields>('info', 'Server ready'),
  ServerStopping: event<{ signal: string }>('info', 'Server stopping'),
  ServerStopped: event<{ seconds: number; clean: boolean }>('info', 'Server stopped'),
  ServerCrashed: event<{ error: string; stack?: string }>('error', 'Server crashed'),
  CoordinatorListening: event<{ url: string; version: string }>('info', 'Coordinator listening'),
  ClusterStateInMemory: event<LogFields>(
    'info',
    'The state of the cluster is in memory; it is gone when the process ends (set --raft-data-dir to keep it)',
  ),
  CoordinatorFailed: event<{ error: string; hint?: string }>('error', 'Coordinator failed; the process ends'),
  GroupWithoutKey: event<LogFields>(
    'warn',
    'The members of the Raft group know each other by no key: whoever can reach their ports can be one (set CEP_RAFT_KEY)',
  ),
  StateInMemory: event<LogFields>('info', 'State is in memory; it is gone when the process ends (set --state-dir to keep it)'),
  DeadLettersInMemory: event<LogFields>('warn', 'Dead letters are kept in memory, the newest only (set --state-dir to keep them)'),
  AuthenticationOff: event<{ bind: string }>(
    'warn',
    'Authentication is off and the server listens beyond this machine (set --api-key, or --insecure to accept this)',
  ),
  SmtpUnverified: event<LogFields>(
    'warn',
    'Certificates of mail servers are not looked at, so anybody on the way can read mails and passwords (unset CEP_SMTP_DANGEROUS)',
  ),
  KeyOnCommandLine: event<LogFields>(
    'warn',
    'The key on the command line can be read by every user of this machine (set CEP_API_KEY instead)',
  ),
  SecretReadableByOthers: event<{ file: string; mode: string }>('warn', 'A file with a secret can be read by others (chmod 600 it)'),
  CertificateEnds: event<{ cert: string; problem: string }>(
    'warn',
    'The certificate of this process is to be renewed (write the new one into its file and send SIGHUP)',
  ),
  CertificatesReloaded: event<{ cert: string }>('info', 'Certificates reloaded'),
  CredentialsReloaded: event<{ profiles: number }>('info', 'Credentials read again; connections that are made from now on use them'),
  CredentialsNotReloaded: event<{ error: string }>('error', 'Credentials not read again; the old ones stay in use'),
  CertificatesNotReloaded: event<{ error: string }>('error', 'Certificates not reloaded; the old ones stay in use'),
  TracesNotExported: event<{ endpoint: string; reason: string }>(
    'warn',
    'Traces not exported; they are dropped until the collector takes them',
  ),

  WorkerRegistered: event<{ worker: string; coordinator: string }>('info', 'Worker registered'),
  WorkerNotRegistered: event<{ worker: string; coordinator: string; reason: string }>('warn', 'Worker not registered; trying goes on'),
  WorkerKeyRefused: event<{ worker: string; coordinator: string }>(
    'error',
    'Worker not registered: the coordinator does not know its key (--api-key is the key of the cluster); its own API is served',
  ),
  HeartbeatFailed: event<{ worker: string; coordinator: string; reason: string }>('error', 'Heartbeat failed'),
  WorkerReplaced: event<{ worker: string; reason: string }>(
    'error',
    'Another process has taken the place of this worker, or it was removed; it runs nothing for the cluster until it is started again',
  ),
  WorkerNotDrained: event<{ worker: string; reason: string }>(
    'warn',
    'Pipelines not handed over; other workers go on with them from their checkpoints',
  ),
  PlacementFenced: event<{ placement: string }>(
    'warn',
    'Placement fenced: its lease has ended, and nothing more of it is sent',
    (metrics) => metrics.count('cep_worker_fenced_total', {}),
  ),

  RaftLeadershipChanged: event<{ leader: number; term: number; role: string }>('info', 'Raft leadership changed', (metrics) =>
    metrics.count('cep_raft_leader_changes_total', {}),
  ),
  RaftLogRepaired: event<{ problem: string }>('warn', 'Raft log repaired'),
  LogFormatRaised: event<{ format: number }>('info', 'Members write the Raft log in a later format from here on'),
  RaftRecovering: event<LogFields>('error', 'Raft member has lost acknowledged entries; it does not vote before it has them again'),
  RaftMemberRemoved: event<{ by: number }>(
    'error',
    'This member was removed from the group and does nothing for it any more: stop it (it can come back with an empty directory, under a number that nobody had)',
  ),
  RaftAddressesGiven: event<LogFields>(
    'warn',
    'Members are taken to be where they are named, whatever the group knows (leave --raft-new-addresses out from the next start on)',
  ),
  RaftAddressesDiffer: event<{ peer: number; known: string; named: string }>(
    'warn',
    'The group knows a member at another address than the one named, and goes by its own (set --raft-new-addresses where data were brought to other machines)',
  ),
  RaftPeerConnected: event<{ peer: number }>('info', 'Raft member connected'),
  RaftPeerLost: event<{ peer: number; reason: string }>('warn', 'Raft member out of reach; connecting goes on'),
  RaftConnectionRefused: event<{ remote: string; reason: string; connections: number }>('warn', 'Raft connection refused or broken'),
  RaftLoopStalled: event<{ seconds: number }>('warn', 'Raft thread stood still', (metrics) =>
    metrics.count('cep_raft_loop_stalls_total', {}),
  ),
  RaftDiskSlow: event<{ to: number; seconds: number }>(
    'warn',
    'Raft leader hands over: its disk is slower than those of the others',
    (metrics) => metrics.count('cep_raft_slow_disk_handovers_total', {}),
  ),
  RaftStandstill: event<{ to: number; seconds: number }>(
    'warn',
    'Raft leader hands over: the thread that answers requests stood still',
    (metrics) => metrics.count('cep_raft_standstill_handovers_total', {}),
  ),
  RaftMemberFailed: event<{ error: string }>('error', 'Raft member failed'),

  WorkerJoined: event<{ worker: string; address: string }>('info', 'Worker joined'),
  WorkerLost: event<{ worker: string; reason: string; placements: number }>('warn', 'Worker lost'),
  WorkerClockWrong: event<{ worker: string; aheadSeconds: number }>(
    'warn',
    'The clock of a worker is wrong; its pipelines go by the clocks of the cluster',
  ),
  WorkersLostTogether: event<{ workers: number }>(
    'error',
    'More than half of the workers went silent at once; what they run is not given away before they had as long again',
  ),
  WorkerNotDone: event<{ worker: string; placement: string; action: string; error: string }>(
    'warn',
    'A worker did not do what it was asked for',
  ),
  CheckpointsNotSpread: event<{ error: string }>(
    'warn',
    'Checkpoints of pipelines are on fewer than a majority of the members after a change of the group',
  ),
  CheckpointDamaged: event<{ file: string; reason: string }>('error', 'Damaged checkpoint of a pipeline: this copy is not used'),
  CheckpointsNotRemoved: event<{ error: string }>('warn', 'Old checkpoints of pipelines not removed; they take room until the next time'),
  PlacementDeployed: event<{ placement: string; worker: string; epoch: number }>('info', 'Pipeline deployed'),
  PlacementReplaced: event<{ placement: string; worker: string }>('info', 'Pipeline given to another worker', (metrics) =>
    metrics.count('cep_cluster_failovers_total', {}),
  ),
  InjectedEventsRefused: event<{ placement: string; sequence: number; events: number; reason: string }>(
    'warn',
    'Injected events refused when nobody waited for the answer any more',
    (metrics, { events }) => metrics.count('cep_cluster_ingress_refused_total', {}, events),
  ),
  InjectedEventsGivenUp: event<{ placement: string; events: number }>(
    'warn',
    'Injected events given up with a pipeline that is gone: no checkpoint has them',
    (metrics, { events }) => metrics.count('cep_cluster_ingress_given_up_total', {}, events),
  ),
  MigrationStarted: event<{ migration: string; placement: string; source: string; target: string }>('info', 'Migration started'),
  MigrationEnded: event<{ migration: string; placement: string; result: string; seconds: number }>(
    'info',
    'Migration ended',
    (metrics, { result, seconds }) => {
      metrics.count('cep_cluster_migrations_total', { result });
      const name = 'cep_cluster_migration_seconds';
      metrics.observe(metrics.series(name, {}), seconds, metricTable[name].buckets);
    },
  ),
  ScalingSent: event<{ action: string; workers: number }>('info', 'Scaling recommendation sent'),
  ScalingNotSent: event<{ action: string; workers: number; reason: string }>(
    'warn',
    'Scaling recommendation not taken by its receiver; it is sent again',
  ),

  AuditRecord: event<OfRequest & { who: string; operation: string; status: number }>('info', 'Audit'),
  RequestAnswered: event<OfRequest & { status: number; ms: number }>('debug', 'Request answered'),
  RequestFailed: event<OfRequest & { error: string; stack?: string }>('error', 'Request failed'),
  RequestRateLimited: event<OfRequest & { client: string }>('debug', 'Request rate-limited', (metrics) =>
    metrics.count('cep_rate_limited_total', {}),
  ),
  ClientMissedEvents: event<{ transport: string; skipped: number }>('debug', 'Slow client missed output events', (metrics, fields) =>
    metrics.count('cep_stream_gap_events_total', { transport: fields.transport }, fields.skipped),
  ),
} as const;

type Table = typeof internalEvents;
export type InternalEventName = keyof Table;
export type FieldsOf<N extends InternalEventName> = Table[N] extends InternalEvent<infer Fields> ? Fields : never;

/** Where a part of the process reports what happens. */
export class Telemetry {
  readonly log: Logger;
  readonly metrics: MetricRegistry;
  /** Undefined while traces are off. */
  readonly tracer: Tracer | undefined;

  constructor(log: Logger, metrics: MetricRegistry, tracer?: Tracer) {
    this.log = log;
    this.metrics = metrics;
    this.tracer = tracer;
  }

  /** Writes the line and moves the metric of an internal event. */
  report<N extends InternalEventName>(name: N, fields: FieldsOf<N>): void {
    const { level, message, count } = internalEvents[name] as unknown as InternalEvent<FieldsOf<N>>;
    count?.(this.metrics, fields);
    this.log.log(level, message, fields);
  }

  /** The same with fields on every line, as those of one request. */
  with(fields: LogFields): Telemetry {
    return new Telemetry(this.log.child(fields), this.metrics, this.tracer);
  }
}

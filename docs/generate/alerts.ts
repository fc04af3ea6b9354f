import type { MetricName } from '../../shared/telemetry/metrics-table.ts';

/** When somebody should look, made into a rule of Prometheus, a row of the list of runbooks and a test. */
export interface Alert {
  /** `page`: somebody must act now; `ticket`: within a day. */
  readonly severity: 'page' | 'ticket';
  /** Metrics that the expression reads; `up` is Prometheus' own. */
  readonly metrics: readonly (MetricName | 'up')[];
  readonly expr: string;
  /** How long it must be so. */
  readonly for: string;
  /** One sentence; `{{ $labels.x }}` stands for a label. */
  readonly summary: string;
  /** The page of the runbook, without its folder and ending. */
  readonly runbook: string;
  /** Series under which it fires, a value a minute for half an hour at most. */
  readonly fires: Readonly<Record<string, string>>;
  /** Series under which it does not, although it is near. */
  readonly quiet?: Readonly<Record<string, string>>;
}

/** A counter of a process that starts and has its first and only step after that. */
const oneStep = '_x4 0x16 1x10';
const ofPipeline = 'tenant="t",pipeline="p"';

export const alerts = {
  CepProcessDown: {
    severity: 'page',
    metrics: ['up'],
    expr: 'up{job=~"cep.*"} == 0',
    for: '2m',
    summary: '{{ $labels.instance }} does not answer.',
    runbook: 'process-down',
    fires: { 'up{job="cep-server",instance="a"}': '0x30' },
  },
  CepNotMonitored: {
    severity: 'page',
    metrics: ['up'],
    expr: 'absent(up{job=~"cep.*"})',
    for: '5m',
    summary: 'Prometheus asks no process of cep: none of these alerts can fire.',
    runbook: 'not-monitored',
    fires: { 'up{job="other",instance="a"}': '1x30' },
  },
  CepNoLeader: {
    severity: 'page',
    metrics: ['cep_raft_role'],
    expr: 'max by (job) (cep_raft_role) < 3',
    for: '1m',
    summary: 'No coordinator leads: nothing of the cluster can be changed, and lost workers are not replaced.',
    runbook: 'no-leader',
    fires: { 'cep_raft_role{job="cep-coordinator",instance="a"}': '0x30', 'cep_raft_role{job="cep-coordinator",instance="b"}': '2x30' },
  },
  CepCoordinatorUnreachable: {
    severity: 'ticket',
    metrics: ['cep_raft_peer_reachable'],
    expr: 'min by (job, peer) (cep_raft_peer_reachable) == 0',
    for: '2m',
    summary: 'Coordinator {{ $labels.peer }} is not reached by another: one more loss may stop the group.',
    runbook: 'coordinator-unreachable',
    fires: { 'cep_raft_peer_reachable{job="cep-coordinator",instance="a",peer="3"}': '0x30' },
  },
  CepCoordinatorBehind: {
    severity: 'ticket',
    metrics: ['cep_raft_peer_lag'],
    expr: 'max by (job, peer) (cep_raft_peer_lag) > 1000',
    for: '5m',
    summary: 'Coordinator {{ $labels.peer }} is {{ $value }} entries behind the leader.',
    runbook: 'coordinator-behind',
    fires: { 'cep_raft_peer_lag{job="cep-coordinator",instance="a",peer="2"}': '5000x30' },
  },
  CepCoordinatorRecovering: {
    severity: 'page',
    metrics: ['cep_raft_recovering'],
    expr: 'max by (job, instance) (cep_raft_recovering) == 1',
    for: '1m',
    summary: '{{ $labels.instance }} has lost what it had acknowledged and does not vote.',
    runbook: 'coordinator-recovering',
    fires: { 'cep_raft_recovering{job="cep-coordinator",instance="a"}': '1x30' },
  },
  CepRaftDiskSlow: {
    severity: 'ticket',
    metrics: ['cep_raft_wal_sync_seconds'],
    expr: 'histogram_quantile(0.99, sum by (instance, le) (rate(cep_raft_wal_sync_seconds_bucket[5m]))) > 0.25',
    for: '10m',
    summary: 'One write in a hundred of {{ $labels.instance }} takes over 250 ms to be durable.',
    runbook: 'raft-disk-slow',
    fires: {
      'cep_raft_wal_sync_seconds_bucket{instance="a",le="0.1"}': '0+0x30',
      'cep_raft_wal_sync_seconds_bucket{instance="a",le="0.5"}': '0+60x30',
      'cep_raft_wal_sync_seconds_bucket{instance="a",le="+Inf"}': '0+60x30',
    },
  },
  CepLeaderUnstable: {
    severity: 'ticket',
    metrics: ['cep_raft_leader_changes_total'],
    expr: 'max by (job) (increase(cep_raft_leader_changes_total[15m])) > 6',
    for: '5m',
    summary: 'The leader of the coordinators has changed {{ $value | humanize }} times in a quarter of an hour.',
    runbook: 'leader-unstable',
    fires: { 'cep_raft_leader_changes_total{job="cep-coordinator",instance="a"}': '0+2x30' },
  },
  CepWorkerLost: {
    severity: 'page',
    metrics: ['cep_cluster_workers'],
    expr: 'max by (job) (cep_cluster_workers{status="unhealthy"}) > 0',
    for: '1m',
    summary: '{{ $value }} workers are not heard of; what they had goes on elsewhere while there is room.',
    runbook: 'worker-lost',
    fires: { 'cep_cluster_workers{job="cep-coordinator",status="unhealthy"}': '1x30' },
  },
  CepNoWorkerReady: {
    severity: 'page',
    metrics: ['cep_cluster_workers'],
    expr: 'max by (job) (cep_cluster_workers{status="ready"}) == 0',
    for: '5m',
    summary: 'No worker is ready: nothing can be placed, and what a worker loses has nowhere to go.',
    runbook: 'no-worker-ready',
    fires: { 'cep_cluster_workers{job="cep-coordinator",status="ready"}': '0x30' },
  },
  CepWorkerClockWrong: {
    severity: 'ticket',
    metrics: ['cep_cluster_worker_clock_ahead_seconds'],
    expr: 'max by (job, worker) (abs(cep_cluster_worker_clock_ahead_seconds)) > 1',
    for: '5m',
    summary: 'The clock of worker {{ $labels.worker }} is wrong by {{ $value }} s.',
    runbook: 'clock-wrong',
    fires: { 'cep_cluster_worker_clock_ahead_seconds{job="cep-coordinator",instance="a",worker="w1"}': '30x30' },
  },
  CepPipelineNotRunning: {
    severity: 'page',
    metrics: ['cep_cluster_deployments'],
    expr: 'max by (job, status) (cep_cluster_deployments{status!="running"}) > 0',
    for: '5m',
    summary: '{{ $value }} pipelines of the cluster are {{ $labels.status }}.',
    runbook: 'pipeline-not-running',
    fires: { 'cep_cluster_deployments{job="cep-coordinator",status="pending"}': '2x30' },
  },
  CepMigrationFailed: {
    severity: 'ticket',
    metrics: ['cep_cluster_migrations_total'],
    expr: 'sum by (job) (increase(cep_cluster_migrations_total{result="failed"}[15m])) > 0',
    for: '0m',
    summary: 'A pipeline could not be moved; it runs where it was.',
    runbook: 'migration-failed',
    fires: { 'cep_cluster_migrations_total{job="cep-coordinator",result="failed"}': oneStep },
  },
  CepWorkerFenced: {
    severity: 'page',
    metrics: ['cep_worker_fenced_total'],
    expr: 'increase(cep_worker_fenced_total[10m]) > 0',
    for: '0m',
    summary: 'Pipelines of {{ $labels.instance }} have stopped by themselves: no coordinator was heard in time.',
    runbook: 'worker-fenced',
    fires: { 'cep_worker_fenced_total{job="cep-worker",instance="a"}': oneStep },
  },
  CepSinkUnavailable: {
    severity: 'page',
    metrics: ['cep_connector_state'],
    expr: 'cep_connector_state > 0',
    for: '5m',
    summary: 'Pipeline {{ $labels.pipeline }} does not reach {{ $labels.connector }}: its circuit breaker is not closed.',
    runbook: 'sink-unavailable',
    // It hangs, so that each event by which it is tried leaves the breaker half-open for a while.
    fires: { [`cep_connector_state{${ofPipeline},connector="Hook"}`]: '2 2 1 '.repeat(10).trim() },
  },
  CepDeadLetters: {
    severity: 'ticket',
    metrics: ['cep_dlq_events_total'],
    expr: 'increase(cep_dlq_events_total[15m]) > 0',
    for: '0m',
    summary: 'Pipeline {{ $labels.pipeline }} writes dead letters of {{ $labels.connector }}.',
    runbook: 'dead-letters',
    fires: { [`cep_dlq_events_total{${ofPipeline},connector="Hook"}`]: oneStep },
  },
  CepDeadLettersDropped: {
    severity: 'page',
    metrics: ['cep_dlq_dropped_total'],
    expr: 'increase(cep_dlq_dropped_total[15m]) > 0',
    for: '0m',
    summary: 'Dead letters of pipeline {{ $labels.pipeline }} are given up: there are too many.',
    runbook: 'dead-letters',
    fires: { [`cep_dlq_dropped_total{${ofPipeline},connector="Hook"}`]: oneStep },
  },
  CepStorageFailing: {
    severity: 'page',
    metrics: ['cep_storage_failures_total'],
    expr: 'increase(cep_storage_failures_total[10m]) > 0',
    for: '0m',
    summary: 'The state directory of {{ $labels.instance }} takes no changes.',
    runbook: 'storage-failing',
    fires: { 'cep_storage_failures_total{instance="a"}': oneStep },
  },
  CepCheckpointOld: {
    severity: 'ticket',
    metrics: ['cep_checkpoint_age_seconds'],
    expr: 'cep_checkpoint_age_seconds > 300',
    for: '5m',
    summary:
      'Nothing of pipeline {{ $labels.pipeline }} has been saved for {{ $value | humanizeDuration }}, although something came through.',
    runbook: 'checkpoint-old',
    fires: { [`cep_checkpoint_age_seconds{${ofPipeline}}`]: '600x30' },
  },
  CepEventsWaiting: {
    severity: 'ticket',
    metrics: ['cep_queue_depth'],
    expr: 'cep_queue_depth > 10000',
    for: '5m',
    summary: '{{ $value }} events wait for pipeline {{ $labels.pipeline }}: it is slower than what it is sent.',
    runbook: 'events-waiting',
    fires: { [`cep_queue_depth{${ofPipeline}}`]: '20000x30' },
  },
  CepEventsRefused: {
    severity: 'ticket',
    metrics: ['cep_events_refused_total', 'cep_requests_refused_total'],
    expr: 'rate(cep_events_refused_total[5m]) > 0 or rate(cep_requests_refused_total[5m]) > 0',
    for: '10m',
    summary: 'Events for pipeline {{ $labels.pipeline }} are refused: a quota, a full queue or a budget.',
    runbook: 'events-waiting',
    fires: { [`cep_events_refused_total{${ofPipeline}}`]: '0x30', [`cep_requests_refused_total{${ofPipeline}}`]: '0+60x30' },
  },
  CepEventsInvalid: {
    severity: 'ticket',
    metrics: ['cep_events_invalid_total', 'cep_events_total'],
    expr:
      'sum by (tenant, pipeline) (rate(cep_events_invalid_total[10m])) > 0 ' +
      'unless sum by (tenant, pipeline) (rate(cep_events_invalid_total[10m])) ' +
      '<= 0.01 * sum by (tenant, pipeline) (rate(cep_events_total[10m]))',
    for: '10m',
    summary: 'More than one in a hundred events for pipeline {{ $labels.pipeline }} does not fit its type.',
    runbook: 'events-without-effect',
    // None of its events has fitted since it began.
    fires: { [`cep_events_invalid_total{${ofPipeline}}`]: '0+60x30' },
    quiet: {
      [`cep_events_invalid_total{${ofPipeline}}`]: '0+60x30',
      [`cep_events_total{${ofPipeline},event_type="A"}`]: '0+6001x30',
    },
  },
  CepEventsLate: {
    severity: 'ticket',
    metrics: ['cep_events_late_total', 'cep_events_total'],
    expr:
      'sum by (tenant, pipeline) (rate(cep_events_late_total[10m])) ' + '> 0.05 * sum by (tenant, pipeline) (rate(cep_events_total[10m]))',
    for: '10m',
    summary: 'More than one in twenty events for pipeline {{ $labels.pipeline }} comes after what it belongs to has ended.',
    runbook: 'events-without-effect',
    fires: {
      [`cep_events_late_total{${ofPipeline}}`]: '0+60x30',
      [`cep_events_total{${ofPipeline},event_type="A"}`]: '0+60x30',
    },
  },
  CepRunsDropped: {
    severity: 'ticket',
    metrics: ['cep_runs_dropped_total'],
    expr: 'increase(cep_runs_dropped_total[15m]) > 0',
    for: '0m',
    summary:
      'Stream {{ $labels.stream }} of pipeline {{ $labels.pipeline }} gives partial matches up ({{ $labels.reason }}): alerts may be missing.',
    runbook: 'runs-dropped',
    fires: { [`cep_runs_dropped_total{${ofPipeline},stream="S",reason="max_runs"}`]: oneStep },
  },
  CepEngineRestarted: {
    severity: 'ticket',
    metrics: ['cep_engine_restarts_total'],
    expr: 'increase(cep_engine_restarts_total[15m]) > 0',
    for: '0m',
    summary: 'An engine thread of {{ $labels.instance }} was replaced: an event took too long, or too much memory.',
    runbook: 'engine-restarted',
    fires: { 'cep_engine_restarts_total{instance="a",thread="engine-0"}': oneStep },
  },
  CepProcessorBusy: {
    severity: 'ticket',
    metrics: ['cep_loop_delay_seconds'],
    expr: 'cep_loop_delay_seconds{quantile="0.99"} > 0.5',
    for: '10m',
    summary: 'Thread {{ $labels.thread }} of {{ $labels.instance }} answers late: it has too little processor time.',
    runbook: 'processor-busy',
    fires: { 'cep_loop_delay_seconds{instance="a",thread="api",quantile="0.99"}': '0.8x30' },
  },
  CepErrorsLogged: {
    severity: 'ticket',
    metrics: ['cep_log_lines_total'],
    expr: 'increase(cep_log_lines_total{level="error"}[15m]) > 0',
    for: '0m',
    summary: '{{ $labels.instance }} has logged errors.',
    runbook: 'errors-logged',
    fires: { 'cep_log_lines_total{instance="a",level="error"}': oneStep },
  },
} as const satisfies Record<string, Alert>;

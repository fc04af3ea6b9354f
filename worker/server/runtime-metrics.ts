import type { MetricRegistry, Sample } from '../../shared/telemetry/metric-registry.ts';
import type { MetricName } from '../../shared/telemetry/metrics-table.ts';
import { runDropReasons } from '../engine/operators/operator.ts';
import type { ConnectorScrape, PipelineScrape, Runtime, RuntimeMetrics } from '../runtime/service.ts';

type Fields = Readonly<Record<string, number>>;
type PipelineSamples = (pipeline: PipelineScrape) => Iterable<{ readonly labels?: readonly string[]; readonly value: Sample['value'] }>;

const single =
  (value: (pipeline: PipelineScrape) => number): PipelineSamples =>
  (pipeline) => [{ value: value(pipeline) }];

const byName =
  (values: (pipeline: PipelineScrape) => Fields): PipelineSamples =>
  (pipeline) =>
    Object.entries(values(pipeline)).map(([name, value]) => ({ labels: [name], value }));

const byTwoNames =
  (values: (pipeline: PipelineScrape) => Readonly<Record<string, Fields>>): PipelineSamples =>
  (pipeline) =>
    Object.entries(values(pipeline)).flatMap(([outer, inner]) =>
      Object.entries(inner).map(([name, value]) => ({ labels: [outer, name], value })),
    );

const byStream =
  (value: (stream: PipelineScrape['streams'][number]) => number): PipelineSamples =>
  ({ streams }) =>
    streams.map((stream) => ({ labels: [stream.name], value: value(stream) }));

/** Of each stream and reason there is a series from the start, so that the first step is seen. */
const noRunsDropped: Fields = Object.fromEntries(runDropReasons.map((reason) => [reason, 0]));

/** Metrics of pipelines, and what of a scrape they show; their labels begin with tenant and pipeline. */
const pipelineMetrics: Readonly<Partial<Record<MetricName, PipelineSamples>>> = {
  cep_events_total: byName(({ eventsByType }) => eventsByType),
  cep_events_processed: byStream(({ eventsIn }) => eventsIn),
  cep_output_events_total: byTwoNames(({ outputsByStream }) => outputsByStream),
  cep_processing_latency_seconds: ({ latencyByStream }) =>
    Object.entries(latencyByStream).map(([stream, value]) => ({ labels: [stream], value })),
  cep_stream_queue_size: byStream(({ queueSize }) => queueSize),
  cep_active_streams: single(({ status, streams }) => (status === 'running' || status === 'degraded' ? streams.length : 0)),
  cep_events_invalid_total: single(({ eventsInvalid }) => eventsInvalid),
  cep_events_incomplete_total: byTwoNames(({ incompleteFields }) => incompleteFields),
  cep_events_late_total: single(({ eventsLate }) => eventsLate),
  cep_events_unread_total: ({ unreadTypes }) => unreadTypes.map(({ type, events }) => ({ labels: [type], value: events })),
  cep_events_refused_total: single(({ eventsRefused }) => eventsRefused),
  cep_requests_refused_total: single(({ requestsRefused }) => requestsRefused),
  cep_runs_active: single(({ activeRuns }) => activeRuns),
  cep_runs_dropped_total: byTwoNames(({ streams }) =>
    Object.fromEntries(streams.map(({ name, runsDropped }) => [name, { ...noRunsDropped, ...runsDropped }])),
  ),
  cep_lookups_total: ({ lookups = [] }) => lookups.map(({ connector, result, count }) => ({ labels: [connector, result], value: count })),
  cep_lookups_open: ({ lookupsUnderWay = [] }) => lookupsUnderWay.map(({ connector, count }) => ({ labels: [connector], value: count })),
  cep_lookups_oldest_seconds: ({ lookupsUnderWay = [] }) =>
    lookupsUnderWay.map(({ connector, oldestSeconds }) => ({ labels: [connector], value: oldestSeconds })),
  cep_source_dropped_total: ({ sources = [] }) => sources.map(({ source, dropped }) => ({ labels: [source], value: dropped })),
  cep_dlq_events_total: ({ deadLetters = [] }) => deadLetters.map(({ connector, written }) => ({ labels: [connector], value: written })),
  cep_dlq_dropped_total: ({ deadLetters = [] }) => deadLetters.map(({ connector, dropped }) => ({ labels: [connector], value: dropped })),
  cep_tap_total: byName(({ taps }) => taps),
  cep_state_bytes: single(({ stateBytes }) => stateBytes),
  cep_checkpoint_seconds: single(({ checkpointSeconds }) => checkpointSeconds),
  cep_checkpoint_age_seconds: ({ checkpointAgeSeconds: value }) => (value === null ? [] : [{ value }]),
  cep_checkpoint_wait_seconds: single(({ checkpointWaitSeconds = 0 }) => checkpointWaitSeconds),
  cep_queue_depth: single(({ eventsInFlight }) => eventsInFlight),
};

const breakerStates = { closed: 0, half_open: 1, open: 2 } as const;

/** From now on a scrape of the registry shows what the runtime counts. */
export function collectRuntime(registry: MetricRegistry, runtime: Pick<Runtime, 'scrape'>): void {
  // Text is made in slices, with other work between them: every metric of a scrape shows the same moment, however long that takes.
  let seen: RuntimeMetrics | undefined;
  registry.beforeRender(() => {
    seen = undefined;
  });
  const latest = (): RuntimeMetrics => {
    seen ??= runtime.scrape();
    return seen;
  };
  for (const [name, samples] of Object.entries(pipelineMetrics) as [MetricName, PipelineSamples][]) {
    registry.collect(name, () =>
      latest().pipelines.flatMap((pipeline) => {
        const owner = [pipeline.tenantId, pipeline.name];
        return Array.from(samples(pipeline), ({ labels = [], value }) => ({ labels: [...owner, ...labels], value }));
      }),
    );
  }
  collectConnectors(registry, latest);
  collectThreads(registry, latest);
}

function collectConnectors(registry: MetricRegistry, latest: () => RuntimeMetrics): void {
  const ofEach = (samples: (connector: ConnectorScrape, labels: readonly string[]) => readonly Sample[]) => (): Sample[] => {
    const { pipelines, connectors } = latest();
    const owners = new Map(pipelines.map(({ pipelineId, tenantId, name }) => [pipelineId, [tenantId, name]]));
    return connectors.flatMap((connector) =>
      samples(connector, [...(owners.get(connector.pipelineId) ?? ['', connector.pipelineId]), connector.connector]),
    );
  };
  const ofConnectors = (value: (connector: ConnectorScrape) => number) =>
    ofEach((connector, labels) => [{ labels, value: value(connector) }]);
  registry.collect(
    'cep_connector_transitions_total',
    ofEach(({ transitions }, labels) => Object.entries(transitions).map(([state, value]) => ({ labels: [...labels, state], value }))),
  );
  registry.collect(
    'cep_connector_state',
    ofConnectors(({ state }) => breakerStates[state]),
  );
}

function collectThreads(registry: MetricRegistry, latest: () => RuntimeMetrics): void {
  registry.collect('cep_engine_queue_bytes', () => latest().threads.map(({ name, queueBytes }) => ({ labels: [name], value: queueBytes })));
  registry.collect('cep_engine_restarts_total', () => latest().threads.map(({ name, restarts }) => ({ labels: [name], value: restarts })));
  registry.collect('cep_wal_bytes', () => (latest().storage ? [{ labels: [], value: latest().storage?.walBytes ?? 0 }] : []));
  registry.collect('cep_storage_failures_total', () => (latest().storage ? [{ labels: [], value: latest().storage?.failures ?? 0 }] : []));
}

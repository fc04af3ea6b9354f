/** The runtime's records as the interface names their members. */
import type { Static } from 'typebox';
import type { eventNotesSchema, unknownMembersSchema, unreadTypesSchema } from '../../shared/protocol/events.ts';
import type {
  deployedSchema,
  pastReloadsSchema,
  pipelineMetricsSchema,
  pipelineSchema,
  reloadReportSchema,
} from '../../shared/protocol/pipelines.ts';
import type { diagnosticSchema, topologySchema } from '../../shared/protocol/program.ts';
import type { tenantCreatedSchema, tenantSchema, usageSchema } from '../../shared/protocol/tenants.ts';
import type { UnreadType } from '../engine/streams/unread-types.ts';
import type { EventNotes, UnknownMember } from '../runtime/programs/event-notes.ts';
import type {
  Deployed,
  PastReload,
  Pipeline,
  PipelineMetrics,
  ProgramDiagnostic,
  Quota,
  ReloadReport,
  StreamMetrics,
  Tenant,
  Topology,
  Usage,
} from '../runtime/service.ts';

export function diagnosticWire(diagnostic: ProgramDiagnostic): Static<typeof diagnosticSchema> {
  const { severity, code, line, column, endLine, endColumn, message, hint, file } = diagnostic;
  return {
    severity,
    code,
    line,
    column,
    end_line: endLine,
    end_column: endColumn,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(file === undefined ? {} : { file }),
  };
}

export function deployedWire({ pipeline, warnings }: Deployed): Static<typeof deployedSchema> {
  return { id: pipeline.id, name: pipeline.name, status: pipeline.status, warnings: warnings.map(diagnosticWire) };
}

export function pipelineWire(pipeline: Pipeline): Static<typeof pipelineSchema> {
  const {
    id,
    name,
    status,
    source,
    files,
    path,
    version,
    labels,
    isWatched,
    createdAt,
    updatedAt,
    uptimeSeconds,
    error,
    failingConnectors,
  } = pipeline;
  return {
    id,
    name,
    status,
    source,
    ...(Object.keys(files).length === 0 ? {} : { files: { ...files } }),
    ...(path === undefined ? {} : { path }),
    version,
    ...(Object.keys(labels).length === 0 ? {} : { labels: { ...labels } }),
    ...(isWatched ? { watched: true } : {}),
    created_at: createdAt,
    updated_at: updatedAt,
    uptime_secs: uptimeSeconds,
    events_processed: pipeline.eventsProcessed,
    output_events_emitted: pipeline.outputEventsEmitted,
    alerts_generated: pipeline.outputEventsEmitted,
    ...(error === undefined ? {} : { error }),
    ...(failingConnectors && { failing_connectors: [...failingConnectors] }),
  };
}

export function reloadWire({ warnings, ...report }: ReloadReport): Static<typeof reloadReportSchema> {
  const { reloaded, added, removed, preserved, reset, changed, lostState } = report;
  return {
    reloaded,
    added: [...added],
    removed: [...removed],
    preserved: [...preserved],
    reset: [...reset],
    changed: [...changed],
    lost_state: [...lostState],
    warnings: warnings.map(diagnosticWire),
  };
}

export function pastReloadWire({ version, time, report }: PastReload): Static<typeof pastReloadsSchema>['reloads'][number] {
  const { reloaded: _, warnings: __, ...streams } = reloadWire({ ...report, warnings: [] });
  return { version, time, ...streams };
}

export function metricsWire(metrics: PipelineMetrics): Static<typeof pipelineMetricsSchema> {
  const { latency } = metrics;
  return {
    pipeline_id: metrics.pipelineId,
    events_processed: metrics.eventsProcessed,
    output_events_emitted: metrics.outputEventsEmitted,
    alerts_generated: metrics.outputEventsEmitted,
    events_invalid: metrics.eventsInvalid,
    events_incomplete: metrics.eventsIncomplete,
    events_late: metrics.eventsLate,
    events_unread: metrics.eventsUnread,
    unread_types: metrics.unreadTypes.map(unreadTypeWire),
    incomplete_fields: Object.entries(metrics.incompleteFields).flatMap(([type, fields]) =>
      Object.entries(fields).map(([field, events]) => ({ event_type: type, field, events })),
    ),
    watermark: metrics.watermark,
    events_refused: metrics.eventsRefused,
    requests_refused: metrics.requestsRefused,
    events_in_flight: metrics.eventsInFlight,
    dlq_events: metrics.dlqEvents,
    active_runs: metrics.activeRuns,
    state_bytes: metrics.stateBytes,
    uptime_secs: metrics.uptimeSeconds,
    latency: { p50_us: latency.p50Us, p95_us: latency.p95Us, p99_us: latency.p99Us },
    streams: metrics.streams.map(streamWire),
  };
}

function unreadTypeWire({ type, events, nearest }: UnreadType): Static<typeof unreadTypesSchema>[number] {
  return { event_type: type, events, ...(nearest === null ? {} : { did_you_mean: nearest }) };
}

function unknownMemberWire({ member, events, nearest }: UnknownMember): Static<typeof unknownMembersSchema>[number] {
  return { member, events, ...(nearest === null ? {} : { did_you_mean: nearest }) };
}

/** Members of an answer that tell why events caused nothing; none when there is nothing to tell. */
export function eventNotesWire(notes: EventNotes | null): Static<typeof eventNotesSchema> {
  if (notes === null) return {};
  const { late, watermark, unread, unreadTypes, incomplete, incompleteFields, unknownMembers } = notes;
  const fields = incompleteFields.map(({ type, field, events }) => ({ event_type: type, field, events }));
  return {
    ...(late === 0 ? {} : { events_late: late, ...(watermark === null ? {} : { watermark }) }),
    ...(unread === 0 ? {} : { events_unread: unread, unread_types: unreadTypes.map(unreadTypeWire) }),
    ...(incomplete === 0 ? {} : { events_incomplete: incomplete, incomplete_fields: fields }),
    ...(unknownMembers.length === 0 ? {} : { unknown_members: unknownMembers.map(unknownMemberWire) }),
  };
}

function streamWire(stream: StreamMetrics): Static<typeof pipelineMetricsSchema>['streams'][number] {
  return {
    name: stream.name,
    events_in: stream.eventsIn,
    events_out: stream.eventsOut,
    late: stream.late,
    failures: stream.failures,
    suppressed: stream.suppressed,
    runs_active: stream.runsActive,
    queue_size: stream.queueSize,
    runs_dropped: { ...stream.runsDropped },
    taps: { ...stream.taps },
  };
}

export function topologyWire({ nodes, edges }: Topology): Static<typeof topologySchema> {
  return {
    nodes: nodes.map(({ id, label, nodeType, config }) => ({ id, label, node_type: nodeType, config: { ...config } })),
    edges: edges.map(({ id, source, target }) => ({ id, source, target })),
  };
}

function quotaWire(quota: Quota): Static<typeof usageSchema>['quota'] {
  return {
    max_pipelines: quota.maxPipelines,
    max_events_per_second: quota.maxEventsPerSecond,
    max_streams_per_pipeline: quota.maxStreamsPerPipeline,
    max_state_bytes: quota.maxStateBytes,
  };
}

export function tenantWire({ id, name, plan, keyPrefix, quota, createdAt }: Tenant): Static<typeof tenantSchema> {
  return { id, name, plan, key_digest: keyPrefix, quota: quotaWire(quota), created_at: createdAt };
}

export function tenantCreatedWire(tenant: Tenant & { readonly apiKey: string }): Static<typeof tenantCreatedSchema> {
  const { id, name, plan, apiKey, quota } = tenant;
  return { id, name, plan, api_key: apiKey, quota: quotaWire(quota) };
}

export function usageWire(usage: Usage): Static<typeof usageSchema> {
  return {
    tenant_id: usage.tenantId,
    tenant_name: usage.tenantName,
    events_processed: usage.eventsProcessed,
    output_events_emitted: usage.outputEventsEmitted,
    active_pipelines: usage.activePipelines,
    events_rejected: usage.eventsRejected,
    requests_rejected: usage.requestsRejected,
    quota: quotaWire(usage.quota),
  };
}

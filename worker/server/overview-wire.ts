/** What many pipelines have counted, and their connectors, as the interface names them. */
import type { Static } from 'typebox';
import type { connectorListSchema, tenantMetricsSchema } from '../../shared/protocol/overview.ts';
import type { PipelineConnector, PipelineCounts } from '../runtime/service.ts';
import { pipelineWire } from './wire.ts';

type Metrics = Static<typeof tenantMetricsSchema>;
type Entry = Metrics['pipelines'][number];

export function countsWire({ pipeline, metrics }: PipelineCounts): Entry {
  const { source: _source, files: _files, path: _path, alerts_generated: _alerts, ...entry } = pipelineWire(pipeline);
  return {
    ...entry,
    events_processed: metrics.eventsProcessed,
    output_events_emitted: metrics.outputEventsEmitted,
    events_invalid: metrics.eventsInvalid,
    events_incomplete: metrics.eventsIncomplete,
    events_late: metrics.eventsLate,
    events_unread: metrics.eventsUnread,
    events_refused: metrics.eventsRefused,
    events_in_flight: metrics.eventsInFlight,
    dlq_events: metrics.dlqEvents,
    active_runs: metrics.activeRuns,
    state_bytes: metrics.stateBytes,
    watermark: metrics.watermark,
  };
}

export function totalsWire(entries: readonly Entry[]): Metrics['totals'] {
  const sum = (of: (entry: Entry) => number): number => entries.reduce((total, entry) => total + of(entry), 0);
  return {
    pipelines: entries.length,
    events_processed: sum((entry) => entry.events_processed),
    output_events_emitted: sum((entry) => entry.output_events_emitted),
    events_invalid: sum((entry) => entry.events_invalid),
    events_incomplete: sum((entry) => entry.events_incomplete),
    events_late: sum((entry) => entry.events_late),
    events_unread: sum((entry) => entry.events_unread),
    events_refused: sum((entry) => entry.events_refused),
    events_in_flight: sum((entry) => entry.events_in_flight),
    dlq_events: sum((entry) => entry.dlq_events),
    active_runs: sum((entry) => entry.active_runs),
    state_bytes: sum((entry) => entry.state_bytes),
  };
}

export function connectorWire({
  pipelineId,
  pipelineName,
  name,
  type,
  end,
}: PipelineConnector): Static<typeof connectorListSchema>['connectors'][number] {
  const common = { pipeline_id: pipelineId, pipeline: pipelineName, name, type };
  if ('source' in end) {
    const { isConnected, isEnded, problem, received, unreadable } = end.source;
    const state = isEnded ? 'ended' : isConnected ? 'connected' : 'disconnected';
    return { ...common, direction: 'source', state, ...(problem === null ? {} : { problem }), received, unreadable };
  }
  const { state, problem, transitions, delivered, pending, dlqEvents, dlqDropped } = end.sink;
  const counts = { opened: transitions.open, delivered, pending, dlq_events: dlqEvents, dlq_dropped: dlqDropped };
  return { ...common, direction: 'sink', state, ...(problem === null ? {} : { problem }), ...counts };
}

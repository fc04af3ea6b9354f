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
    requests_refused: metrics.requestsRefused,
    events_in_flight: metrics.eventsInFlight,
    dlq_events: metrics.dlqEvents,
    active_runs: metrics.activeRuns,
    state_bytes: metrics.stateBytes,
    watermark: metrics.watermark,
  };
}

/** Of all pipelines, whatever page of them is shown. */
export function totalsWire(all: readonly PipelineCounts[]): Metrics['totals'] {
  const sum = (of: (metrics: PipelineCounts['metrics']) => number): number => all.reduce((total, { metrics }) => total + of(metrics), 0);
  return {
    pipelines: all.length,
    events_processed: sum(({ eventsProcessed }) => eventsProcessed),
    output_events_emitted: sum(({ outputEventsEmitted }) => outputEventsEmitted),
    events_invalid: sum(({ eventsInvalid }) => eventsInvalid),
    events_incomplete: sum(({ eventsIncomplete }) => eventsIncomplete),
    events_late: sum(({ eventsLate }) => eventsLate),
    events_unread: sum(({ eventsUnread }) => eventsUnread),
    events_refused: sum(({ eventsRefused }) => eventsRefused),
    requests_refused: sum(({ requestsRefused }) => requestsRefused),
    events_in_flight: sum(({ eventsInFlight }) => eventsInFlight),
    dlq_events: sum(({ dlqEvents }) => dlqEvents),
    active_runs: sum(({ activeRuns }) => activeRuns),
    state_bytes: sum(({ stateBytes }) => stateBytes),
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

import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { envelopeOf } from '../../../shared/http/error-envelope.ts';
import { healthSchema, indexSchema, notReadySchema, readySchema } from '../../../shared/protocol/probes.ts';
import type { ClusterWorker } from '../../placements/cluster-worker.ts';
import type { Readiness, Runtime } from '../../runtime/service.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';

const retryAfterSeconds = 1;

/** Why requests are refused at the moment; undefined when they are not. */
export function refusalOf({ ready, reason = 'starting' }: Readiness): CepError | undefined {
  return ready || reason === 'storage_unavailable'
    ? undefined
    : new CepError('not_ready', `the server is ${reason}`, { retryAfterSeconds });
}

/** Why no more requests should be sent here at the moment. */
function unreadyOf(state: Readiness): CepError | undefined {
  if (state.reason !== 'storage_unavailable') return refusalOf(state);
  return new CepError('storage_unavailable', `the state directory takes no changes: ${state.problem}`, {
    hint: 'make room on its disk: nothing accepted is lost, and the server goes on by itself',
    retryAfterSeconds,
  });
}

export interface About {
  readonly version: string;
  readonly startedAtMs: number;
  readonly hasMetrics: boolean;
  /** What the server is for a cluster. */
  readonly cluster?: ClusterWorker | undefined;
}

/** What there is, whether the process lives, and whether it takes requests. */
export function probeRoutes(runtime: Runtime, about: About): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: '/',
      operation: 'getIndex',
      summary: 'Say what is served here, and where it is described',
      tag: 'probes',
      access: 'open',
      success: { 200: indexSchema },
      handle: () => ({
        name: 'cep',
        version: about.version,
        console: '/console',
        docs: '/docs',
        openapi: '/openapi.json',
        api: '/api/v1',
        websocket: '/ws',
        health: '/health',
        ready: '/ready',
        ...(about.hasMetrics ? { metrics: '/metrics' } : {}),
      }),
    }),
    apiRoute({
      method: 'GET',
      path: '/health',
      operation: 'getHealth',
      summary: 'Say that the process lives',
      tag: 'probes',
      access: 'open',
      isProbe: true,
      success: { 200: healthSchema },
      handle: () => ({ status: 'healthy', uptime_seconds: (performance.now() - about.startedAtMs) / 1000, version: about.version }),
    }),
    apiRoute({
      method: 'GET',
      path: '/ready',
      operation: 'getReadiness',
      summary: 'Say whether requests are taken',
      tag: 'probes',
      access: 'open',
      isProbe: true,
      success: { 200: readySchema },
      errors: ['not_ready', 'storage_unavailable'],
      errorBodies: { 503: notReadySchema },
      handle: ({ requestId }) => {
        const state = runtime.readiness();
        const refusal = unreadyOf(state);
        if (!refusal) return { ...readyBody(state), ...(about.cluster && { cluster: clusterBody(about.cluster) }) };
        const body = { status: 'not_ready', engine_loaded: false, reason: state.reason ?? 'starting', ...envelopeOf(refusal, requestId) };
        return new Answer(refusal.status, body, { 'retry-after': String(retryAfterSeconds) });
      },
    }),
  ];
}

function clusterBody({ identity, status, placements, leaseRemainingMs }: ClusterWorker): object {
  return { worker_id: identity.workerId, status, placements: placements.size, lease_remaining_ms: Math.round(leaseRemainingMs) };
}

function readyBody({ pipelines, streams, eventsProcessed, outputEventsEmitted }: Readiness): object {
  return {
    status: 'ready',
    engine_loaded: true,
    pipelines,
    streams_count: streams,
    events_processed: eventsProcessed,
    output_events_emitted: outputEventsEmitted,
  };
}

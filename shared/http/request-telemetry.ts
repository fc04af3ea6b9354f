import type { FastifyRequest } from 'fastify';
import type { Telemetry } from '../telemetry/internal-events.ts';

/** The telemetry of one request: its lines carry the request's id, and its trace when it has one. */
export function telemetryOf(request: FastifyRequest, telemetry: Telemetry): Telemetry {
  if (request.telemetry) return request.telemetry;
  const { trace } = request;
  request.telemetry = telemetry.with({
    request_id: request.id,
    ...(trace === undefined ? {} : { trace_id: trace.traceId, span_id: trace.spanId }),
  });
  return request.telemetry;
}

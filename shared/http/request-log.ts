import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Telemetry } from '../telemetry/internal-events.ts';
import type { Series } from '../telemetry/metric-registry.ts';
import { pathOf } from './paths.ts';
import { telemetryOf } from './request-telemetry.ts';
import { configOf } from './route-config.ts';

/**
 * Counts answers by route and status, keeps a record of who did what on routes that are audited, refused attempts included, and
 * writes a line for each request where the level asks for it.
 */
export class RequestLog {
  readonly #telemetry: Telemetry;
  readonly #nameOf: (caller: unknown) => string;
  readonly #series = new Map<string, Map<number, Series>>();

  /** @param nameOf Names a caller in records. */
  constructor(telemetry: Telemetry, nameOf: (caller: unknown) => string) {
    this.#telemetry = telemetry;
    this.#nameOf = nameOf;
  }

  answered(request: FastifyRequest, { statusCode }: FastifyReply): void {
    const { metrics, log } = this.#telemetry;
    const { operation = 'none', isAudited } = configOf(request);
    metrics.add(this.#seriesOf(operation, statusCode));
    if (request.trace?.isSampled) this.#endSpan(request, statusCode);
    if (isAudited) {
      const who = request.caller === undefined ? 'nobody' : this.#nameOf(request.caller);
      telemetryOf(request, this.#telemetry).report('AuditRecord', {
        who,
        operation,
        method: request.method,
        path: pathOf(request),
        status: statusCode,
      });
    }
    if (!log.isEnabled('debug')) return;
    telemetryOf(request, this.#telemetry).report('RequestAnswered', {
      method: request.method,
      path: pathOf(request),
      status: statusCode,
      ms: Math.round((performance.now() - request.startedAtMs) * 1000) / 1000,
    });
  }

  /** By the conventions of OpenTelemetry for HTTP servers. */
  #endSpan({ trace, method, routeOptions, startedAtMs, id }: FastifyRequest, status: number): void {
    if (trace === undefined) return;
    const route = routeOptions.url ?? 'none';
    const attributes = { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status, 'cep.request_id': id };
    this.#telemetry.tracer?.end({
      context: trace,
      name: `${method} ${route}`,
      kind: 'server',
      startedAtMs,
      attributes,
      isError: status >= 500,
    });
  }

  #seriesOf(route: string, status: number): Series {
    const ofRoute = this.#series.get(route) ?? new Map<number, Series>();
    this.#series.set(route, ofRoute);
    const series = ofRoute.get(status) ?? this.#telemetry.metrics.series('cep_http_requests_total', { route, status: String(status) });
    ofRoute.set(status, series);
    return series;
  }
}

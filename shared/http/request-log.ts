import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Telemetry } from '../telemetry/internal-events.ts';
import type { Series } from '../telemetry/metric-registry.ts';
import { telemetryOf } from './request-guard.ts';

/** Counts answers by route and status, and writes a line for each where the level asks for it. */
export class RequestLog {
  readonly #telemetry: Telemetry;
  readonly #series = new Map<string, Map<number, Series>>();

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  answered(request: FastifyRequest, { statusCode }: FastifyReply): void {
    const { metrics, log } = this.#telemetry;
    metrics.add(this.#seriesOf(request.routeOptions.config.operation ?? 'none', statusCode));
    if (!log.isEnabled('debug')) return;
    telemetryOf(request, this.#telemetry).report('RequestAnswered', {
      method: request.method,
      path: request.url.split('?')[0] ?? '',
      status: statusCode,
      ms: Math.round((performance.now() - request.startedAtMs) * 1000) / 1000,
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

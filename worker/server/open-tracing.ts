import { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../shared/security/network-policy.ts';
import { shownUrl } from '../../shared/security/shown-url.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { Tracer } from '../../shared/telemetry/tracing.ts';

export interface Tracing {
  readonly tracer: Tracer;
  /** From now on it is counted, and logged, what becomes of spans. */
  reportTo(telemetry: Telemetry): void;
  /** Sends what is left, for so long at most. */
  close(deadlineMs: number): Promise<void>;
}

/** Records traces and sends them to a collector. What does that is loaded only here: most servers send none. */
export async function openTracing(options: {
  readonly endpoint: string;
  readonly ratio: number;
  readonly version: string;
}): Promise<Tracing> {
  const { endpoint, ratio, version } = options;
  const { OtlpExporter } = await import('../../shared/telemetry/otlp-exporter.ts');
  let telemetry: Telemetry | undefined;
  const exporter = new OtlpExporter({
    endpoint,
    door: new OutboundDoor(NetworkPolicy.everywhere),
    about: { name: 'cep', version },
    count: (result, spans) => telemetry?.metrics.count('cep_trace_spans_total', { result }, spans),
    onFailure: (reason) => telemetry?.report('TracesNotExported', { endpoint: shownUrl(endpoint), reason }),
  });
  return {
    tracer: new Tracer({ ratio, take: (span) => exporter.take(span) }),
    reportTo: (given) => {
      telemetry = given;
    },
    close: (deadlineMs) => exporter.close(deadlineMs),
  };
}

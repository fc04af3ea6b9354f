import type { Span, SpanAttributes } from './tracing.ts';

/** Numbers of the enumerations of OTLP (opentelemetry-proto, trace.proto). */
const kinds = { internal: 1, server: 2, client: 3 } as const;
const errorStatus = 2;

/** The JSON text of an OTLP request with these spans. */
export function otlpBody(spans: readonly Span[], about: { readonly name: string; readonly version: string }): string {
  const resource = { attributes: attributesOf({ 'service.name': about.name, 'service.version': about.version }) };
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: about, spans: spans.map(spanOf) }] }] });
}

function spanOf({ context, name, kind, startMs, endMs, attributes, isError }: Span): unknown {
  const { traceId, spanId, parentSpanId } = context;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf(attributes),
    ...(isError ? { status: { code: errorStatus } } : {}),
  };
}

/** Whole microseconds, as text: a number could not hold it. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}

function attributesOf(attributes: SpanAttributes): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueMember(value) }));
}

function valueMember(value: string | number | boolean): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

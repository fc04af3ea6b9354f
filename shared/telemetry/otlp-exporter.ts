import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { OutboundDoor } from '../outbound/outbound-door.ts';
import { apartFromLogin } from '../outbound/url-login.ts';
import { WebDoor } from '../outbound/web-door.ts';
import type { Span } from './tracing.ts';

/** Spans that wait to be sent; what comes beyond them is dropped and counted. */
const WAITING_SPANS_MAX = 4_096;
const BATCH_SPANS = 512;
const SEND_EVERY_MS = 5_000;
const ANSWER_MS_MAX = 10_000;

export interface OtlpExporterOptions {
  /** Of the collector; `/v1/traces` is added. A login in it goes as Basic authentication. */
  readonly endpoint: string;
  readonly door: OutboundDoor;
  readonly about: { readonly name: string; readonly version: string };
  /** What became of spans. */
  readonly count: (result: 'exported' | 'dropped' | 'failed', spans: number) => void;
  /** The collector did not take a batch that it should have, for the first time since it took one. */
  readonly onFailure: (reason: string) => void;
}

/**
 * Sends spans to a collector as OTLP over HTTP, in JSON. Nobody ever waits for it: spans wait in a bounded buffer, and a batch that is
 * not taken is gone, counted. The buffer and the format are OpenTelemetry's. Its HTTP exporter is not used: it opens connections of its
 * own, past the door, and its time limit is one of silence, so that a collector that drips its answer holds it up for ever.
 */
export class OtlpExporter {
  readonly #options: OtlpExporterOptions;
  readonly #resource: Resource;
  readonly #processor: BatchSpanProcessor;
  readonly #end = new AbortController();
  /** Taken, and not yet handed on to be sent. */
  #waiting = 0;
  /** Batches under way. */
  readonly #open = new Set<Promise<void>>();
  readonly #collector: Collector;
  #hasFailed = false;

  constructor(options: OtlpExporterOptions) {
    this.#options = options;
    const { name, version } = options.about;
    this.#resource = resourceFromAttributes({ 'service.name': name, 'service.version': version });
    this.#collector = new Collector(options, this.#end.signal);
    this.#processor = new BatchSpanProcessor(this.#exporter(), {
      maxQueueSize: WAITING_SPANS_MAX,
      maxExportBatchSize: BATCH_SPANS,
      scheduledDelayMillis: SEND_EVERY_MS,
      exportTimeoutMillis: 2 * ANSWER_MS_MAX,
    });
  }

  take(span: Span): void {
    if (this.#waiting >= WAITING_SPANS_MAX || this.#end.signal.aborted) {
      this.#options.count('dropped', 1);
      return;
    }
    this.#waiting++;
    this.#processor.onEnd(readableSpan(span, this.#resource, this.#options.about));
  }

  /** Sends what waits, for so long at most. */
  async close(deadlineMs: number): Promise<void> {
    const deadline = setTimeout(() => this.#end.abort(new Error('there was no time left')), deadlineMs);
    // It ends with the first batch that fails, which has been counted and told; the others end too.
    await this.#processor.shutdown().catch(() => undefined);
    await Promise.all(this.#open);
    clearTimeout(deadline);
    this.#end.abort();
    await this.#collector.close();
  }

  #exporter(): SpanExporter {
    return {
      export: (spans, done) => {
        this.#waiting -= spans.length;
        const sent = this.#send(spans).then((failure) => {
          this.#open.delete(sent);
          done(failure === undefined ? { code: 0 } : { code: 1, error: new Error(failure) });
        });
        this.#open.add(sent);
      },
      shutdown: () => Promise.resolve(),
    };
  }

  /** Undefined when the batch was taken, else why not. */
  async #send(spans: ReadableSpan[]): Promise<string | undefined> {
    const { count, onFailure } = this.#options;
    const failure = await this.#collector.post(JsonTraceSerializer.serializeRequest(spans) ?? new Uint8Array());
    count(failure === undefined ? 'exported' : 'failed', spans.length);
    if (failure !== undefined && !this.#hasFailed) onFailure(failure);
    this.#hasFailed = failure !== undefined;
    return failure;
  }
}

class Collector {
  readonly #target: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #web: WebDoor;
  readonly #signal: AbortSignal;

  constructor({ endpoint, door }: Pick<OtlpExporterOptions, 'endpoint' | 'door'>, signal: AbortSignal) {
    const { address, login } = apartFromLogin(new URL(`${endpoint.replace(/\/+$/, '')}/v1/traces`));
    this.#target = address;
    this.#headers = { 'content-type': 'application/json', ...login };
    this.#web = new WebDoor(door, { connectMs: ANSWER_MS_MAX, silenceMs: 0 });
    this.#signal = signal;
  }

  /** Undefined when it was taken, else why not. */
  async post(body: Uint8Array): Promise<string | undefined> {
    try {
      const request = { method: 'POST', headers: this.#headers, body, deadlineMs: ANSWER_MS_MAX, signal: this.#signal } as const;
      const answer = await this.#web.request(this.#target, request);
      this.#web.leave(answer);
      return answer.statusCode >= 200 && answer.statusCode < 300 ? undefined : `the answer was ${answer.statusCode}`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  close(): Promise<void> {
    return this.#web.close();
  }
}

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** A span as OpenTelemetry has them. */
function readableSpan(span: Span, resource: Resource, scope: OtlpExporterOptions['about']): ReadableSpan {
  const { traceId, spanId, parentSpanId } = span.context;
  const part = (id: string): ReturnType<ReadableSpan['spanContext']> => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  const endMs = Math.max(span.startMs, span.endMs);
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => part(spanId),
    ...(parentSpanId === undefined ? {} : { parentSpanContext: part(parentSpanId) }),
    startTime: secondsAndNanoseconds(span.startMs),
    endTime: secondsAndNanoseconds(endMs),
    duration: secondsAndNanoseconds(endMs - span.startMs),
    ended: true,
    status: { code: span.isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: { ...span.attributes },
    resource,
    instrumentationScope: scope,
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Of whole microseconds. */
function secondsAndNanoseconds(ms: number): [number, number] {
  const us = Math.round(ms * 1_000);
  return [Math.floor(us / 1_000_000), (us % 1_000_000) * 1_000];
}

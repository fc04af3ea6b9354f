import { randomBytes } from 'node:crypto';

/** A span's place in its trace, as W3C Trace Context has it. */
export interface TraceContext {
  readonly traceId: string;
  /** Of this part of the trace. */
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** Whether the trace is recorded; children do as their parents. */
  readonly isSampled: boolean;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A part of a trace that is over. */
export interface Span {
  readonly context: TraceContext;
  /** Never varies; what varies stands in the attributes. */
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  /** Epoch ms, with a fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly isError: boolean;
}

export interface TracerOptions {
  /** Share of the traces that begin here which are recorded, 0 to 1; a trace that comes in says it itself. */
  readonly ratio: number;
  /** Takes spans that are over. Never waits. */
  readonly take: (span: Span) => void;
  /** @default Math.random */
  readonly random?: () => number;
}

/** Begins spans and hands on those that are over. */
export class Tracer {
  readonly #options: TracerOptions;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** A new trace. */
  root(): TraceContext {
    const { ratio, random = Math.random } = this.#options;
    return { traceId: randomBytes(16).toString('hex'), spanId: newSpanId(), parentSpanId: undefined, isSampled: random() < ratio };
  }

  /** A part within a part; undefined where nothing is recorded. */
  child(parent: Pick<TraceContext, 'traceId' | 'spanId'> & Partial<TraceContext>): TraceContext | undefined {
    if (parent.isSampled === false) return undefined;
    return { traceId: parent.traceId, spanId: newSpanId(), parentSpanId: parent.spanId, isSampled: true };
  }

  /** A part is over now. `startedAtMs`: as `performance.now` said when it began. */
  end(span: Omit<Span, 'startMs' | 'endMs'> & { readonly startedAtMs: number }): void {
    if (!span.context.isSampled) return;
    const { startedAtMs, ...facts } = span;
    const { timeOrigin } = performance;
    this.#options.take({ ...facts, startMs: timeOrigin + startedAtMs, endMs: timeOrigin + performance.now() });
  }
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

/** The header that makes what is asked for a part of the trace. */
export function traceparentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

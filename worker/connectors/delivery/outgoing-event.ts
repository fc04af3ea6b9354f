import type { TraceContext } from '../../../shared/telemetry/tracing.ts';
import type { LedgerPlace, SinkMessage } from '../connector.ts';
import type { DeadLetter } from './dead-letters.ts';
import { payloadOf } from './payload.ts';

/** Something on its way to a sink; JSON-safe, so that it can be kept in a checkpoint. */
export interface OutgoingEvent {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly time: number;
  readonly fieldsJson: string;
  readonly message: string | null;
  readonly topic: string | null;
  readonly format: 'envelope' | 'flat';
  readonly omitNull: boolean;
  /** The part of a trace that made it, where that is recorded. */
  readonly trace?: Pick<TraceContext, 'traceId' | 'spanId'>;
  /** Of a sink that awaits checkpoints. */
  readonly place?: LedgerPlace;
}

/** Why an event is given up. */
export interface Burial {
  readonly code: string;
  readonly message: string;
  /** The event itself is refused, which says nothing of the sink. */
  readonly isPermanent: boolean;
}

export const givenUp: Burial = { code: 'given_up', message: 'the pipeline was deleted before this was delivered', isPermanent: false };
export const circuitOpen: Burial = { code: 'circuit_open', message: 'the circuit breaker is open', isPermanent: false };

export function messageOf(event: OutgoingEvent, traceparent?: string): SinkMessage {
  const { id, topic, place } = event;
  const payload = payloadOf(event, event);
  if (place === undefined && traceparent === undefined) return { id, topic, payload };
  return { id, topic, payload, ...(place === undefined ? {} : { place }), ...(traceparent === undefined ? {} : { traceparent }) };
}

export interface LetterParts {
  readonly connector: string;
  readonly pipelineId: string;
  readonly burial: Burial;
  /** Requests that were really made. */
  readonly attempts: number;
}

export function letterOf(event: OutgoingEvent, { connector, pipelineId, burial, attempts }: LetterParts): DeadLetter {
  const { id, stream, type, time, fieldsJson, topic } = event;
  const isUsual = event.format === 'envelope' && !event.omitNull && event.message === null;
  return {
    timestamp: new Date().toISOString(),
    connector,
    error: burial.message,
    event: { event_type: type, timestamp: time, data: JSON.parse(fieldsJson) },
    id,
    pipeline_id: pipelineId,
    stream,
    attempts,
    code: burial.code,
    ...(topic === null ? {} : { topic }),
    ...(isUsual ? {} : { payload: payloadOf(event, event) }),
  };
}

/** The message of a dead letter as it was sent first. */
export function messageOfLetter({ id, topic, payload, event }: DeadLetter): SinkMessage {
  const { event_type: type, timestamp: time, data } = event;
  const usual = (): string =>
    payloadOf({ id, type, time, fieldsJson: JSON.stringify(data), message: null }, { format: 'envelope', omitNull: false });
  return { id, topic: topic ?? null, payload: payload ?? usual() };
}

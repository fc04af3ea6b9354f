import { decodeValue, type StoredValue } from '../../../shared/events/stored-value.ts';
import type { DeliveryOrder, PipelineSinks } from '../../connectors/delivery/pipeline-sinks.ts';
import type { ContentIds } from '../placed/content-ids.ts';
import type { InjectResult, Output, RuntimeOptions } from '../service.ts';
import type { Admission } from '../tenants/event-meter.ts';
import type { RecordResult } from '../threads/messages.ts';
import { badEventLetters } from './bad-event-letters.ts';
import type { IdempotencyWindow } from './idempotency-window.ts';
import type { Entry } from './intake.ts';
import type { OutputRing } from './output-ring.ts';
import type { PipelineTally } from './pipeline-tally.ts';
import type { ProgramLog } from './program-log.ts';
import { type OutputNaming, outputsOf, resultOf, unreadableBody } from './record-answer.ts';
import type { SourceMark } from './runtime-storage.ts';
import type { SourceMarks } from './source-marks.ts';

export interface ResultParts {
  readonly ring: OutputRing;
  readonly tally: PipelineTally;
  readonly answers: IdempotencyWindow<InjectResult>;
  readonly log: ProgramLog;
  readonly sinks: PipelineSinks;
  readonly marks: SourceMarks;
  readonly outputs: RuntimeOptions['outputs'];
  /** Makes ids of what is said. @default they are made of pipeline, record and program */
  readonly ids?: ContentIds | undefined;
}

/** Takes what an engine made of an input to where it belongs: outputs to those who follow, deliveries to sinks, the answer to who waits for it. */
export class ResultHandler {
  readonly #pipelineId: string;
  readonly #parts: ResultParts;
  readonly #admissions = new Map<Entry, Admission>();

  constructor(pipelineId: string, parts: ResultParts) {
    this.#pipelineId = pipelineId;
    this.#parts = parts;
  }

  /** The events of the entry are in flight until its result comes or `leave` is called. */
  enter(entry: Entry, admission: Admission): void {
    this.#parts.tally.eventsInFlight += admission.events;
    this.#admissions.set(entry, admission);
  }

  leave(entry: Entry): Admission | undefined {
    const admission = this.#admissions.get(entry);
    this.#admissions.delete(entry);
    this.#parts.tally.eventsInFlight -= admission?.events ?? 0;
    return admission;
  }

  /** `streams`: of the program, by index. */
  handle(entry: Entry, result: RecordResult, streams: readonly string[]): void {
    const admission = this.leave(entry);
    if (admission !== undefined && admission.events !== result.events) admission.correct(result.events - admission.events);
    const { ring, log } = this.#parts;
    const elapsedMs = performance.now() - entry.acceptedAt;
    const { ids } = this.#parts;
    const idOf: OutputNaming['idOf'] = ids && ((output) => ids.next({ kind: 'o', ...output }));
    const outputs = outputsOf(result, { pipelineId: this.#pipelineId, streams, last: ring.last, idOf });
    this.#count(entry, result, elapsedMs);
    ring.skip(result.outputs.skipped);
    for (const { stream, type, count } of result.outputs.skippedBy) {
      this.#parts.tally.output(streams[stream] ?? '', type, { seconds: elapsedMs / 1000, count });
    }
    for (const output of outputs) this.#output(output, elapsedMs);
    this.#send(result, entry.trace);
    if (entry.source !== null) this.#sourceMoved(entry, entry.source, result);
    if (result.log.length > 0) log.add(result.log);
    this.#answer(entry, result, outputs);
  }

  #count(entry: Entry, result: RecordResult, elapsedMs: number): void {
    const { tally } = this.#parts;
    tally.eventsProcessed += result.processed;
    tally.outputEventsEmitted += result.outputs.skipped + result.outputs.time.length;
    tally.eventsInvalid += result.problemsOmitted;
    for (const { code } of result.problems) {
      if (code === 'invalid_event') tally.eventsInvalid++;
      else tally.eventsRefused++;
    }
    if (entry.format !== null && result.processed > 0) tally.latency.add(elapsedMs * 1000, result.processed);
  }

  #output(output: Output, elapsedMs: number): void {
    this.#parts.ring.push(output);
    this.#parts.outputs?.push(output);
    this.#parts.tally.output(output.stream, output.eventType, { seconds: elapsedMs / 1000, count: 1 });
  }

  #send({ sequence, deliveries, deadLetters }: RecordResult, trace: Entry['trace']): void {
    if (deliveries.length + deadLetters.length === 0) return;
    const { sinks, ids } = this.#parts;
    const record = `${this.#pipelineId}-${sequence.toString(36)}`;
    for (const { mark, parameters, ...delivery } of deliveries) {
      const { stream, type, time, fieldsJson, connector, url, topic } = delivery;
      const kind = `d ${connector ?? url ?? ''} ${topic ?? ''}`;
      const id = ids?.next({ kind, stream, type, time, fieldsJson }) ?? `${record}-${mark}`;
      const decoded = parametersOf(parameters);
      sinks.take({ ...delivery, id, parameters: decoded, trace });
    }
    for (const { mark, stream, type, time, fieldsJson, reason } of deadLetters) {
      const event = { event_type: type, timestamp: time, data: JSON.parse(fieldsJson) as unknown };
      const id = ids?.next({ kind: 'x', stream, type, time, fieldsJson }) ?? `${record}-${mark}`;
      sinks.takeDeadLetter({ id, stream, event, error: reason });
    }
  }

  /** Nobody waits for an answer that would say which of its events are none: these are kept for who looks after it. */
  #sourceMoved(entry: Entry, mark: SourceMark, result: RecordResult): void {
    const { sinks, marks } = this.#parts;
    marks.through(mark);
    if (mark.answer === 'whole') return;
    const record = `${this.#pipelineId}-${result.sequence.toString(36)}`;
    for (const letter of badEventLetters(entry, mark, result)) sinks.takeDeadLetter({ ...letter, id: `${record}-e${letter.id}` });
  }

  #answer(entry: Entry, result: RecordResult, outputs: readonly Output[]): void {
    const { settle } = entry;
    entry.settle = null;
    if (result.unreadable !== null) {
      settle?.reject(unreadableBody(result.unreadable));
      return;
    }
    const answer = resultOf(result, outputs, { wanted: entry.isAnswered });
    if (entry.idempotencyKey !== null) this.#parts.answers.complete(entry.idempotencyKey, answer);
    settle?.resolve(answer);
  }
}

const noParameters: DeliveryOrder['parameters'] = new Map();

/** Most have none. */
function parametersOf(stored: readonly (readonly [string, unknown])[]): DeliveryOrder['parameters'] {
  if (stored.length === 0) return noParameters;
  return new Map(stored.map(([name, value]) => [name, decodeValue(value as StoredValue)]));
}

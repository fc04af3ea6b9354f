import type { OutputEvent } from '../../../shared/events/event.ts';
import { encodeValue } from '../../../shared/events/stored-value.ts';
import { toJson } from '../../../shared/events/text.ts';
import { limits } from '../../../shared/limits.ts';
import type { Causes, DeadLetter, Delivery, LogEntry } from '../../engine/engine.ts';
import { causesJson } from './causes-json.ts';
import { fieldsJson } from './fields-json.ts';
import type {
  OutputColumns,
  QuietResult,
  RecordProblem,
  RecordResult,
  SentDeadLetter,
  SentDelivery,
  SentLogEntry,
  SkippedOutputs,
} from './messages.ts';

/** Lines of a program's log that one record may send; more are counted in the last of them. */
const LOG_LINES_MAX = 100;

/** Collects what one record causes, in the form in which it is sent. */
export class RecordOutcome {
  readonly slot: number;
  readonly sequence: number;
  readonly #length: number;
  readonly #streams: ReadonlyMap<string, number>;
  readonly #outputsMax: number | null;
  readonly #ordinals = new Map<string, number>();
  readonly #deliveries: SentDelivery[] = [];
  readonly #deadLetters: SentDeadLetter[] = [];
  readonly #log: SentLogEntry[] = [];
  #logLines = 0;
  #logChars = 0;
  #isLogFull = false;
  readonly #problems: RecordProblem[] = [];
  readonly #problemsMax: number;
  #problemsOmitted = 0;
  readonly #started = performance.now();
  #outputs = emptyColumns();
  /** By output, or empty where nobody watches. */
  #causes: string[] = [];
  /** Of the text of the outputs. */
  #chars = 0;
  #skipped = 0;
  /** By stream and type. */
  readonly #skippedBy = new Map<string, { -readonly [K in keyof SkippedOutputs]: SkippedOutputs[K] }>();
  #eventIndex = -1;
  events = 0;
  processed = 0;
  unreadable: RecordResult['unreadable'] = null;
  notes: RecordResult['notes'] = null;
  isUntimed = false;
  isLookedUp = false;
  /** Of a tick: for how long no other can do anything, ms. */
  restMs = 0;
  #failure: RecordResult['failure'] = null;

  constructor(record: {
    readonly slot: number;
    readonly sequence: number;
    readonly length: number;
    readonly outputsMax: number | null;
    readonly streams: ReadonlyMap<string, number>;
    /** Events that are told to be invalid; further ones are counted. @default all */
    readonly problemsMax?: number;
  }) {
    this.slot = record.slot;
    this.sequence = record.sequence;
    this.#length = Math.max(0, record.length);
    this.#outputsMax = record.outputsMax;
    this.#streams = record.streams;
    this.#problemsMax = record.problemsMax ?? Number.POSITIVE_INFINITY;
  }

  /** What follows is caused by the event of this index. */
  beginEvent(index: number): void {
    this.#eventIndex = index;
  }

  /** The engine broke while it worked on the event at hand. */
  fail(message: string): void {
    this.#failure = { index: this.#eventIndex, message };
  }

  problem(problem: RecordProblem): void {
    if (problem.code === 'invalid_event' && this.#problems.length >= this.#problemsMax) this.#problemsOmitted++;
    else this.#problems.push(problem);
  }

  output({ stream, type, time, fields }: OutputEvent, causes?: Causes): void {
    const ordinal = this.#next(`o${stream}`);
    const text = fieldsJson(fields);
    const causesText = causes === undefined ? undefined : causesJson(causes);
    this.#chars += text.length + (causesText?.length ?? 0);
    this.#outputs.stream.push(this.#streams.get(stream) ?? 0);
    this.#outputs.type.push(type);
    this.#outputs.time.push(time);
    this.#outputs.event.push(this.#eventIndex);
    this.#outputs.ordinal.push(ordinal);
    this.#outputs.fields.push(text);
    if (causesText !== undefined) this.#causes.push(causesText);
    if (this.#outputsMax !== null) this.#dropLargePiece(this.#outputsMax);
  }

  deliver({ connector, url, topic, stream, type, time, fields, message, parameters }: Delivery): void {
    const mark = this.#mark('d', stream);
    const stored = Array.from(parameters, ([name, value]) => [name, encodeValue(value)] as const);
    this.#deliveries.push({
      mark,
      connector,
      url,
      topic,
      stream,
      type,
      time,
      fieldsJson: fieldsJson(fields),
      message,
      parameters: stored,
    });
  }

  deadLetter({ stream, type, time, fields, reason }: DeadLetter): void {
    this.#deadLetters.push({ mark: this.#mark('x', stream), stream, type, time, fieldsJson: fieldsJson(fields), reason });
  }

  log({ stream, level, kind, message, data }: LogEntry): void {
    this.#logLines++;
    if (this.#isLogFull) return;
    const dataJson = toJson(data);
    this.#logChars += message.length + dataJson.length;
    this.#isLogFull = this.#log.length === LOG_LINES_MAX || this.#logChars > limits.programLogCharsMax;
    if (!this.#isLogFull) this.#log.push({ stream, level, kind, message, dataJson });
  }

  /** A tick without effect says only that it is through. */
  quietOrResult(): RecordResult | QuietResult {
    const isTick = this.#length === 0 && this.events === 0 && this.unreadable === null && this.#failure === null && this.notes === null;
    const made = this.#outputs.time.length + this.#skipped + this.#deliveries.length + this.#deadLetters.length;
    return isTick && !this.isLookedUp && made + this.#logLines + this.#problems.length === 0
      ? [this.slot, this.sequence, this.#durationUs, this.restMs]
      : this.result();
  }

  get #durationUs(): number {
    return Math.round((performance.now() - this.#started) * 1000);
  }

  result(): RecordResult {
    if (this.#outputsMax !== null) this.#drop(this.#outputsMax);
    this.#tellOfLinesLeftOut();
    return {
      slot: this.slot,
      sequence: this.sequence,
      length: this.#length,
      events: this.events,
      processed: this.processed,
      problems: this.#problems,
      problemsOmitted: this.#problemsOmitted,
      unreadable: this.unreadable,
      failure: this.#failure,
      outputs: {
        ...this.#outputs,
        ...(this.#causes.length > 0 && { causes: this.#causes }),
        ...{ skipped: this.#skipped, skippedBy: [...this.#skippedBy.values()] },
      },
      deliveries: this.#deliveries,
      deadLetters: this.#deadLetters,
      log: this.#log,
      notes: this.notes,
      isUntimed: this.isUntimed,
      isLookedUp: this.isLookedUp,
      durationUs: this.#durationUs,
      restMs: 0,
    };
  }

  #tellOfLinesLeftOut(): void {
    const { length } = this.#log;
    const leftOut = this.#logLines - length;
    if (leftOut === 0) return;
    const message = `${leftOut} more lines of these events are left out`;
    this.#log.push({ stream: '', kind: 'log', ...this.#log.at(-1), level: 'warn', message, dataJson: 'null' });
  }

  #mark(kind: string, stream: string): string {
    return `${kind}${this.#streams.get(stream) ?? 0}.${this.#next(kind + stream)}`;
  }

  #next(key: string): number {
    const number = this.#ordinals.get(key) ?? 0;
    this.#ordinals.set(key, number + 1);
    return number;
  }

  #dropLargePiece(outputsMax: number): void {
    if (this.#outputs.time.length > 2 * outputsMax + 16 || this.#chars > 1.5 * limits.requestOutputCharsMax) this.#drop(outputsMax);
  }

  /** Of outputs that nobody reads, or that are too much text, only the newest are kept. */
  #drop(outputsMax: number): void {
    if (this.#outputs.time.length <= outputsMax && this.#chars <= limits.requestOutputCharsMax) return;
    const { stream, type, time, event, ordinal, fields } = this.#outputs;
    let from = Math.max(0, time.length - outputsMax);
    const sizeOf = (at: number): number => (fields[at] as string).length + (this.#causes[at]?.length ?? 0);
    this.#chars = 0;
    for (let at = from; at < time.length; at++) this.#chars += sizeOf(at);
    for (; this.#chars > limits.requestOutputCharsMax; from++) this.#chars -= sizeOf(from);
    this.#countSkipped(from);
    this.#causes = this.#causes.slice(from);
    this.#outputs = {
      stream: stream.slice(from),
      type: type.slice(from),
      time: time.slice(from),
      event: event.slice(from),
      ordinal: ordinal.slice(from),
      fields: fields.slice(from),
    };
  }

  #countSkipped(upTo: number): void {
    this.#skipped += upTo;
    const { stream: streams, type: types } = this.#outputs;
    let known: { readonly stream: number; readonly type: string; count: number } | undefined;
    for (let at = 0; at < upTo; at++) {
      const stream = streams[at] as number;
      const type = types[at] as string;
      if (known?.stream !== stream || known.type !== type) {
        const key = `${stream} ${type}`;
        known = this.#skippedBy.get(key) ?? { stream, type, count: 0 };
        this.#skippedBy.set(key, known);
      }
      known.count++;
    }
  }
}

type Growing<T> = { -readonly [K in keyof T]-?: T[K] extends readonly (infer U)[] ? U[] : T[K] };

function emptyColumns(): Growing<Omit<OutputColumns, 'skipped' | 'skippedBy' | 'causes'>> {
  return { stream: [], type: [], time: [], event: [], ordinal: [], fields: [] };
}

/** The result that a quiet one stands for. */
export function fullResult([slot, sequence, durationUs, restMs]: QuietResult): RecordResult {
  return { ...nothing, slot, sequence, durationUs, restMs };
}

const nothing: Omit<RecordResult, 'slot' | 'sequence' | 'durationUs' | 'restMs'> = {
  length: 0,
  events: 0,
  processed: 0,
  problems: [],
  problemsOmitted: 0,
  unreadable: null,
  failure: null,
  outputs: { ...emptyColumns(), skipped: 0, skippedBy: [] },
  deliveries: [],
  deadLetters: [],
  log: [],
  notes: null,
  isUntimed: false,
  isLookedUp: false,
};

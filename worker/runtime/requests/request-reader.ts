import type { InputEvent, InputSource } from '../../../shared/events/event.ts';
import { readEventTime, readMilliseconds } from '../../../shared/events/event-time.ts';
import * as is from '../../../shared/events/reading/characters.ts';
import { JsonScanner } from '../../../shared/events/reading/json-scanner.ts';
import { printPath, UnreadableText } from '../../../shared/events/reading/scan-problem.ts';
import { TimeFields, type TimeFieldsOptions } from '../../../shared/events/reading/time-fields.ts';
import type { EventSchemas } from '../../../shared/events/schema.ts';
import { unknownMembers } from '../../../shared/events/unknown-members.ts';
import { isMap, type Value, type ValueMap } from '../../../shared/events/value.ts';
import { nearestName } from '../../../shared/language/diagnostics/nearest-name.ts';
import type { InjectFormat } from '../service.ts';

/** An entry of a request: an event, or why it is none. */
export type RequestEntry = RequestEvent | RequestProblem;

export interface RequestEvent {
  readonly type: string;
  readonly fields: ValueMap;
  /** Epoch ms. */
  readonly timestamp: number | undefined;
  /** Members that mean nothing and were passed over. */
  readonly unknownMembers: readonly string[];
}

export interface RequestProblem {
  /** Path of what is wrong, empty for the entry as a whole. */
  readonly field: string;
  readonly message: string;
}

/** What a body holds: entries in order, or why it cannot be read at all. */
export type RequestReading = { readonly entries: readonly RequestEntry[] } | { readonly unreadable: UnreadableBody };

/** It is no JSON, or JSON of another shape. */
export interface UnreadableBody {
  readonly code: 'invalid_json' | 'validation_error';
  readonly message: string;
}

export function isProblem(entry: RequestEntry): entry is RequestProblem {
  return 'message' in entry;
}

/** As the engine takes it; `arrived` is its time when nothing else states one. */
export function eventOf({ type, fields, timestamp }: RequestEvent, arrived: number, source?: InputSource): InputEvent {
  return timestamp === undefined
    ? { type, fields, fallbackTime: arrived, source }
    : { type, fields, timestamp, fallbackTime: arrived, source };
}

export interface RequestReadingOptions {
  /** Name of the field that says when an event happened, before anything else does. */
  readonly timeField?: string | undefined;
  /** Declared types: a whole number too large to be exact, as nanoseconds are, may stand where they have a time. @default nothing is declared */
  readonly schemas?: EventSchemas | undefined;
  /** What a source has read: a number that it states as a time has the unit of its size, as in a file. */
  readonly isFromSource?: boolean | undefined;
  /** What stands beside the events of a batch is passed over, whatever it is. @default the body cannot be read */
  readonly isEnvelopeOpen?: boolean | undefined;
  /** Problems that are told of a body: what is wrong with further entries is left out. @default all */
  readonly problemsMax?: number | undefined;
}

/** Reads the events of requests, one body after the other. Never throws, whatever the body. */
export class RequestReader {
  readonly #scanner = new RequestScanner();

  read(text: string, format: InjectFormat, options: RequestReadingOptions = {}): RequestReading {
    const { timeField, schemas, isFromSource = false, isEnvelopeOpen = false, problemsMax = Number.POSITIVE_INFINITY } = options;
    this.#scanner.expect({ timeField, schemas });
    this.#scanner.problemsLeft = problemsMax;
    this.#scanner.isInMilliseconds = format !== 'flat' && !isFromSource;
    if (format === 'ndjson') return { entries: this.#lines(text) };
    try {
      return { entries: format === 'batch' ? this.#scanner.batch(text, isEnvelopeOpen) : [this.#scanner.only(text, format === 'flat')] };
    } catch (error) {
      if (!(error instanceof UnreadableText)) throw error;
      return { unreadable: { code: isJson(text) ? 'validation_error' : 'invalid_json', message: problemText(error) } };
    }
  }

  #lines(text: string): RequestEntry[] {
    const entries: RequestEntry[] = [];
    for (let start = 0; start < text.length; ) {
      const newline = text.indexOf('\n', start);
      const end = newline < 0 ? text.length : newline;
      const entry = this.#line(text, start, end);
      if (entry !== undefined) entries.push(this.#scanner.told(entry));
      start = end + 1;
    }
    return entries;
  }

  #line(text: string, start: number, end: number): RequestEntry | undefined {
    try {
      return this.#scanner.line(text, start, end);
    } catch (error) {
      if (!(error instanceof UnreadableText)) throw error;
      return { field: '', message: `the line is no JSON object: ${error.message}` };
    }
  }
}

/** The scanner stops at the first that is not as it should be, whatever follows. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function problemText({ at, message, hint }: UnreadableText): string {
  return `at character ${at + 1}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

const untold: RequestProblem = { field: '', message: 'not told' };

/** How an entry gives its fields: under `fields`, beside `event_type`, or either way or under `data`. */
type Shape = 'fields' | 'flat' | 'any';

class RequestScanner extends JsonScanner {
  private type: Value = null;
  /** Null is no time, but in a line as files have them it is none that is stated. */
  private timestamp: Value | undefined;
  private fields: Value | undefined;
  private data: Value | undefined;
  private flat = new Map<string, Value>();
  private times = new TimeFields({});
  /** Whether the number of a time that is stated is in milliseconds however small it is. */
  isInMilliseconds = true;
  /** Of the body at hand. */
  problemsLeft = Number.POSITIVE_INFINITY;
  #timeField: string | undefined;
  #schemas: EventSchemas | undefined;

  expect({ timeField, schemas }: TimeFieldsOptions): void {
    if (timeField === this.#timeField && schemas === this.#schemas) return;
    this.#timeField = timeField;
    this.#schemas = schemas;
    this.times = new TimeFields({ timeField, schemas });
  }

  /** A body may have millions of entries that are none: one problem stands for all that are not told. */
  told(entry: RequestEntry): RequestEntry {
    return isProblem(entry) && this.problemsLeft-- <= 0 ? untold : entry;
  }

  /** A body that is one event. */
  only(text: string, isFlat: boolean): RequestEntry {
    this.open(text, 0, text.length);
    const entry = this.entry(isFlat ? 'flat' : 'fields');
    this.requireEnd();
    return entry;
  }

  /** A body that is `{"events": [..]}`. */
  batch(text: string, isEnvelopeOpen: boolean): RequestEntry[] {
    this.open(text, 0, text.length);
    if (this.next() !== is.BRACE_OPEN) this.fail(`expected an object with \`events\`, found ${this.found()}`);
    this.at++;
    let entries: RequestEntry[] | undefined;
    if (this.next() === is.BRACE_CLOSE) this.at++;
    else
      do {
        const key = this.key();
        if (key === 'events') entries = this.entries();
        else if (isEnvelopeOpen) this.member('', 1);
        else this.fail(`unknown member '${key}' beside \`events\``, meantBy(key));
      } while (this.hasNextMember());
    this.requireEnd();
    return entries ?? this.fail('expected a member `events` with an array of events');
  }

  /** A line; undefined when it is blank. */
  line(text: string, start: number, end: number): RequestEntry | undefined {
    this.open(text, start, end);
    if (this.next() === is.END) return undefined;
    const entry = this.entry('any');
    this.requireEnd();
    return entry;
  }

  private requireEnd(): void {
    if (this.next() !== is.END) this.fail(`expected the end, found ${this.found()}`);
  }

  private entries(): RequestEntry[] {
    if (this.next() !== is.BRACKET_OPEN) this.fail(`expected an array of events, found ${this.found()}`);
    this.at++;
    const entries: RequestEntry[] = [];
    if (this.next() === is.BRACKET_CLOSE) {
      this.at++;
      return entries;
    }
    for (;;) {
      entries.push(this.told(this.entry('fields')));
      const code = this.next();
      if (code !== is.COMMA && code !== is.BRACKET_CLOSE) this.fail(`expected \`,\` or \`]\` behind an event, found ${this.found()}`);
      this.at++;
      if (code === is.BRACKET_CLOSE) return entries;
    }
  }

  private entry(shape: Shape): RequestEntry {
    if (this.problems.length > 0) this.problems = [];
    if (this.next() !== is.BRACE_OPEN) {
      const found = this.found();
      this.value(1);
      return { field: '', message: `expected an object with \`event_type\` and \`fields\`, found ${found}` };
    }
    this.begin();
    this.at++;
    if (this.next() === is.BRACE_CLOSE) this.at++;
    else
      do this.entryMember(shape);
      while (this.hasNextMember());
    return this.finish(shape);
  }

  private begin(): void {
    this.type = null;
    this.timestamp = undefined;
    this.fields = undefined;
    this.data = undefined;
    if (this.flat.size > 0) this.flat = new Map();
  }

  private entryMember(shape: Shape): void {
    const key = this.key();
    if (key === 'event_type') this.type = this.member(key, 1);
    else if (key === 'timestamp') this.timestamp = this.member(key, 1);
    else if (shape !== 'flat' && (key === 'fields' || key === 'data')) this.nested(key, shape);
    else this.flat.set(key, this.member(key, 1));
  }

  /** An object whose members are fields, so that problems in it are named from there; `fields` goes before `data`. */
  private nested(key: 'fields' | 'data', shape: Shape): void {
    const value = this.value(0);
    if (key === 'fields') this.fields = value;
    else this.data = value;
    if (shape === 'any' && !isMap(value)) this.flat.set(key, value);
  }

  private finish(shape: Shape): RequestEntry {
    const { type } = this;
    const named = type ?? (shape !== 'fields' ? this.flatType() : null);
    const problem = this.problemUnless((field) => this.times.has(typeof named === 'string' ? named : '', field));
    if (problem !== undefined) return { field: printPath(problem.path), message: problem.message };
    if (typeof named !== 'string' || named === '')
      return { field: 'event_type', message: `expected the name of the event type, found ${shown(named)}` };
    const fields = this.fieldsOf(shape);
    if (!isMap(fields)) return { field: 'fields', message: `expected an object of field values, found ${shown(fields)}` };
    const stated = this.timestamp === null && shape !== 'fields' ? undefined : this.timestamp;
    const timestamp = stated === undefined ? undefined : this.statedTime(stated);
    if (timestamp === null)
      return { field: 'timestamp', message: `expected ${this.numberWords} or RFC 3339 text, found ${shown(stated ?? null)}` };
    const outside = this.flat.size > 0 ? this.flat : fields;
    return { type: named, fields, timestamp: this.times.stated(fields, { timestamp, outside }), unknownMembers: this.unknownIn(fields) };
  }

  /** Epoch ms; null when it is no time. */
  private statedTime(value: Value): number | null {
    if (typeof value === 'number' && this.isInMilliseconds) return readMilliseconds(value) ?? null;
    return readEventTime(value) ?? null;
  }

  private get numberWords(): string {
    return this.isInMilliseconds ? 'epoch milliseconds' : 'a number since the epoch';
  }

  /** Those of the object that the fields do not stand in themselves. */
  private unknownIn(fields: ValueMap): readonly string[] {
    const isDataUnread = this.data !== undefined && fields !== this.data && !this.flat.has('data');
    const unknown = unknownMembers(this.flat, this.#timeField);
    return isDataUnread ? [...unknown, 'data'] : unknown;
  }

  private flatType(): Value {
    const type = this.flat.get('type') ?? null;
    if (type !== null) this.flat.delete('type');
    return type;
  }

  private fieldsOf(shape: Shape): Value {
    if (shape === 'fields') return this.fields ?? null;
    if (this.fields !== undefined && isMap(this.fields)) return this.fields;
    if (this.data !== undefined && isMap(this.data)) return this.data;
    const { flat } = this;
    this.flat = new Map();
    return flat;
  }
}

/** What else such a request may say stands in its query. */
const QUERY = ['durable', 'outputs', 'time_field'];

function meantBy(key: string): string | undefined {
  const nearest = QUERY.includes(key) ? key : nearestName(key, ['events', ...QUERY]);
  if (nearest === undefined) return undefined;
  return QUERY.includes(nearest) ? `did you mean the query parameter '${nearest}'?` : `did you mean '${nearest}'?`;
}

function shown(value: Value): string {
  if (value === null) return 'nothing';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return 'a bool';
  return isMap(value) ? 'an object' : 'an array';
}

import { PLAIN_TIME_LENGTHS, readEventTime, readPlainTime } from '../event-time.ts';
import { unknownMembers } from '../unknown-members.ts';
import type { Value, ValueMap } from '../value.ts';
import * as is from './characters.ts';
import { JsonScanner } from './json-scanner.ts';
import type { ReaderOptions } from './read-result.ts';
import type { ValueProblem } from './scan-problem.ts';
import { TimeFields } from './time-fields.ts';

/** An event as a JSON object states it. */
export interface JsonEvent {
  readonly type: string;
  readonly fields: ValueMap;
  /** Epoch milliseconds that the envelope states. */
  readonly timestamp: number | undefined;
}

/**
 * Reads `{"event_type": .., "timestamp": .., <fields>}`, or the same with the fields under `data`. Without `event_type` the
 * member `type` names the type; with it `type` is a field. When `data` is an object, no other member is a field.
 */
export class JsonEventScanner extends JsonScanner {
  private readonly markFloats: boolean;
  private readonly times: TimeFields;
  private eventType: Value = null;
  private timestamp: Value = null;
  /** Epoch milliseconds, when `timestamp` was in the usual form. */
  private plainTimestamp: number | undefined;
  private flat = new Map<string, Value>();
  /** The object under `data`. */
  private data: ValueMap | undefined;
  private floats: string[] = [];
  private unknown: readonly string[] = [];
  private readonly timeField: string | undefined;

  constructor(options: ReaderOptions = {}) {
    super();
    this.markFloats = options.markFloats ?? false;
    this.times = new TimeFields(options);
    this.timeField = options.timeField;
  }

  /** Why no schema could admit the event just read. */
  get problem(): ValueProblem | undefined {
    return this.problemUnless((field) => this.times.has(this.typeSoFar, field));
  }

  /** Behind what was read. */
  get position(): number {
    return this.at;
  }

  /** The fields that hold a whole number written as a float. */
  get wholeFloats(): readonly string[] {
    return this.floats;
  }

  /** Members beside the object with the fields that mean nothing. */
  get unknownMembers(): readonly string[] {
    return this.unknown;
  }

  /** The type, as far as the object was read; empty when it has not been seen. */
  get typeSoFar(): string {
    if (typeof this.eventType === 'string') return this.eventType;
    const type = this.flat.get('type');
    return typeof type === 'string' ? type : '';
  }

  /** The event of a line that holds nothing else; undefined when the line is blank. @throws UnreadableText */
  lineEvent(text: string, start: number, end: number): JsonEvent | undefined {
    this.open(text, start, end);
    if (this.next() === is.END) return undefined;
    const event = this.event(text, this.at, end);
    if (this.next() !== is.END)
      this.fail(`expected the end of the line behind the object, found ${this.found()}`, 'each event stands on a line of its own');
    return event;
  }

  /** The event at `start`; `position` is behind it afterwards. @throws UnreadableText */
  event(text: string, start: number, end: number): JsonEvent {
    this.open(text, start, end);
    this.object();
    return this.envelope(start);
  }

  protected override open(text: string, start: number, end: number): void {
    super.open(text, start, end);
    this.eventType = null;
    this.timestamp = null;
    this.plainTimestamp = undefined;
    this.data = undefined;
    if (this.flat.size > 0) this.flat = new Map();
    if (this.floats.length > 0) this.floats = [];
    if (this.unknown.length > 0) this.unknown = [];
  }

  private object(): void {
    if (this.next() !== is.BRACE_OPEN)
      this.fail(`expected a JSON object, found ${this.found()}`, 'each line holds one event: {"event_type": "A", "x": 1}');
    this.at++;
    if (this.next() === is.BRACE_CLOSE) {
      this.at++;
      return;
    }
    do this.topMember();
    while (this.hasNextMember());
  }

  private topMember(): void {
    const key = this.key();
    if (key === 'data' && this.next() === is.BRACE_OPEN) {
      this.data = this.dataFields();
      return;
    }
    if (key === 'timestamp') {
      this.plainTimestamp = this.plainTime();
      this.timestamp = this.plainTimestamp === undefined ? this.member(key, 1) : null;
      return;
    }
    this.sawWholeFloat = false;
    const value = this.member(key, 1);
    if (key === 'event_type') this.eventType = value;
    else this.flat.set(key, value);
    if (key === 'data') this.data = undefined;
    if (this.sawWholeFloat && this.markFloats) this.floats.push(key);
  }

  /** The object under `data`, whose members are the fields. */
  private dataFields(): ValueMap {
    const fields = new Map<string, Value>();
    this.floats = [];
    this.at++;
    if (this.next() === is.BRACE_CLOSE) {
      this.at++;
      return fields;
    }
    do {
      const key = this.key();
      this.sawWholeFloat = false;
      fields.set(key, this.member(key, 1));
      if (this.sawWholeFloat && this.markFloats) this.floats.push(key);
    } while (this.hasNextMember());
    return fields;
  }

  private envelope(start: number): JsonEvent {
    const isFlatType = this.eventType === null;
    const type = isFlatType ? this.flat.get('type') : this.eventType;
    if (typeof type !== 'string' || type === '') {
      this.at = start;
      this.fail('expected a member `event_type` with the name of the event type', 'for example {"event_type": "A", "x": 1}');
    }
    this.eventType = type;
    const outside = this.flat;
    if (isFlatType) outside.delete('type');
    const fields = this.data ?? outside;
    if (fields === outside) this.flat = new Map();
    else this.unknown = unknownMembers(outside, this.timeField);
    return { type, fields, timestamp: this.times.stated(fields, { timestamp: this.envelopeTime(), outside }) };
  }

  /** Moves behind a time in the usual form without making a string of it that nothing keeps. */
  private plainTime(): number | undefined {
    if (this.next() !== is.QUOTE) return undefined;
    const start = this.at + 1;
    for (const length of PLAIN_TIME_LENGTHS) {
      const end = start + length;
      if (end >= this.end || this.text.charCodeAt(end) !== is.QUOTE) continue;
      const time = readPlainTime(this.text.slice(start, end));
      if (time !== undefined) this.at = end + 1;
      return time;
    }
    return undefined;
  }

  private envelopeTime(): number | undefined {
    if (this.timestamp === null) return this.plainTimestamp;
    const time = readEventTime(this.timestamp);
    if (time === undefined) {
      this.problems.push({
        path: ['timestamp'],
        isInexact: false,
        message: 'expected ISO 8601 text such as "2026-01-31T10:00:00Z", or epoch seconds or milliseconds',
      });
    }
    return time;
  }
}

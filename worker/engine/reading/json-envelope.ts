import * as is from '../../../shared/events/reading/characters.ts';
import { bytesOf, type Literal, literal, matches } from './literal.ts';
import { marks, type ReadingState, times } from './marks.ts';
import { numberTime, type PlainTimes, plainTimeBytes } from './plain-time.ts';
import { behindBlanks, member, standsAt } from './spacing.ts';

export const EVENT_TYPE = { bytes: bytesOf('"event_type"'), isQuoted: true };
const TYPE = { bytes: bytesOf('"type"'), isQuoted: true };
export const TIMESTAMP = { bytes: bytesOf('"timestamp"'), isQuoted: false };
export const DATA = { bytes: bytesOf('"data"'), isQuoted: false };
/** The same as programs write it: without blanks, or with one behind each comma and colon. */
const TIME_LEADS = [',"timestamp":', ', "timestamp": '].map(leadOf);
const DATA_LEADS = [',"data":{', ', "data": {'].map(leadOf);
const NESTED_END = bytesOf('}}\n');
/** Digits of a whole number that certainly fits a double. */
const EXACT_DIGITS_MAX = 15;

/** Members of a JSON event's envelope; a field of one of these names can only be told from it under `data`. */
export const envelopeMembers: ReadonlySet<string> = new Set(['event_type', 'type', 'timestamp', 'data']);

/**
 * What surrounds the fields of a JSON event: the brackets, its type's name and its time. Each function moves over a part of
 * it and returns the position behind that, 0 when something else stands there.
 */
export interface Envelope {
  /** From the start of the event to the name of the type, behind the quote that opens it. */
  head(bytes: Uint8Array, words: DataView, at: number): number;
  /** From behind the name of the type to the first field's name. */
  body(bytes: Uint8Array, words: DataView, at: number): number;
  /** From behind the last field to behind the event. */
  end(bytes: Uint8Array, words: DataView, at: number): number;
}

/** That of a JSON event on a line of its own. */
export class JsonEnvelope implements Envelope {
  protected readonly marks: Int32Array;
  protected readonly times: Float64Array;
  private readonly plainTimes: PlainTimes;

  constructor(state: ReadingState, plainTimes: PlainTimes) {
    this.marks = state.marks;
    this.times = state.times;
    this.plainTimes = plainTimes;
  }

  /** From the start of a line to the name of the type, behind the quote that opens it. A time may stand in front. */
  head(bytes: Uint8Array, words: DataView, at: number): number {
    const open = behindBlanks(bytes, at);
    if (bytes[open] !== is.BRACE_OPEN) return 0;
    let next = behindBlanks(bytes, open + 1);
    if (!standsAt(bytes, next, TIMESTAMP.bytes)) return typeMember(bytes, next, 0);
    next = this.timeMember(bytes, words, next);
    return next === 0 ? 0 : typeMember(bytes, next, is.COMMA);
  }

  /** From behind the name of the type to the first field's name. */
  body(bytes: Uint8Array, words: DataView, at: number): number {
    const timed = behindLead(words, at, TIME_LEADS);
    let next = timed === 0 ? at : this.timeValue(bytes, words, timed);
    if (next === 0) return 0;
    const fields = behindLead(words, next, DATA_LEADS);
    if (fields !== 0) return this.nested(fields);
    next = behindComma(bytes, next);
    if (next !== 0 && standsAt(bytes, next, TIMESTAMP.bytes)) {
      next = this.timeMember(bytes, words, next);
      if (next !== 0) next = behindComma(bytes, next);
    }
    if (next === 0) return 0;
    const data = member(bytes, next, 0, DATA);
    if (data !== 0) return bytes[data] === is.BRACE_OPEN ? this.nested(behindBlanks(bytes, data + 1)) : 0;
    this.marks[marks.isNested] = 0;
    return next;
  }

  /** From behind the last field to behind the line feed. */
  end(bytes: Uint8Array, words: DataView, at: number): number {
    const isNested = this.marks[marks.isNested] === 1;
    if (isNested && standsAt(bytes, at, NESTED_END)) return at + NESTED_END.length;
    let next = behindBlanks(bytes, at);
    if (isNested) {
      if (bytes[next] !== is.BRACE_CLOSE) return 0;
      next = behindBlanks(bytes, next + 1);
    }
    if (bytes[next] === is.COMMA) {
      next = this.timeMember(bytes, words, behindBlanks(bytes, next + 1));
      if (next === 0) return 0;
      next = behindBlanks(bytes, next);
    }
    if (bytes[next] !== is.BRACE_CLOSE) return 0;
    next = behindBlanks(bytes, next + 1);
    return bytes[next] === is.LINE_FEED ? next + 1 : 0;
  }

  protected nested(at: number): number {
    this.marks[marks.isNested] = 1;
    return at;
  }

  /** Reads `"timestamp": ..`, once. A text in another than the usual forms, or a number with a point, is left to the long way. */
  protected timeMember(bytes: Uint8Array, words: DataView, at: number): number {
    const value = member(bytes, at, 0, TIMESTAMP);
    return value === 0 ? 0 : this.timeValue(bytes, words, value);
  }

  private timeValue(bytes: Uint8Array, words: DataView, at: number): number {
    if (!Number.isNaN(this.times[times.envelope] as number)) return 0;
    return bytes[at] === is.QUOTE ? this.textTime(bytes, words, at + 1) : this.numberTime(bytes, at);
  }

  private textTime(bytes: Uint8Array, words: DataView, at: number): number {
    const time = this.plainTimes.read(bytes, words, at);
    this.times[times.envelope] = time;
    return Number.isNaN(time) ? 0 : at + plainTimeBytes(bytes, at);
  }

  private numberTime(bytes: Uint8Array, at: number): number {
    let next = at;
    let value = 0;
    for (; is.isDigit(bytes[next] as number); next++) value = value * 10 + ((bytes[next] as number) - is.ZERO);
    const digits = next - at;
    if (digits === 0 || digits > EXACT_DIGITS_MAX || (digits > 1 && bytes[at] === is.ZERO)) return 0;
    const time = this.timeOf(value);
    this.times[times.envelope] = time;
    return Number.isNaN(time) ? 0 : next;
  }

  /** Epoch milliseconds of a whole number; NaN when it is no point in time. */
  protected timeOf(value: number): number {
    return numberTime(value);
  }
}

interface Lead {
  readonly text: Literal;
  readonly length: number;
}

function leadOf(text: string): Lead {
  return { text: literal(text), length: text.length };
}

/** Behind the first of these that stands at `at`; 0 when none does. */
function behindLead(words: DataView, at: number, leads: readonly Lead[]): number {
  for (const { text, length } of leads) if (matches(words, at, text)) return at + length;
  return 0;
}

function typeMember(bytes: Uint8Array, at: number, mark: number): number {
  return member(bytes, at, mark, EVENT_TYPE) || member(bytes, at, mark, TYPE);
}

/** Behind a comma and blanks around it; 0 when none stands there. */
export function behindComma(bytes: Uint8Array, at: number): number {
  const comma = behindBlanks(bytes, at);
  return bytes[comma] === is.COMMA ? behindBlanks(bytes, comma + 1) : 0;
}

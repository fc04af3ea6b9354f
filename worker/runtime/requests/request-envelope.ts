import { readMilliseconds } from '../../../shared/events/event-time.ts';
import * as is from '../../../shared/events/reading/characters.ts';
import { behindComma, DATA, EVENT_TYPE, JsonEnvelope, TIMESTAMP } from '../../engine/reading/json-envelope.ts';
import { bytesOf, literal, matches } from '../../engine/reading/literal.ts';
import { marks, type ReadingState } from '../../engine/reading/marks.ts';
import type { PlainTimes } from '../../engine/reading/plain-time.ts';
import { behindBlanks, member, standsAt } from '../../engine/reading/spacing.ts';

const FIELDS = { bytes: bytesOf('"fields"'), isQuoted: false };
const COMPACT_FIELDS = ',"fields":{';
const fieldsLiteral = literal(COMPACT_FIELDS);

/** What a body is. */
export interface BodyForm {
  /** It has an event on each line: fields may also stand under `data` or beside the type, and the type under `type`. */
  isLines: boolean;
  /** A source has read it: numbers that state a time have the unit of their size. */
  isFromSource: boolean;
}

/** What surrounds the fields of an event in a request, as far as it is usual; `RequestReader` knows all of it. */
export class RequestEnvelope extends JsonEnvelope {
  readonly #form: BodyForm;

  constructor(form: BodyForm, state: ReadingState, plainTimes: PlainTimes) {
    super(state, plainTimes);
    this.#form = form;
  }

  override head(bytes: Uint8Array, words: DataView, at: number): number {
    if (this.#form.isLines) return super.head(bytes, words, at);
    const open = behindBlanks(bytes, at);
    return bytes[open] === is.BRACE_OPEN ? member(bytes, open + 1, 0, EVENT_TYPE) : 0;
  }

  override body(bytes: Uint8Array, words: DataView, at: number): number {
    if (matches(words, at, fieldsLiteral)) return this.nested(at + COMPACT_FIELDS.length);
    let next = behindComma(bytes, at);
    if (next !== 0 && standsAt(bytes, next, TIMESTAMP.bytes)) {
      next = this.timeMember(bytes, words, next);
      if (next !== 0) next = behindComma(bytes, next);
    }
    if (next === 0) return 0;
    const fields = member(bytes, next, 0, FIELDS) || (this.#form.isLines ? member(bytes, next, 0, DATA) : 0);
    if (fields !== 0) return bytes[fields] === is.BRACE_OPEN ? this.nested(behindBlanks(bytes, fields + 1)) : 0;
    this.marks[marks.isNested] = 0;
    return this.#form.isLines ? next : 0;
  }

  override end(bytes: Uint8Array, words: DataView, at: number): number {
    let next = behindBlanks(bytes, at);
    if (this.marks[marks.isNested] === 1) {
      if (bytes[next] !== is.BRACE_CLOSE) return 0;
      next = behindBlanks(bytes, next + 1);
    }
    if (bytes[next] === is.COMMA) {
      next = this.timeMember(bytes, words, behindBlanks(bytes, next + 1));
      if (next === 0) return 0;
      next = behindBlanks(bytes, next);
    }
    return bytes[next] === is.BRACE_CLOSE ? next + 1 : 0;
  }

  /** Requests state epoch milliseconds, however small the number. */
  protected override timeOf(value: number): number {
    if (this.#form.isFromSource) return super.timeOf(value);
    return readMilliseconds(value) ?? Number.NaN;
  }
}

import { InvariantError } from '../../../shared/errors/error.ts';
import type { InputEvent, InputSource } from '../../../shared/events/event.ts';
import { asciiDecoder } from '../../../shared/events/reading/ascii-decoder.ts';
import * as is from '../../../shared/events/reading/characters.ts';
import type { EventSchemas } from '../../../shared/events/schema.ts';
import type { EventEntries } from '../../engine/fusion/event-entry.ts';
import { bytesOf } from '../../engine/reading/literal.ts';
import { PlainEventReader } from '../../engine/reading/plain-event-reader.ts';
import { behindBlanks, member } from '../../engine/reading/spacing.ts';
import { type BodyForm, RequestEnvelope } from './request-envelope.ts';
import { eventOf, isProblem, type RequestEntry, type RequestReader } from './request-reader.ts';

const EVENTS = { bytes: bytesOf('"events"'), isQuoted: false };
/** So many entries may be other than plain before their share counts. */
const OTHERS_FREE = 256;
const OTHERS_SHARE_MAX = 0.25;
/** Bodies that are not looked at behind one whose events are mostly not plain. */
const PAUSE_BODIES = 15;
const ENTRIES_MIN = 1024;
/** In the place of a type: an entry that is not plain. */
const OTHER = -1;

/** Plain events of one type. */
export interface PlainEvents {
  readonly type: string;
  readonly count: number;
}

/** What brought a body. */
export interface BodyOrigin {
  /** The binding that it came through, as far as the program has it. */
  readonly source: InputSource | undefined;
  readonly isFromSource: boolean;
}

/**
 * Looks at bodies whose events are mostly plain ones of declared types, and enters those. A body is looked at as a whole
 * before anything of it happens: one that cannot be read changes nothing. Holds one body at a time.
 */
export class PlainBodies {
  readonly #general: RequestReader;
  readonly #schemas: EventSchemas;
  readonly #isOf: EventEntries['isOf'];
  readonly #form: BodyForm = { isLines: false, isFromSource: false };
  readonly #reader: PlainEventReader;
  readonly #types: readonly string[];
  #bytes: Uint8Array = new Uint8Array();
  #end = 0;
  #count = 0;
  #starts = new Int32Array(ENTRIES_MIN);
  #kinds = new Int32Array(ENTRIES_MIN);
  readonly #others = new Map<number, RequestEntry>();
  #arrival = 0;
  /** Of the body that is held. */
  #source: InputSource | undefined;
  /** By binding, whether the events of each type may be entered that come through it. */
  readonly #kindsOf = new Map<string, readonly boolean[]>();
  /** Those of the body that is held; null: all may. */
  #mayEnter: readonly boolean[] | null = null;
  #pause = 0;

  constructor(entries: EventEntries, general: RequestReader, schemas: EventSchemas) {
    this.#general = general;
    this.#schemas = schemas;
    this.#isOf = entries.isOf;
    this.#reader = new PlainEventReader(entries, {
      envelope: (state, plainTimes) => new RequestEnvelope(this.#form, state, plainTimes),
      whole: (at) => this.#whole(at),
      decode: asciiDecoder(),
    });
    this.#types = this.#reader.types;
  }

  /** Entries of the body. */
  get count(): number {
    return this.#count;
  }

  /**
   * True when the body is now held. False when it is not mostly plain, or cannot be read: `RequestReader` knows what to say.
   * Behind the body 16 bytes of 0 must stand in its memory. `source`: the binding that it came through.
   */
  hold(body: Uint8Array, format: 'batch' | 'ndjson', { source, isFromSource }: BodyOrigin): boolean {
    if (this.#types.length === 0 || this.#pause-- > 0) return false;
    this.#pause = 0;
    this.#source = source;
    this.#mayEnter = source === undefined ? null : this.#entering(source);
    this.#reader.partition = source?.partition ?? null;
    this.#form.isLines = format === 'ndjson';
    this.#form.isFromSource = isFromSource;
    this.#bytes = new Uint8Array(body.buffer);
    this.#end = body.byteOffset + body.length;
    this.#count = 0;
    this.#others.clear();
    this.#reader.open(body);
    return format === 'ndjson' ? this.#holdLines(body.byteOffset) : this.#holdBatch(body.byteOffset);
  }

  #entering({ id }: InputSource): readonly boolean[] | null {
    let kinds = this.#kindsOf.get(id);
    if (kinds === undefined) {
      kinds = this.#types.map((type) => this.#isOf(type, id));
      this.#kindsOf.set(id, kinds);
    }
    return kinds.every((mayEnter) => mayEnter) ? null : kinds;
  }

  /** Behind the plain event at `at`, which may be entered; 0 when there is none. */
  #check(at: number): number {
    const next = this.#reader.check(at);
    return next === 0 || this.#mayEnter === null || this.#mayEnter[this.#reader.kind] === true ? next : 0;
  }

  /** The entry at this index; undefined when it is a plain event. */
  other(index: number): RequestEntry | undefined {
    return this.#others.get(index);
  }

  /** Enters the plain event at this index. `arrival`: its time unless it states one, epoch ms. */
  enter(index: number, arrival: number): void {
    this.#arrival = arrival;
    this.#reader.enter(this.#starts[index] as number, arrival);
  }

  /** The plain events among the entries from `start` to `end` by type. */
  seen(start: number, end: number): readonly PlainEvents[] {
    const found = this.#types.map((type) => ({ type, count: 0 }));
    for (let index = start; index < end; index++) {
      const events = found[this.#kinds[index] as number];
      if (events !== undefined) events.count++;
    }
    return found.filter(({ count }) => count > 0);
  }

  #holdBatch(start: number): boolean {
    const bytes = this.#bytes;
    let at = this.#behindWhite(start);
    if (bytes[at] !== is.BRACE_OPEN) return false;
    at = member(bytes, this.#behindWhite(at + 1), 0, EVENTS);
    if (at === 0 || bytes[at] !== is.BRACKET_OPEN) return false;
    do {
      at = this.#holdEvent(this.#behindWhite(at + 1));
      if (at === 0) return false;
      at = this.#behindWhite(at);
    } while (bytes[at] === is.COMMA);
    if (bytes[at] !== is.BRACKET_CLOSE) return false;
    at = this.#behindWhite(at + 1);
    return bytes[at] === is.BRACE_CLOSE && this.#behindWhite(at + 1) === this.#end;
  }

  /** Takes notice of the event at `at` and returns the position behind it; 0 when the whole body is left to the other reader. */
  #holdEvent(at: number): number {
    const next = this.#check(at);
    if (next !== 0) {
      this.#add(at, this.#reader.kind);
      return next;
    }
    const end = this.#endOfObject(at);
    return end !== 0 && this.#holdOther(at, end) ? end : 0;
  }

  #holdLines(start: number): boolean {
    for (let at = this.#behindWhite(start); at < this.#end; at = this.#behindWhite(at)) {
      const next = this.#check(at);
      const behind = next === 0 ? 0 : behindBlanks(this.#bytes, next);
      if (behind === this.#end || (behind !== 0 && this.#bytes[behind] === is.LINE_FEED)) {
        this.#add(at, this.#reader.kind);
        at = behind;
        continue;
      }
      const end = this.#endOfLine(at);
      if (!this.#holdOther(at, end)) return false;
      at = end;
    }
    return true;
  }

  #endOfLine(at: number): number {
    const end = this.#bytes.indexOf(is.LINE_FEED, at);
    return end < 0 || end > this.#end ? this.#end : end;
  }

  /** Behind the object at `at`; 0 when there is none. */
  #endOfObject(at: number): number {
    const bytes = this.#bytes;
    let depth = 0;
    for (let next = at; next < this.#end; next++) {
      const byte = bytes[next];
      if (byte === is.QUOTE) {
        for (next++; next < this.#end && bytes[next] !== is.QUOTE; next++) if (bytes[next] === is.BACKSLASH) next++;
      } else if (byte === is.BRACE_OPEN) depth++;
      else if (byte === is.BRACE_CLOSE && --depth === 0) return next + 1;
      if (depth === 0) return 0;
    }
    return 0;
  }

  #add(start: number, kind: number): void {
    if (this.#count === this.#starts.length) this.#grow();
    this.#starts[this.#count] = start;
    this.#kinds[this.#count++] = kind;
  }

  #grow(): void {
    const length = this.#count * 2;
    const grown = (array: Int32Array): Int32Array<ArrayBuffer> => {
      const into = new Int32Array(length);
      into.set(array);
      return into;
    };
    this.#starts = grown(this.#starts);
    this.#kinds = grown(this.#kinds);
  }

  /** Reads what is not plain the general way. False when the whole body is better read so. */
  #holdOther(start: number, end: number): boolean {
    const entry = this.#readGenerally(start, end);
    if (entry === undefined) return false;
    if (!isProblem(entry)) this.#reader.meet(eventOf(entry, 0));
    this.#others.set(this.#count, entry);
    this.#add(start, OTHER);
    const others = this.#others.size;
    if (others <= OTHERS_FREE || others <= this.#count * OTHERS_SHARE_MAX) return true;
    this.#pause = PAUSE_BODIES;
    return false;
  }

  #readGenerally(start: number, end: number): RequestEntry | undefined {
    const text = Buffer.from(this.#bytes.buffer, start, end - start).toString('utf8');
    const { isLines, isFromSource } = this.#form;
    const reading = this.#general.read(text, isLines ? 'ndjson' : 'event', { isFromSource, schemas: this.#schemas });
    return 'unreadable' in reading ? undefined : reading.entries[0];
  }

  #whole(at: number): InputEvent {
    const entry = this.#readGenerally(at, this.#endOfObject(at));
    if (entry === undefined || isProblem(entry)) throw new InvariantError('a plain event is none to the other reader');
    return eventOf(entry, this.#arrival, this.#source);
  }

  #behindWhite(at: number): number {
    let next = at;
    while (isWhite(this.#bytes[next])) next++;
    return next;
  }
}

function isWhite(byte: number | undefined): boolean {
  return byte === is.BLANK || byte === is.LINE_FEED || byte === is.CARRIAGE_RETURN || byte === is.TAB;
}

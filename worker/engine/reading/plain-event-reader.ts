import { InvariantError } from '../../../shared/errors/error.ts';
import type { InputEvent } from '../../../shared/events/event.ts';
import { loadGenerated } from '../compile/load.ts';
import { verifyGenerated } from '../compile/verify.ts';
import type { EventEntries, EventEntry } from '../fusion/event-entry.ts';
import { hasFastPath } from './fast-path.ts';
import type { Envelope } from './json-envelope.ts';
import { Layouts } from './layouts.ts';
import { createReadingState, marks, type ReadingState, times } from './marks.ts';
import type { PlainTimes } from './plain-time.ts';
import { printEventReader } from './print-reader.ts';
import { type DecodeText, TextTable } from './text-table.ts';
import { readingLibrary, readingParameters, readingVocabulary } from './vocabulary.ts';

export interface PlainEventOptions {
  /** What stands around the fields of an event. */
  readonly envelope: (state: ReadingState, plainTimes: PlainTimes) => Envelope;
  /** The event at this position, as the general reader reads it. */
  readonly whole: (at: number) => InputEvent;
  /** How text is made of ASCII bytes. */
  readonly decode: DecodeText;
}

type ReadEvent = (bytes: Uint8Array, words: DataView, at: number) => number;

const NO_BYTES = new Uint8Array();

/**
 * Reads plain JSON events one at a time, wherever they stand in a body, into a running engine: declared types with all their
 * fields in an order that is usual. `check` comes first and changes nothing, so that a body can be looked at as a whole
 * before anything of it happens.
 */
export class PlainEventReader {
  readonly #entries: EventEntries;
  readonly #known: readonly EventEntry[];
  readonly #options: PlainEventOptions;
  readonly #state = createReadingState();
  readonly #texts: TextTable;
  readonly #layouts: Layouts;
  #isStale = true;
  #check: ReadEvent = () => 0;
  #enter: ReadEvent = () => 0;
  #bytes: Uint8Array = NO_BYTES;
  #words: DataView = new DataView(NO_BYTES.buffer);
  readonly #source = (): InputEvent => this.#options.whole(this.#state.marks[marks.lineStart] as number);
  /** Where in a broker the events come from that are entered. */
  partition: string | null = null;
  /** Of the event that `check` moved over last: its type's position in `types`. */
  kind = 0;

  constructor(entries: EventEntries, options: PlainEventOptions) {
    this.#entries = entries;
    this.#known = entries.entries.filter(hasFastPath);
    this.#options = options;
    this.#texts = new TextTable(options.decode);
    this.#layouts = new Layouts(this.#known);
  }

  /** Types of which there can be plain events. */
  get types(): readonly string[] {
    return this.#known.map(({ type }) => type);
  }

  /** Positions are from now on those in the memory of `bytes`, behind which 16 more bytes must stand. */
  open({ buffer }: Uint8Array): void {
    if (this.#isStale) this.#load();
    if (this.#bytes.buffer === buffer) return;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new DataView(buffer);
  }

  /** Moves over the event at `at` and returns the position behind it; 0 when it is not plain. Enters nothing. */
  check(at: number): number {
    return this.#check(this.#bytes, this.#words, at);
  }

  /** Enters the event at `at`, which `check` has moved over. `arrival`: its time unless it states one, epoch ms. */
  enter(at: number, arrival: number): void {
    this.#state.times[times.current] = arrival;
    this.#entries.source = this.#source;
    this.#entries.place.partition = this.partition;
    if (this.#enter(this.#bytes, this.#words, at) === 0) throw new InvariantError('an event that was looked at cannot be entered');
  }

  /** Takes notice of an event that was not plain: the order of its fields may be a usual one. */
  meet(event: InputEvent): void {
    if (this.#layouts.meet(event)) this.#isStale = true;
  }

  #load(): void {
    this.#isStale = false;
    this.#enter = this.#print((entry) => entry);
    this.#check = this.#print((entry) => this.#checked(entry));
  }

  #print(form: (entry: EventEntry) => EventEntry): ReadEvent {
    const formed = new Map(this.#known.map((entry) => [entry, form(entry)]));
    const expected = this.#layouts.all.map(({ entry, layout }) => ({ entry: formed.get(entry) ?? entry, layout }));
    const { envelope } = this.#options;
    const { text, constants } = printEventReader(expected, {
      state: this.#state,
      texts: this.#texts,
      envelope: (plainTimes) => envelope(this.#state, plainTimes),
    });
    verifyGenerated(text, readingVocabulary);
    return loadGenerated(text, readingParameters, 'events')(constants, ...Object.values(readingLibrary)) as ReadEvent;
  }

  /** The same form without effects: only what it is, is kept. */
  #checked(entry: EventEntry): EventEntry {
    const kind = this.#known.indexOf(entry);
    const enter = (): void => {
      this.kind = kind;
    };
    return { ...entry, fields: entry.fields.map((field) => ({ ...field, isRead: false, isChecked: field.isRead })), enter };
  }
}

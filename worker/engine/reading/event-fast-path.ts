import type { Fields, InputEvent } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import { loadGenerated } from '../compile/load.ts';
import { verifyGenerated } from '../compile/verify.ts';
import type { EventEntries } from '../fusion/event-entry.ts';
import { hasFastPath } from './fast-path.ts';
import { type FieldsForm, printFastPath } from './print-fast-path.ts';
import { readingLibrary, readingParameters, readingVocabulary } from './vocabulary.ts';

/** An event as parsed JSON holds it: a plain object of fields, of which none need be checked. */
export interface EventRecord {
  readonly type: string;
  readonly fields: Readonly<Record<string, Value>>;
  /** Epoch milliseconds that the envelope states. */
  readonly timestamp?: number | undefined;
  /** Epoch milliseconds when nothing else says the time. */
  readonly fallbackTime: number;
}

/** Gives true when it entered the event, false when it did nothing: the event then goes to `Engine.push`. */
type Take<T> = (fields: T, stated: number, arrival: number) => boolean;

/** The fast path into a running engine for events that are objects. */
export class EventFastPath {
  readonly #entries: EventEntries;
  /** By type; made when the first event of that form comes. */
  #maps: ReadonlyMap<string, Take<Fields>> | undefined;
  #records: ReadonlyMap<string, Take<EventRecord['fields']>> | undefined;
  #event: InputEvent | undefined;
  #record: EventRecord | undefined;
  readonly #source = (): InputEvent => this.#event ?? eventOf(this.#record as EventRecord);

  constructor(entries: EventEntries) {
    this.#entries = entries;
  }

  /** Enters a plain event that moves no other clock than events of its type do anyway. False when it is not one: nothing has happened then. */
  push(event: InputEvent): boolean {
    this.#maps ??= load(this.#entries, 'map');
    const take = this.#maps.get(event.type);
    if (take === undefined || !hasFiniteTimes(event)) return false;
    const { source } = event;
    if (source !== undefined && !this.#entries.isOf(event.type, source.id)) return false;
    this.#event = event;
    this.#entries.source = this.#source;
    this.#entries.place.partition = source?.partition ?? null;
    const isEntered = take(event.fields, event.timestamp ?? Number.NaN, event.fallbackTime);
    this.#entries.place.partition = null;
    this.#event = undefined;
    return isEntered;
  }

  /** The same for an event whose fields are a plain object. */
  pushRecord(event: EventRecord): boolean {
    this.#records ??= load(this.#entries, 'record');
    const take = this.#records.get(event.type);
    if (take === undefined || !hasFiniteTimes(event)) return false;
    this.#record = event;
    this.#entries.source = this.#source;
    const isEntered = take(event.fields, event.timestamp ?? Number.NaN, event.fallbackTime);
    this.#record = undefined;
    return isEntered;
  }
}

function load<T>(entries: EventEntries, form: FieldsForm): ReadonlyMap<string, Take<T>> {
  const taken = entries.entries.filter(hasFastPath);
  const { text, constants } = printFastPath(taken, form);
  verifyGenerated(text, readingVocabulary);
  const takes = loadGenerated(text, readingParameters, 'door')(constants, ...Object.values(readingLibrary)) as readonly Take<T>[];
  return new Map(taken.map(({ type }, at) => [type, takes[at] as Take<T>]));
}

function hasFiniteTimes({ timestamp, fallbackTime }: Pick<EventRecord, 'timestamp' | 'fallbackTime'>): boolean {
  return Number.isFinite(fallbackTime) && (timestamp === undefined || Number.isFinite(timestamp));
}

/** The event that `Engine.push` takes in the place of a record. */
export function eventOf({ type, fields, timestamp, fallbackTime }: EventRecord): InputEvent {
  const event = { type, fields: new Map(Object.entries(fields)), fallbackTime };
  return timestamp === undefined ? event : { ...event, timestamp };
}

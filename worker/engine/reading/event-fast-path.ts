import type { Fields, InputEvent } from '../../../shared/events/event.ts';
import { loadGenerated } from '../compile/load.ts';
import { verifyGenerated } from '../compile/verify.ts';
import type { EventEntries } from '../fusion/event-entry.ts';
import { hasFastPath } from './fast-path.ts';
import { printFastPath } from './print-fast-path.ts';
import { readingLibrary, readingParameters, readingVocabulary } from './vocabulary.ts';

/** Gives true when it entered the event, false when it did nothing: the event then goes to `Engine.push`. */
type Take = (fields: Fields, stated: number, arrival: number) => boolean;

/** The fast path into a running engine for events that are objects. */
export class EventFastPath {
  readonly #entries: EventEntries;
  /** By type; made when the first event comes. */
  #takes: ReadonlyMap<string, Take> | undefined;
  #event: InputEvent | undefined;
  readonly #source = (): InputEvent => this.#event as InputEvent;

  constructor(entries: EventEntries) {
    this.#entries = entries;
  }

  /** Enters a plain event that moves no other clock than events of its type do anyway. False when it is not one: nothing has happened then. */
  push(event: InputEvent): boolean {
    this.#takes ??= load(this.#entries);
    const take = this.#takes.get(event.type);
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
}

function load({ entries }: EventEntries): ReadonlyMap<string, Take> {
  const taken = entries.filter(hasFastPath);
  const { text, constants } = printFastPath(taken);
  verifyGenerated(text, readingVocabulary);
  const takes = loadGenerated(text, readingParameters, 'door')(constants, ...Object.values(readingLibrary)) as readonly Take[];
  return new Map(taken.map(({ type }, at) => [type, takes[at] as Take]));
}

function hasFiniteTimes({ timestamp, fallbackTime }: InputEvent): boolean {
  return Number.isFinite(fallbackTime) && (timestamp === undefined || Number.isFinite(timestamp));
}

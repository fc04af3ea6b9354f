import type { Value } from '../../../shared/events/value.ts';
import type { Result } from '../engine.ts';
import { anyValue, count, DamagedState, list, number, oneOf, orNull, record, type Saved, text } from '../state/codec.ts';

/** How the look-up for a row ended. */
export type Outcome =
  | { readonly status: 'ok' | 'cached'; readonly value: Value; readonly latencyMs: number | null }
  | { readonly status: 'error' | 'timeout'; readonly message: string; readonly latencyMs: number | null };

/**
 * `pending`: in the order in which they are asked, each with the numbers of those who wait for it, at least one. `kept`: least recently
 * wanted first, with its place among the pending ones, if it is one.
 */
export const savedLookups = record({
  pending: list(record({ text, key: anyValue, visitors: list(count) })),
  kept: list(record({ text, key: anyValue, time: number, state: oneOf('pending', 'ok', 'failed'), value: anyValue, place: orNull(count) })),
});

/** Somebody who waits for a look-up. */
export interface Visitor {
  /** Event time, ms. */
  readonly time: number;
  settle(outcome: Outcome): void;
}

/** One look-up: asked for its first visitor; the others came while it was under way and asked for the same. */
export interface Lookup<V extends Visitor> {
  readonly text: string;
  readonly key: Value;
  readonly visitors: readonly V[];
}

interface Slot<V extends Visitor> {
  /** Canonical text of the key. */
  readonly text: string;
  readonly key: Value;
  /** Event time of the row that asked, ms. */
  readonly time: number;
  state: 'pending' | 'ok' | 'failed';
  value: Value;
  readonly visitors: V[];
}

export interface LookupsOptions<V extends Visitor> {
  /** How long an answer is kept, ms of event time; null = not at all. */
  readonly ttlMs: number | null;
  readonly entriesMax: number;
  readonly concurrencyMax: number;
  /** Asks; `settle` is called once, at once or later. */
  readonly ask: (lookup: Lookup<V>, settle: (result: Result, latencyMs: number | null) => void) => void;
}

/**
 * The look-ups of one operator with their cache. What each visitor gets is as if every look-up were answered before the next
 * visitor came: who wants what is being looked up waits for it, and asks anew when it fails. So the time that answers take
 * decides nothing, but that what is not answered in time is so for all who wait for it: one after the other they would wait as
 * many times as long, and everything behind them. An answer serves rows less than `ttlMs` of event time later than the one that asked; keys (also those
 * whose look-up failed) give way least recently wanted first.
 */
export class Lookups<V extends Visitor> {
  readonly #options: LookupsOptions<V>;
  /** By text of the key, least recently wanted first. */
  readonly #slots = new Map<string, Slot<V>>();
  readonly #unasked: Slot<V>[] = [];
  readonly #asked = new Set<Slot<V>>();
  #isAsking = false;

  constructor(options: LookupsOptions<V>) {
    this.#options = options;
  }

  want(text: string, key: Value, visitor: V): void {
    const { ttlMs } = this.#options;
    const known = ttlMs === null ? undefined : this.#slots.get(text);
    if (known !== undefined) this.#touch(known);
    if (known?.state === 'pending') known.visitors.push(visitor);
    else if (known?.state === 'ok' && this.#isFresh(known, visitor)) visitor.settle({ status: 'cached', value: known.value, latencyMs: 0 });
    else this.#begin(text, key, [visitor]);
  }

  #touch(slot: Slot<V>): void {
    this.#slots.delete(slot.text);
    this.#slots.set(slot.text, slot);
  }

  #isFresh({ time }: Slot<V>, visitor: V): boolean {
    return visitor.time - time < (this.#options.ttlMs ?? 0);
  }

  #begin(text: string, key: Value, visitors: V[]): void {
    const slot: Slot<V> = { text, key, time: (visitors[0] as V).time, state: 'pending', value: null, visitors };
    if (this.#options.ttlMs !== null) this.#keep(slot);
    this.#unasked.push(slot);
    this.#askNext();
  }

  #keep(slot: Slot<V>): void {
    this.#slots.set(slot.text, slot);
    for (const eldest of this.#slots.keys()) {
      if (this.#slots.size <= this.#options.entriesMax) return;
      this.#slots.delete(eldest);
    }
  }

  #askNext(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#asked.size < this.#options.concurrencyMax) {
      const slot = this.#unasked.shift();
      if (slot === undefined) break;
      this.#asked.add(slot);
      this.#options.ask(slot, (result, latencyMs) => this.#settle(slot, result, latencyMs));
    }
    this.#isAsking = false;
  }

  #settle(slot: Slot<V>, result: Result, latencyMs: number | null): void {
    this.#asked.delete(slot);
    const [first, ...others] = slot.visitors.splice(0) as [V, ...V[]];
    slot.state = result.status === 'ok' ? 'ok' : 'failed';
    slot.value = result.status === 'ok' ? result.value : null;
    first.settle(outcomeOf(result, latencyMs));
    if (result.status === 'timeout') for (const visitor of others) visitor.settle(outcomeOf(result, latencyMs));
    else this.#serve(slot, others);
    this.#askNext();
  }

  /** Those who waited, in order, up to one for whom it must be asked again: the rest wait for that. */
  #serve(slot: Slot<V>, visitors: readonly V[]): void {
    const unserved = visitors.findIndex((visitor) => slot.state !== 'ok' || !this.#isFresh(slot, visitor));
    const served = unserved < 0 ? visitors : visitors.slice(0, unserved);
    for (const visitor of served) visitor.settle({ status: 'cached', value: slot.value, latencyMs: 0 });
    if (unserved >= 0) this.#askAgain(slot, visitors.slice(unserved));
  }

  #askAgain(slot: Slot<V>, visitors: V[]): void {
    const { text, key } = slot;
    const again: Slot<V> = { text, key, time: (visitors[0] as V).time, state: 'pending', value: null, visitors };
    if (this.#slots.get(text) === slot) this.#slots.set(text, again);
    this.#unasked.push(again);
  }

  /** `number` names a visitor. */
  save(number: (visitor: V) => number): Saved<typeof savedLookups> {
    const pending = [...this.#asked, ...this.#unasked];
    const places = new Map(pending.map((slot, at) => [slot, at] as const));
    return {
      pending: pending.map(({ text, key, visitors }) => ({ text, key, visitors: visitors.map(number) })),
      kept: Array.from(this.#slots.values(), (slot) => ({ ...slot, place: places.get(slot) ?? null })),
    };
  }

  /** Takes back what `save` gave. `askAll` asks what was pending. `visitors`: by number. @throws DamagedState */
  load({ pending, kept }: Saved<typeof savedLookups>, visitors: readonly V[]): void {
    const slots = pending.map(({ text, key, visitors: numbers }): Slot<V> => {
      const waiting = numbers.map((number) => atPlace(visitors, number, 'rows'));
      return { text, key, time: atPlace(waiting, 0, 'visitors').time, state: 'pending', value: null, visitors: waiting };
    });
    this.#unasked.push(...slots);
    for (const { place, ...slot } of kept) {
      this.#slots.set(slot.text, place === null ? { ...slot, visitors: [] } : atPlace(slots, place, 'pending look-ups'));
    }
  }

  askAll(): void {
    this.#askNext();
  }
}

/** @throws DamagedState where there is none at this place */
function atPlace<T>(all: readonly T[], place: number, what: string): T {
  const one = all[place];
  if (one === undefined) throw new DamagedState(place, `the place of one of ${all.length} ${what}`);
  return one;
}

function outcomeOf(result: Result, latencyMs: number | null): Outcome {
  switch (result.status) {
    case 'ok':
      return { status: 'ok', value: result.value, latencyMs };
    case 'error':
      return { status: 'error', message: result.message, latencyMs };
    case 'timeout':
      return { status: 'timeout', message: 'no answer in time', latencyMs };
  }
}

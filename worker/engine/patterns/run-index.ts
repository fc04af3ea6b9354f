import { fieldOf } from '../evaluate/row-reading.ts';
import type { Row } from '../operators/row.ts';
import { type IndexKey, indexKeyOf } from './equality-key.ts';
import { LinkedList } from './linked-list.ts';
import { inOrderOfBeginning, type Run } from './run.ts';
import type { Relevance, Watch } from './watch.ts';

/** Runs that wait by one watch: in reach of every event, or only of events with an equal key. */
interface Waiting {
  readonly unkeyed: Set<Run>;
  readonly keyed: Map<string | number | boolean, Set<Run>>;
}

/** Where a run is entered. */
interface Place {
  readonly watch: number;
  readonly key: IndexKey;
}

/** The open runs of one partition, found by what they wait for. */
export class RunPartition {
  readonly key: string;
  readonly runs = new LinkedList<Run>();
  readonly #waiting: (Waiting | undefined)[] = [];
  readonly #places = new Map<Run, readonly Place[]>();

  constructor(key: string) {
    this.key = key;
  }

  add(run: Run): void {
    run.inPartition = this.runs.append(run);
  }

  remove(run: Run): void {
    this.#leave(run);
    if (run.inPartition !== null) this.runs.remove(run.inPartition);
    run.inPartition = null;
  }

  /** Enters the run for the watches it now waits by. A run whose key is null fits no event of that watch. */
  wait(run: Run, watches: readonly Watch[], isWaiting: readonly number[], isIndexed: boolean): void {
    this.#leave(run);
    const places = isWaiting.map((id) => ({ watch: id, key: isIndexed ? heldKey(run, watches[id] as Watch) : null }));
    for (const place of places) this.#enter(run, place);
    this.#places.set(run, places);
  }

  #enter(run: Run, { watch, key }: Place): void {
    if (key === undefined) return;
    this.#waiting[watch] ??= { unkeyed: new Set(), keyed: new Map() };
    const waiting = this.#waiting[watch] as Waiting;
    if (key === null) waiting.unkeyed.add(run);
    else addTo(waiting.keyed, key, run);
  }

  #leave(run: Run): void {
    for (const { watch, key } of this.#places.get(run) ?? []) {
      const waiting = this.#waiting[watch];
      if (waiting === undefined || key === undefined) continue;
      if (key === null) waiting.unkeyed.delete(run);
      else removeFrom(waiting.keyed, key, run);
    }
    this.#places.delete(run);
  }

  /** The runs that the event may concern, in order of beginning; all others it leaves as they are. */
  concerned(row: Row, { watches: ids }: Relevance, watches: readonly Watch[]): readonly Run[] {
    const found: Set<Run>[] = [];
    for (const id of ids) {
      const waiting = this.#waiting[id];
      if (waiting === undefined) continue;
      if (waiting.unkeyed.size > 0) found.push(waiting.unkeyed);
      const same = waiting.keyed.size === 0 ? undefined : sameKey(waiting, row, watches[id] as Watch);
      if (same !== undefined) found.push(same);
    }
    const [only] = found;
    if (only === undefined) return [];
    const runs = found.length === 1 ? [...only] : [...new Set(found.flatMap((set) => [...set]))];
    return inOrderOfBeginning(runs);
  }
}

function sameKey(waiting: Waiting, row: Row, { key }: Watch): Set<Run> | undefined {
  const value = key === null ? undefined : indexKeyOf(fieldOf(row, key.field));
  return value === undefined || value === null ? undefined : waiting.keyed.get(value);
}

/** What an event's field must equal for the run; null = any event is looked at. */
function heldKey(run: Run, { id, key }: Watch): IndexKey {
  if (key === null || run.offers.some((offer) => offer.step.slot === id && offer.losses.length > 0)) return null;
  const held = run.progress.captures[key.heldSlot] ?? null;
  return held === null ? undefined : indexKeyOf(fieldOf(held.row, key.heldField));
}

function addTo(sets: Map<string | number | boolean, Set<Run>>, key: string | number | boolean, run: Run): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([run]));
  else set.add(run);
}

function removeFrom(sets: Map<string | number | boolean, Set<Run>>, key: string | number | boolean, run: Run): void {
  const set = sets.get(key);
  set?.delete(run);
  if (set?.size === 0) sets.delete(key);
}

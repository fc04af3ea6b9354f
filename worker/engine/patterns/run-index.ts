import { fieldOf } from '../evaluate/row-reading.ts';
import type { Row } from '../operators/row.ts';
import { type IndexKey, indexKeyOf } from './equality-key.ts';
import { type IndexEntry, inOrderOfBeginning, type PartitionIndex, type Run } from './run.ts';
import type { Relevance, Watch } from './watch.ts';

const NO_RUNS: readonly Run[] = [];

/** Runs that wait by one watch: in reach of every event, or only of events with an equal key. */
class Waiting {
  readonly #unkeyed = new Set<Run>();
  /** One run mostly has a key to itself, and then needs no set. */
  readonly #keyed = new Map<string | number | boolean, Run | Set<Run>>();

  add(run: Run, key: IndexEntry['key']): void {
    if (key === null) {
      this.#unkeyed.add(run);
      return;
    }
    const others = this.#keyed.get(key);
    if (others === undefined) this.#keyed.set(key, run);
    else if (others instanceof Set) others.add(run);
    else this.#keyed.set(key, new Set([others, run]));
  }

  remove(run: Run, key: IndexEntry['key']): void {
    if (key === null) {
      this.#unkeyed.delete(run);
      return;
    }
    const there = this.#keyed.get(key);
    if (there instanceof Set) there.delete(run);
    if (there === run || (there instanceof Set && there.size === 0)) this.#keyed.delete(key);
  }

  /** The runs that an event with this key may concern; undefined = it equals no key. */
  find(key: IndexKey): readonly Run[] {
    const same = key === undefined || key === null ? undefined : this.#keyed.get(key);
    if (same === undefined) return this.#unkeyed.size === 0 ? NO_RUNS : [...this.#unkeyed];
    const keyed = same instanceof Set ? [...same] : [same];
    return this.#unkeyed.size === 0 ? keyed : [...this.#unkeyed, ...keyed];
  }
}

/** The open runs of one partition, found by what they wait for. */
export class RunPartition implements PartitionIndex {
  readonly key: string;
  /** In order of creation. */
  readonly runs = new Set<Run>();
  readonly #waiting: (Waiting | undefined)[] = [];

  constructor(key: string) {
    this.key = key;
  }

  get isEmpty(): boolean {
    return this.runs.size === 0;
  }

  remove(run: Run): void {
    this.#leave(run);
    this.runs.delete(run);
  }

  /** Enters the run for the watches it now waits by. A run whose key is null fits no event of that watch. */
  wait(run: Run, watches: readonly Watch[], isIndexed: boolean): void {
    this.#leave(run);
    const entries: IndexEntry[] = [];
    for (const watch of watches) {
      const key = isIndexed ? heldKey(run, watch) : null;
      if (key === undefined) continue;
      this.#waiting[watch.id] ??= new Waiting();
      const waiting = this.#waiting[watch.id] as Waiting;
      waiting.add(run, key);
      entries.push({ waiting, key });
    }
    run.entries = entries;
  }

  #leave(run: Run): void {
    for (const { waiting, key } of run.entries) waiting.remove(run, key);
  }

  /** The runs that the event may concern, in order of beginning; all others it leaves as they are. */
  concerned(row: Row, { watches: ids }: Relevance, watches: readonly Watch[]): readonly Run[] {
    let found = NO_RUNS;
    for (const id of ids) {
      const { key } = watches[id] as Watch;
      const runs = this.#waiting[id]?.find(key === null ? undefined : indexKeyOf(fieldOf(row, key.field))) ?? NO_RUNS;
      if (runs.length > 0) found = found.length === 0 ? runs : [...new Set([...found, ...runs])];
    }
    return found.length < 2 ? found : inOrderOfBeginning([...found]);
  }
}

/** What an event's field must equal for the run; null = any event is looked at. */
function heldKey(run: Run, { id, key }: Watch): IndexKey {
  if (key === null) return null;
  const { state, captures } = run.progress;
  if (state.enabledSteps.some((enabled) => enabled.discards.length > 0 && enabled.step.slot === id)) return null;
  const held = captures[key.heldSlot] ?? null;
  return held === null ? undefined : indexKeyOf(fieldOf(held.row, key.heldField));
}

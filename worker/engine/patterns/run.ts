import type { Binding } from '../operators/row.ts';
import { plus } from '../time/instants.ts';
import { bindingsOf, type Captures } from './captures.ts';
import type { Progress } from './state-space.ts';
import type { Watch } from './watch.ts';

/** A partial match as it is saved and shown, in whatever form it is kept. */
export interface PartialMatch {
  /** Canonical text of its partition's key. */
  readonly key: string;
  /** Position of its first event among all that the pattern received. */
  readonly began: number;
  readonly firstTime: number;
  /** Last event time that the pattern's `within` allows. */
  readonly lastTime: number;
  /** Order of creation: tells the branches of one beginning apart. */
  readonly serial: number;
  readonly progress: Progress;
  /** The last captures that made a match, where matches come when the run ends. */
  readonly accepted: Captures | null;
  /** Elements of the enumerated closure that matches were given for. */
  readonly emittedElements: number;
  readonly hasMatched: boolean;
}

/** What a run begins with, and a branch of it. */
export type Beginning = Pick<PartialMatch, 'key' | 'began' | 'firstTime' | 'lastTime'>;

/**
 * Why a run is over where neither the event at work nor the time that has passed says so: the state budget, a match that ends it, a match
 * of its own behind which it would go on, the expiry of its key.
 */
export type Closing = 'budget' | 'skipped' | 'matched' | 'expired';

/**
 * Event time after which something is due of a run that has come to this state: a `NOT` that matches, or the end of the run. A `NOT`
 * behind a displaced event may be over before the time of the first one.
 */
export function wakeTimeOf({ state, base }: Pick<Progress, 'state' | 'base'>, firstTime: number, lastTime: number): number {
  let wakeTime = state.isComplete || state.needsEvent ? Math.max(firstTime, Math.min(lastTime, plus(base, state.dueTime))) : Infinity;
  for (const { node, deadline } of state.absences) {
    wakeTime = Math.min(wakeTime, node.until === 'pattern' ? lastTime : plus(base, deadline));
  }
  return wakeTime;
}

/** The index of a run's partition, by which events find the runs that wait for them. */
export interface PartitionIndex {
  readonly key: string;
  readonly isEmpty: boolean;
  remove(run: Run): void;
  /** Enters the run for the watches it now waits by. */
  wait(run: Run, watches: readonly Watch[], isIndexed: boolean): void;
}

/** Where a run is entered in the index of its partition. */
export interface IndexEntry {
  readonly waiting: { remove(run: Run, key: IndexEntry['key']): void };
  readonly key: string | number | boolean | null;
}

/**
 * A partial match. Under skip-till-any-match the branches that began with one event are runs of their own with the same
 * `began`.
 */
export class Run implements PartialMatch {
  readonly partition: PartitionIndex;
  readonly began: number;
  readonly firstTime: number;
  readonly lastTime: number;
  readonly serial: number;

  progress: Progress;
  emittedElements = 0;
  hasMatched = false;
  accepted: Captures | null = null;
  wake = Infinity;
  queued = Infinity;
  isOpen = true;
  entries: readonly IndexEntry[] = [];
  before: Run | null = null;
  after: Run | null = null;
  #bound: readonly Binding[] | null = null;

  constructor(partition: PartitionIndex, serial: number, progress: Progress, beginning: Beginning) {
    this.partition = partition;
    this.began = beginning.began;
    this.firstTime = beginning.firstTime;
    this.lastTime = beginning.lastTime;
    this.serial = serial;
    this.progress = progress;
  }

  get key(): string {
    return this.partition.key;
  }

  /** What conditions read of the run. */
  bound(isList: readonly boolean[]): readonly Binding[] {
    this.#bound ??= bindingsOf(this.progress.captures, isList);
    return this.#bound;
  }

  moveTo(progress: Progress): void {
    this.progress = progress;
    this.#bound = null;
  }
}

/** Runs in order of beginning, branches of one beginning in order of creation. */
export function inOrderOfBeginning(runs: Run[]): Run[] {
  for (let index = 1; index < runs.length; index++) {
    if (compareRuns(runs[index - 1] as Run, runs[index] as Run) > 0) return runs.sort(compareRuns);
  }
  return runs;
}

export function compareRuns(a: PartialMatch, b: PartialMatch): number {
  return a.began - b.began || a.serial - b.serial;
}

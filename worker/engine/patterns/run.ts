import type { Binding } from '../operators/row.ts';
import { bindingsOf, type Captures } from './captures.ts';
import type { Link } from './linked-list.ts';
import type { Absence, Offer, Residual, RunContext } from './residual.ts';
import type { RunPartition } from './run-index.ts';

/** What a run has come to: replaced as a whole when it takes an event or time passes. */
export interface Progress {
  readonly residual: Residual;
  readonly captures: Captures;
}

/**
 * A partial match. Under skip-till-any-match the branches that began with one event are runs of their own with the same
 * `began`.
 */
export class Run {
  readonly partition: RunPartition;
  /** Position of its first event among all that the pattern received. */
  readonly began: number;
  readonly firstTime: number;
  /** Order of creation: tells the branches of one beginning apart. */
  readonly serial: number;

  progress: Progress;
  context: RunContext;
  offers: readonly Offer[] = [];
  absences: readonly Absence[] = [];
  /** Elements of the enumerated closure that matches were given for. */
  emittedElements = 0;
  hasMatched = false;
  /** The last captures that made a match, where matches come when the run ends. */
  accepted: Captures | null = null;
  /** Event time after which something is due: a `NOT` that matches, or the end of the run. */
  wakeTime = Infinity;
  isOpen = true;
  inAll: Link<Run> | null = null;
  inPartition: Link<Run> | null = null;
  #bound: readonly Binding[] | null = null;

  constructor(partition: RunPartition, began: number, firstTime: number, serial: number, progress: Progress, context: RunContext) {
    this.partition = partition;
    this.began = began;
    this.firstTime = firstTime;
    this.serial = serial;
    this.progress = progress;
    this.context = context;
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
  const isSorted = runs.every((run, index) => index === 0 || compareRuns(runs[index - 1] as Run, run) <= 0);
  return isSorted ? runs : runs.sort(compareRuns);
}

export function compareRuns(a: Run, b: Run): number {
  return a.began - b.began || a.serial - b.serial;
}

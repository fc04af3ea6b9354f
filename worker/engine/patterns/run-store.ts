import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { justAfter } from '../time/instants.ts';
import { compareCaptures } from './captures.ts';
import { LinkedList } from './linked-list.ts';
import { type Beginning, compareRuns, Run, wakeTimeOf } from './run.ts';
import { RunPartition } from './run-index.ts';
import type { PatternState, Progress } from './state-space.ts';
import type { Watch } from './watch.ts';

interface RunStoreOptions {
  readonly isIndexed: boolean;
  /** Called for each run that is over. */
  readonly closed: ((run: Run) => void) | null;
}

/** All open runs of a pattern: by partition, by what they wait for, by when something is due, by age. */
export class RunStore {
  readonly #watches: readonly Watch[];
  readonly #cancels: readonly Watch[];
  readonly #isIndexed: boolean;
  readonly #closed: ((run: Run) => void) | null;
  readonly #partitions = new Map<string, RunPartition>();
  readonly #runs = new LinkedList<Run>();
  readonly #wakes = new DeadlineQueue<Run>();
  readonly #watchesOf = new WeakMap<PatternState, readonly Watch[]>();
  #serial = 0;

  constructor(plan: PatternPlan, watches: readonly Watch[], { isIndexed, closed }: RunStoreOptions) {
    this.#watches = watches;
    this.#cancels = watches.slice(plan.steps.length);
    this.#isIndexed = isIndexed;
    this.#closed = closed;
  }

  get size(): number {
    return this.#runs.size;
  }

  get oldest(): Run | null {
    return this.#runs.first;
  }

  partition(key: string): RunPartition | undefined {
    return this.#partitions.get(key);
  }

  /** All open runs in order of creation. */
  all(): readonly Run[] {
    return this.#runs.toArray();
  }

  open(key: string, progress: Progress, beginning: Beginning): Run {
    let partition = this.#partitions.get(key);
    if (partition === undefined) {
      partition = new RunPartition(key);
      this.#partitions.set(key, partition);
    }
    const run = new Run(partition, ++this.#serial, progress, beginning);
    run.inAll = this.#runs.append(run);
    partition.add(run);
    this.#settle(run);
    return run;
  }

  move(run: Run, progress: Progress): void {
    run.moveTo(progress);
    this.#settle(run);
  }

  close(run: Run): void {
    if (!run.isOpen) return;
    run.isOpen = false;
    this.#closed?.(run);
    const { partition } = run;
    partition.remove(run);
    if (partition.isEmpty) this.#partitions.delete(partition.key);
    if (run.inAll !== null) this.#runs.remove(run.inAll);
    run.inAll = null;
    if (this.#wakes.size > 2 * this.#runs.size + 1_000) this.#wakes.retain((one) => one.isOpen);
  }

  /** Enters the run for what it now waits for, and until when. */
  #settle(run: Run): void {
    run.partition.wait(run, this.#watchesFor(run.progress.state), this.#isIndexed);
    const wakeTime = wakeTimeOf(run.progress, run.firstTime, run.lastTime);
    run.wakeTime = wakeTime;
    if (wakeTime < Infinity && (run.queuedTime === null || wakeTime < run.queuedTime)) this.#queue(run);
  }

  /** A run stands in line once, at or before its time: one that waits longer by then goes back in line. */
  #queue(run: Run): void {
    run.queuedTime = run.wakeTime;
    this.#wakes.push(justAfter(run.wakeTime), run.began, run);
  }

  #watchesFor(state: PatternState): readonly Watch[] {
    let watches = this.#watchesOf.get(state);
    if (watches === undefined) {
      watches = [...state.slots.map((slot) => this.#watches[slot] as Watch), ...this.#cancels];
      this.#watchesOf.set(state, watches);
    }
    return watches;
  }

  /** Watermark at which the next run is due. */
  nextWake(): number {
    return this.#wakes.next();
  }

  /** The runs that are due first, all at one time, in order; empty when none is due at this watermark. */
  takeDue(watermark: number): readonly Run[] {
    const due = new Set<Run>();
    for (let time = this.#wakes.next(); time < Infinity && time <= watermark && due.size === 0; time = this.#wakes.next()) {
      for (let run = this.#wakes.popDue(time); run !== undefined; run = this.#wakes.popDue(time)) {
        if (!run.isOpen || run.queuedTime === null || justAfter(run.queuedTime) !== time) continue;
        const isEarly = run.queuedTime < run.wakeTime;
        run.queuedTime = null;
        if (!isEarly) due.add(run);
        else if (run.wakeTime < Infinity) this.#queue(run);
      }
    }
    return inMatchOrder([...due]);
  }
}

/** By beginning, the branches of one beginning by what they hold. */
export function inMatchOrder(runs: Run[]): readonly Run[] {
  if (runs.length < 2) return runs;
  return runs.sort((a, b) => a.began - b.began || compareCaptures(a.progress.captures, b.progress.captures) || compareRuns(a, b));
}

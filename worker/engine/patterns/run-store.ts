import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import { compareCaptures } from './captures.ts';
import { type Beginning, type Closing, compareRuns, Run, wakeTimeOf } from './run.ts';
import { RunPartition } from './run-index.ts';
import type { PatternState, Progress } from './state-space.ts';
import { WakingRuns } from './waking-runs.ts';
import type { Watch } from './watch.ts';

interface RunStoreOptions {
  readonly isIndexed: boolean;
  /** Called for each run that is over. */
  readonly closed: ((run: Run, closing: Closing | null) => void) | null;
  /** The time of a run has come. */
  readonly wake: (run: Run) => void;
}

/** All open runs of a pattern: by partition, by what they wait for, by when something is due, by age. */
export class RunStore {
  readonly #watches: readonly Watch[];
  readonly #cancels: readonly Watch[];
  readonly #isIndexed: boolean;
  readonly #closed: ((run: Run, closing: Closing | null) => void) | null;
  readonly #partitions = new Map<string, RunPartition>();
  readonly #runs: WakingRuns<Run>;
  readonly #watchesOf = new WeakMap<PatternState, readonly Watch[]>();
  #serial = 0;

  constructor(plan: PatternPlan, watches: readonly Watch[], { isIndexed, closed, wake }: RunStoreOptions) {
    this.#watches = watches;
    this.#cancels = watches.slice(plan.steps.length);
    this.#isIndexed = isIndexed;
    this.#closed = closed;
    this.#runs = new WakingRuns({
      wakeOf: ({ progress, firstTime, lastTime }) => wakeTimeOf(progress, firstTime, lastTime),
      isOpen: (run) => run.isOpen,
      compare: compareInMatchOrder,
      wake,
    });
  }

  get size(): number {
    return this.#runs.size;
  }

  get oldest(): Run | null {
    return this.#runs.first;
  }

  /** Watermark at which the next run is due. */
  get due(): number {
    return this.#runs.due;
  }

  advance(watermark: number): void {
    this.#runs.advance(watermark);
  }

  partition(key: string): RunPartition | undefined {
    return this.#partitions.get(key);
  }

  /** All open runs in order of creation. */
  all(): readonly Run[] {
    return this.#runs.toArray();
  }

  open(beginning: Beginning, progress: Progress): Run {
    const { key } = beginning;
    let partition = this.#partitions.get(key);
    if (partition === undefined) {
      partition = new RunPartition(key);
      this.#partitions.set(key, partition);
    }
    const run = new Run(partition, ++this.#serial, progress, beginning);
    partition.runs.add(run);
    partition.wait(run, this.#watchesFor(progress.state), this.#isIndexed);
    this.#runs.add(run);
    return run;
  }

  move(run: Run, progress: Progress): void {
    run.moveTo(progress);
    run.partition.wait(run, this.#watchesFor(progress.state), this.#isIndexed);
    this.#runs.moved(run);
  }

  close(run: Run, closing: Closing | null = null): void {
    if (!run.isOpen) return;
    run.isOpen = false;
    this.#closed?.(run, closing);
    const { partition } = run;
    partition.remove(run);
    if (partition.isEmpty) this.#partitions.delete(partition.key);
    this.#runs.remove(run);
  }

  #watchesFor(state: PatternState): readonly Watch[] {
    let watches = this.#watchesOf.get(state);
    if (watches === undefined) {
      watches = [...state.slots.map((slot) => this.#watches[slot] as Watch), ...this.#cancels];
      this.#watchesOf.set(state, watches);
    }
    return watches;
  }
}

/** By beginning, the branches of one beginning by what they hold. */
export function compareInMatchOrder(a: Run, b: Run): number {
  return a.began - b.began || compareCaptures(a.progress.captures, b.progress.captures) || compareRuns(a, b);
}

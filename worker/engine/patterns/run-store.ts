import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import { TIME_STEP_MS } from '../state/expiry.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { compareCaptures } from './captures.ts';
import { LinkedList } from './linked-list.ts';
import { latestOf } from './residual.ts';
import { compareRuns, type Progress, Run } from './run.ts';
import { RunPartition } from './run-index.ts';
import type { Watch } from './watch.ts';

/** All open runs of a pattern: by partition, by what they wait for, by when something is due, by age. */
export class RunStore {
  readonly #plan: PatternPlan;
  readonly #watches: readonly Watch[];
  readonly #isIndexed: boolean;
  readonly #partitions = new Map<string, RunPartition>();
  readonly #runs = new LinkedList<Run>();
  readonly #wakes = new DeadlineQueue<Run>();
  #serial = 0;

  constructor(plan: PatternPlan, watches: readonly Watch[], isIndexed: boolean) {
    this.#plan = plan;
    this.#watches = watches;
    this.#isIndexed = isIndexed;
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

  open(key: string, began: number, firstTime: number, progress: Progress): Run {
    let partition = this.#partitions.get(key);
    if (partition === undefined) {
      partition = new RunPartition(key);
      this.#partitions.set(key, partition);
    }
    const run = new Run(partition, began, firstTime, ++this.#serial, progress, this.#contextOf(firstTime, progress));
    run.inAll = this.#runs.append(run);
    partition.add(run);
    this.#settle(run);
    return run;
  }

  move(run: Run, progress: Progress): void {
    run.moveTo(progress);
    run.context = this.#contextOf(run.firstTime, progress);
    this.#settle(run);
  }

  close(run: Run): void {
    if (!run.isOpen) return;
    run.isOpen = false;
    const { partition } = run;
    partition.remove(run);
    if (partition.runs.size === 0) this.#partitions.delete(partition.key);
    if (run.inAll !== null) this.#runs.remove(run.inAll);
    run.inAll = null;
    if (this.#wakes.size > 2 * this.#runs.size + 1_000) this.#wakes.retain((one) => one.isOpen);
  }

  #contextOf(firstTime: number, { residual }: Progress): Run['context'] {
    const deadline = firstTime + (this.#plan.withinMs ?? Infinity);
    return {
      isBinding: this.#plan.selection !== 'next',
      isClosuresOnly: residual.isComplete,
      latestTime: deadline,
      patternDeadline: deadline,
    };
  }

  /** Finds out what the run now waits for, and until when. */
  #settle(run: Run): void {
    const { residual } = run.progress;
    run.offers = residual.offers(run.context);
    run.absences = residual.absences(run.context);
    const waiting = new Set([...run.offers.map((offer) => offer.step.slot), ...run.absences.map(({ node }) => node.slot)]);
    for (let id = this.#plan.steps.length; id < this.#watches.length; id++) waiting.add(id);
    run.partition.wait(run, this.#watches, [...waiting], this.#isIndexed);
    this.#schedule(run);
  }

  #schedule(run: Run): void {
    const { residual } = run.progress;
    let wakeTime = residual.isComplete ? latestOf(run.offers) : residual.dueTime(run.context);
    for (const { deadline } of run.absences) wakeTime = Math.min(wakeTime, deadline);
    if (wakeTime === run.wakeTime) return;
    run.wakeTime = wakeTime;
    if (wakeTime < Infinity && wakeTime > -Infinity) this.#wakes.push(wakeTime + TIME_STEP_MS, run.began, run);
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
        if (run.isOpen && run.wakeTime + TIME_STEP_MS === time) due.add(run);
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

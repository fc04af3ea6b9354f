import type { Representation } from '../typed.ts';
import { type FusedRun, type RunIndexKey, withoutRun, withRun } from './fused-run.ts';
import { NumberTable } from './number-table.ts';

/** The runs in one state by the value that their next event must have. A run whose value is null fits no event: it is not here. */
export interface KeyedRuns {
  /** The first run of the value's list. */
  find(value: RunIndexKey): FusedRun | null;
  add(run: FusedRun): void;
  remove(run: FusedRun): void;
}

/** For values that stand in generated code like this. */
export function keyedRuns(as: Representation): KeyedRuns {
  return as === 'number' || as === 'timestamp' || as === 'duration' ? new RunsByNumber() : new RunsByValue();
}

/** By values of any kind. */
class RunsByValue implements KeyedRuns {
  #heads = new Map<RunIndexKey, FusedRun>();
  #removals = 0;

  find(value: RunIndexKey): FusedRun | null {
    return this.#heads.get(value) ?? null;
  }

  add(run: FusedRun): void {
    if (run.indexKey === null) return;
    const head = this.#heads.get(run.indexKey);
    if (head === undefined) {
      run.next = null;
      run.previous = run;
      this.#heads.set(run.indexKey, run);
      return;
    }
    const first = withRun(head, run);
    if (first !== head) this.#heads.set(run.indexKey, first);
  }

  remove(run: FusedRun): void {
    if (run.indexKey === null) return;
    if (run.previous === run) {
      run.previous = null;
      this.#heads.delete(run.indexKey);
      if (++this.#removals > 4 * this.#heads.size + 1_000) this.#renew();
      return;
    }
    const head = this.#heads.get(run.indexKey) as FusedRun;
    const first = withoutRun(head, run);
    if (first !== head) this.#heads.set(run.indexKey, first as FusedRun);
  }

  /**
   * A map that grows and shrinks leaves tables behind, each of which holds on to the next one: once one of them is old, none
   * goes before the next full collection.
   */
  #renew(): void {
    this.#heads = new Map(this.#heads);
    this.#removals = 0;
  }
}

/** By numbers: in a table of our own, that leaves nothing behind for the collector. */
class RunsByNumber implements KeyedRuns {
  readonly #heads = new NumberTable();
  /** Takes over when the numbers do not spread. */
  #others: RunsByValue | null = null;

  find(value: RunIndexKey): FusedRun | null {
    if (value === null) return null;
    return this.#others === null ? this.#heads.get(value as number) : this.#others.find(value);
  }

  add(run: FusedRun): void {
    if (run.indexKey === null) return;
    if (this.#others !== null) {
      this.#others.add(run);
      return;
    }
    const head = this.#heads.get(run.indexKey as number);
    const first = withRun(head, run);
    if (first !== head && !this.#heads.set(run.indexKey as number, first)) this.#giveUp();
  }

  remove(run: FusedRun): void {
    if (run.indexKey === null) return;
    if (this.#others !== null) {
      this.#others.remove(run);
      return;
    }
    const { previous } = run;
    if (previous === run) {
      run.previous = null;
      this.#heads.delete(run.indexKey as number);
      return;
    }
    const head = this.#heads.get(run.indexKey as number) as FusedRun;
    const first = withoutRun(head, run);
    if (first !== head) this.#heads.set(run.indexKey as number, first as FusedRun);
  }

  #giveUp(): void {
    const others = new RunsByValue();
    this.#heads.forEach((head) => {
      for (let run: FusedRun | null = head; run !== null; ) {
        const { next }: FusedRun = run;
        others.add(run);
        run = next;
      }
    });
    this.#others = others;
  }
}

import type { FusedRun } from './fused-run.ts';
import { keptIn, type RunClass } from './kept-matches.ts';
import { isNumeric, nanIfNull, nullIfNaN } from './number-columns.ts';
import type { Kept } from './run-form.ts';

/** Where a run's number would stand: there is none. */
export const NONE = -1;

const FEWEST = 16;

/**
 * Runs as numbers, under which their members stand in columns: they cost no objects, and the collector nothing. A number is used
 * again; what its run kept can be read until the next one begins. A number that may be null is NaN where it is null.
 *
 * The columns of what is kept have the names of its properties (`x0`, `x1`, ..).
 */
export class RunColumns {
  /** Where it stands; -1 when it is over. */
  state = new Int32Array();
  /** The value by which it is found in its state; NaN fits no event. */
  indexKey = new Float64Array();
  began = new Float64Array();
  first = new Float64Array();
  last = new Float64Array();
  /** Those of one value, in order of beginning: the first one's `previous` is the last one. */
  next = new Int32Array();
  previous = new Int32Array();
  /** All open ones, in order of creation; `after` also leads from one unused number to the next. */
  before = new Int32Array();
  after = new Int32Array();
  /** The key of its partition; empty without partition. */
  readonly key: FusedRun['key'][] = [];
  readonly #kept: readonly Kept[];
  #unused = NONE;

  constructor(kept: readonly Kept[]) {
    this.#kept = kept;
    for (const { property, as } of kept) this.#setColumn(property, isNumeric(as) ? new Float64Array() : []);
  }

  /** A number whose members may be anything. */
  protected allot(): number {
    if (this.#unused === NONE) this.#grow();
    const run = this.#unused;
    this.#unused = this.after[run] as number;
    return run;
  }

  protected free(run: number): void {
    this.state[run] = NONE;
    this.after[run] = this.#unused;
    this.#unused = run;
  }

  #grow(): void {
    const from = this.state.length;
    const length = Math.max(FEWEST, from * 2);
    for (const name of ['state', 'next', 'previous', 'before', 'after'] as const) this[name] = longer(this[name], new Int32Array(length));
    for (const name of ['indexKey', 'began', 'first', 'last'] as const) this[name] = longer(this[name], new Float64Array(length));
    for (const { property } of this.#kept) {
      const column = this.#column(property);
      if (column instanceof Float64Array) this.#setColumn(property, longer(column, new Float64Array(length)));
    }
    for (let run = length - 1; run >= from; run--) this.free(run);
  }

  #column(property: string): Float64Array | unknown[] {
    return (this as unknown as Record<string, Float64Array | unknown[]>)[property] as Float64Array | unknown[];
  }

  #setColumn(property: string, column: Float64Array | unknown[]): void {
    (this as unknown as Record<string, unknown>)[property] = column;
  }

  /** What the run keeps, as an object of its own, which is in no list. */
  protected objectOf(run: number, Run: RunClass): FusedRun {
    const kept = this.#kept.map(({ property, as }) => {
      const value = this.#column(property)[run];
      return isNumeric(as) ? nullIfNaN(value as number) : value;
    });
    const [began, first, last] = [this.began, this.first, this.last].map((column) => column[run]) as [number, number, number];
    return new Run(this.state[run] as number, null, this.key[run] ?? null, began, first, last, ...kept);
  }

  /** The run of this number keeps what the object does. */
  protected keep(run: number, object: FusedRun): void {
    for (const kept of this.#kept) {
      const value = keptIn(object, kept);
      this.#column(kept.property)[run] = isNumeric(kept.as) ? nanIfNull(value as number | null) : value;
    }
  }
}

function longer<Column extends Int32Array | Float64Array>(column: Column, grown: Column): Column {
  grown.set(column);
  return grown;
}

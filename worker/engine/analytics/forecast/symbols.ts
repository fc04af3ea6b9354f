import type { PatternPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import type { Binding } from '../../operators/row.ts';
import type { Sight } from '../../patterns/observer.ts';
import { count, list, requireBelow, type Saved } from '../../state/codec.ts';

/** By symbol: the watches that its events fit. */
export const savedSymbols = list(list(count));

const NOTHING_BOUND: readonly Binding[] = [];

/** What the events of a pattern are to it: a symbol is the set of steps, `NOT`s and `.not`s that an event fits. */
export class Symbols {
  readonly #numbers = new Map<string, number>();
  readonly #sets: ReadonlySet<number>[] = [];
  /** By watch: its condition reads other events of the run, so it is told by the runs that took the event. */
  readonly #dependsOnRun: readonly boolean[];

  constructor(plan: PatternPlan) {
    this.#dependsOnRun = [...plan.steps, ...plan.cancels].map(({ where }) => readsRun(where));
    this.#number([]);
  }

  get size(): number {
    return this.#sets.length;
  }

  /** The watches that a symbol fits. */
  watches(symbol: number): ReadonlySet<number> {
    return this.#sets[symbol] ?? new Set();
  }

  of({ row, relevance, watches, taken }: Sight): number {
    const fitting = relevance.watches.filter((id) =>
      this.#dependsOnRun[id] ? taken.has(id) : (watches[id]?.accepts(row, NOTHING_BOUND) ?? false),
    );
    return this.#number(fitting);
  }

  #number(watches: readonly number[]): number {
    const text = watches.join();
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#sets.length);
    this.#sets.push(new Set(watches));
    return this.#sets.length - 1;
  }

  save(): Saved<typeof savedSymbols> {
    return this.#sets.map((set) => [...set]);
  }

  /** @throws DamagedState */
  load(saved: Saved<typeof savedSymbols>): void {
    for (const watches of saved) {
      for (const watch of watches) requireBelow(watch, this.#dependsOnRun.length, 'a watch');
      this.#number(watches);
    }
  }
}

/** Plans are plain trees, so every part is looked at. */
function readsRun(part: PlanExpression | null): boolean {
  return part !== null && reads(part);
}

function reads(part: unknown): boolean {
  if (typeof part !== 'object' || part === null || part instanceof Map) return false;
  if (Array.isArray(part)) return part.some(reads);
  const { kind } = part as { readonly kind?: unknown };
  if (kind === 'slot' || kind === 'item' || kind === 'items' || kind === 'closure' || kind === 'unless_first') return true;
  return Object.values(part).some(reads);
}

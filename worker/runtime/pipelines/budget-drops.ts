import type { RunDropReason } from '../../engine/operators/operator.ts';

/** A pipeline that has dropped something shows that for so long. */
const SHOWN_MS = 60_000;
/** Streams that the text names; of the others it gives the number. */
const NAMED_MAX = 3;

/** What a stream has dropped over one budget since this was looked at last. */
export interface BudgetDrop {
  readonly stream: string;
  readonly reason: string;
  readonly count: number;
}

const budgets: Readonly<Record<RunDropReason, { readonly one: string; readonly many: string; readonly limit: string }>> = {
  max_runs: { one: 'run', many: 'runs', limit: '.max_runs' },
  max_closure: { one: 'run', many: 'runs', limit: '.max_closure' },
  subsets_limit: { one: 'match', many: 'matches', limit: 'the limit of .subsets' },
};

/** What a pipeline has dropped lately because a state budget was hit. Times are milliseconds of a clock that only moves on. */
export class BudgetDrops {
  readonly #recent = new Map<string, BudgetDrop & { readonly at: number }>();

  add(now: number, drops: readonly BudgetDrop[]): void {
    this.#forget(now);
    for (const { stream, reason, count } of drops) {
      const key = `${stream}\0${reason}`;
      this.#recent.set(key, { stream, reason, count: (this.#recent.get(key)?.count ?? 0) + count, at: now });
    }
  }

  forgive(): void {
    this.#recent.clear();
  }

  /** What a view of the pipeline says of it; undefined when it is long ago. */
  shown(now: number): string | undefined {
    this.#forget(now);
    if (this.#recent.size === 0) return undefined;
    const all = [...this.#recent.values()];
    const named = all.slice(0, NAMED_MAX).map(textOf);
    const others = all.length > NAMED_MAX ? `; ${all.length - NAMED_MAX} more like these` : '';
    return `a state budget was hit: ${named.join('; ')}${others}`;
  }

  #forget(now: number): void {
    for (const [key, { at }] of this.#recent) if (at <= now - SHOWN_MS) this.#recent.delete(key);
  }
}

function textOf({ stream, reason, count }: BudgetDrop): string {
  const { one, many, limit } = budgets[reason as RunDropReason];
  return `${stream} dropped ${roughly(count)} ${count === 1 ? one : many} over ${limit}`;
}

/** A cluster keeps the text, so it must not be another one with every drop. */
function roughly(count: number): string {
  if (count < 10) return String(count);
  const step = 10 ** Math.floor(Math.log10(count));
  return `${(Math.floor(count / step) * step).toLocaleString('en')} or more`;
}

export interface Delivered {
  readonly id: string;
  readonly event_type: string;
  readonly data: Readonly<Record<string, number>>;
}

export interface Audit {
  /** Numbers from 0 on that did not come. */
  readonly lost: readonly number[];
  /** Numbers that came more than once. */
  readonly repeated: readonly number[];
  /** Ids that came more than once. */
  readonly repeatedIds: readonly string[];
}

/** Counts what a sink has got of the events 0 to `count - 1`, by the number in them and by id. */
export function audit(delivered: readonly Delivered[], count: number): Audit {
  const numbers = delivered.map(({ data }) => data['n'] as number);
  const seen = new Set(numbers);
  return {
    lost: Array.from({ length: count }, (_, number) => number).filter((number) => !seen.has(number)),
    repeated: twice(numbers),
    repeatedIds: twice(delivered.map(({ id }) => id)),
  };
}

function twice<T>(values: readonly T[]): T[] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].flatMap(([value, count]) => (count > 1 ? [value] : []));
}

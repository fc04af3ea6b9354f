import type { Value } from '../../../../shared/events/value.ts';
import type { AttributeName, PatternPlan } from '../../../../shared/language/plan/plan.ts';
import { MatchAttributes } from '../../evaluate/match-id.ts';
import type { Row } from '../../operators/row.ts';
import { Capture } from '../../patterns/captures.ts';
import { matchRow } from '../../patterns/match-row.ts';
import { identified } from '../../sources/pattern-source.ts';

/** What all matches of a pattern have in common. */
export class MatchShape {
  readonly plan: PatternPlan;
  /** Name of the stream. */
  readonly stream: string;
  readonly isList: readonly boolean[];

  constructor(plan: PatternPlan, stream: string, isList: readonly boolean[]) {
    this.plan = plan;
    this.stream = stream;
    this.isList = isList;
  }
}

/** The fields of a step's events. */
export class StepShape {
  /** All that events of any type have there. */
  readonly names: readonly string[];
  readonly #byType: ReadonlyMap<string, readonly string[]>;

  constructor(byType: ReadonlyMap<string, readonly string[]>) {
    this.#byType = byType;
    this.names = [...new Set([...byType.values()].flat())];
  }

  /** `values`: in the order of `names`. */
  fields(type: string, values: readonly Value[]): ReadonlyMap<string, Value> {
    const own = this.#byType.get(type) ?? [];
    return new Map(own.map((name) => [name, values[this.names.indexOf(name)] as Value]));
  }
}

/** The row of a step: the one that came, else made of what the run has kept; null when the step has taken nothing. */
export function stepRow(
  row: Row | null,
  shape: StepShape,
  type: string,
  time: number | null,
  order: number,
  values: readonly Value[],
): Row | null {
  if (row !== null) return row;
  if (time === null) return null;
  return { type, time, order, fields: shape.fields(type, values), bound: null, attributes: null, causes: [order] };
}

/** The match as `PatternSource` makes it. `rows`: by slot. */
export function makeMatch(
  { plan, stream, isList }: MatchShape,
  time: number,
  order: number,
  rows: readonly (Row | readonly Row[] | null)[],
): Row {
  let at = 0;
  const captures = rows.map((taken) => {
    let top: Capture | null = null;
    for (const row of taken === null ? [] : [taken].flat()) top = new Capture(row, ++at, -1, top);
    return top;
  });
  return identified(matchRow(plan, stream, captures, isList, { deadline: time, order }), plan);
}

/** Sorted arrival numbers, no repeats. `causes`: by slot the event's number, or the numbers of what caused it. */
export function mergeCauses(causes: readonly (number | readonly number[] | null)[]): readonly number[] {
  const all = causes.flat().filter((cause) => cause !== null);
  return [...new Set(all)].sort((a, b) => a - b);
}

export function matchAttributes({ plan }: MatchShape, durationMs: number, causes: readonly number[]): ReadonlyMap<AttributeName, Value> {
  return new MatchAttributes(new Map<AttributeName, Value>([['match_duration_ms', durationMs]]), plan, causes);
}

export function matchIdOf({ plan }: MatchShape, causes: readonly number[]): string {
  return new MatchAttributes(null, plan, causes).get('match_id') as string;
}

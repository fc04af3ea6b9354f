import { nearestName } from '../../../shared/language/diagnostics/nearest-name.ts';
import type { Plan, SourcePlan } from '../../../shared/language/plan/plan.ts';
import { NamedCounts } from './named-counts.ts';
import { inputsOf } from './plan-inputs.ts';

/** Types that are counted by name; events of further ones, and of those with long names, count together. */
const NAMED_MAX = 100;

/** Events of types that no stream reads: taken, counted, and without effect but on time. */
export class UnreadTypes {
  readonly #byType = new NamedCounts(NAMED_MAX);
  #events = 0;

  /** Those of all types. */
  get events(): number {
    return this.#events;
  }

  /** In the order in which the types first came; of the first hundred types. */
  get byType(): ReadonlyMap<string, number> {
    return this.#byType.all;
  }

  add(type: string): void {
    this.#events++;
    this.#byType.add(type);
  }

  load(events: number, byType: ReadonlyMap<string, number>): void {
    this.#events = events;
    this.#byType.load(byType);
  }
}

/** Every event type that some stream of the program reads. */
export function readTypesOf(plan: Plan): ReadonlySet<string> {
  const types = new Set<string>();
  let last: SourcePlan | null = null;
  for (const { source } of plan.streams) {
    if (source === last) continue;
    last = source;
    for (const { from } of inputsOf(source)) if (from.kind === 'event') for (const type of from.types) types.add(type);
  }
  return types;
}

/** A type that no stream reads, how many events of it came, and the type with the nearest name that one does read. */
export interface UnreadType {
  readonly type: string;
  readonly events: number;
  /** Null where no name is near. */
  readonly nearest: string | null;
}

/** The types with most events first. */
export function unreadTypes(byType: Iterable<readonly [type: string, events: number]>, read: ReadonlySet<string>): readonly UnreadType[] {
  return Array.from(byType, ([type, events]) => ({ type, events, nearest: nearestName(type, [...read]) ?? null })).sort(
    (one, other) => other.events - one.events,
  );
}

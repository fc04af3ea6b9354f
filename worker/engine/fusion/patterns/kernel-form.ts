import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import type { Representation } from '../typed.ts';
import type { Automaton } from './automaton.ts';
import type { History } from './history.ts';
import type { Given } from './pattern-input.ts';
import type { Kept } from './run-form.ts';

/** What generated code and the kernel of a pattern agree on. */
export interface KernelForm {
  readonly plan: PatternPlan;
  readonly automaton: Automaton;
  /** By id of the state: whether its runs are found by a value that their next event must have. */
  readonly indexKeys: readonly (Kept | null)[];
  /** By origin: what the function for its events is given. */
  readonly origins: readonly { readonly origin: string; readonly given: readonly Given[] }[];
  readonly kept: readonly Kept[];
  /** What is kept of every event of a closure. */
  readonly historyOf: (slot: number) => History;
  /** By step and type of its events: the names of their fields, in the order of their declarations. */
  readonly fieldNames: readonly ReadonlyMap<string, readonly string[]>[];
  /** By id of the state: the closure whose events its runs take together; null where each takes for itself. */
  readonly sharedSlots: readonly (number | null)[];
  /** Rows come whole and matches leave so, and the ends of runs are told. */
  readonly isWatched: boolean;
  /** Rows come whole, and wait for those that came before them. */
  readonly isReordering: boolean;
  /** Runs are numbers in columns. */
  readonly isFlat: boolean;
  readonly hasBase: boolean;
  readonly hasLastAt: boolean;
  /** How the partition's key stands in generated code; null without a partition, `text` for one of several parts. */
  readonly key: Representation | 'text' | null;
}

import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { FilterPlan, OperatorPlan, PatternPlan } from '../../../shared/language/plan/plan.ts';
import { prepareCondition } from '../evaluate/condition.ts';
import { MatchAttributes } from '../evaluate/match-id.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Row, type Scope, scopeOf } from '../operators/row.ts';
import type { Run } from './run.ts';

/** Which runs a match ends: `.after_match(..)`. */
export class AfterMatch {
  readonly policy: PatternPlan['afterMatch'];
  readonly #plan: PatternPlan;
  readonly #filters: readonly ((scope: Scope) => boolean)[];

  constructor(plan: PatternPlan, environment: OperatorEnvironment) {
    this.policy = plan.afterMatch;
    this.#plan = plan;
    const filters = plan.afterMatch === 'no_skip' ? [] : leadingFilters(environment.stream.operators);
    this.#filters = filters.map((filter) => prepareCondition(filter.condition, environment));
  }

  /** A match that the filters right behind the pattern drop ends nothing. One that fails there is dropped too, and reported there. */
  counts(match: Row): boolean {
    if (this.#filters.length === 0) return true;
    const scope = scopeOf({ ...match, attributes: new MatchAttributes(match.attributes, this.#plan, match.causes) });
    try {
      return this.#filters.every((filter) => filter(scope));
    } catch (thrown) {
      if (thrown instanceof EvaluationError) return false;
      throw thrown;
    }
  }

  /** Whether a match of a run that began at `began`, with its last event at `lastAt`, ends this run of the same partition. */
  ends(run: Run, began: number, lastAt: number): boolean {
    switch (this.policy) {
      case 'no_skip':
        return false;
      case 'skip_to_next':
        return run.began === began;
      case 'skip_past_last':
        return run.began <= lastAt;
    }
  }
}

/** The conditions on matches that stand right behind the pattern. */
export function leadingFilters(operators: readonly OperatorPlan[]): readonly FilterPlan[] {
  const end = operators.findIndex((operator) => operator.kind !== 'filter');
  return (end === -1 ? operators : operators.slice(0, end)) as readonly FilterPlan[];
}

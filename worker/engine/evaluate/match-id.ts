import type { Value } from '../../../shared/events/value.ts';
import { xxHash64 } from '../../../shared/language/functions/xxhash64.ts';
import type { AttributeName, PatternPlan } from '../../../shared/language/plan/plan.ts';

/** 16 hex digits that name a match: made from the pattern and the arrival numbers of its events, so equal in every replay. */
function matchId(pattern: PatternPlan, causes: readonly number[]): string {
  return xxHash64(`${pattern.name ?? pattern.fingerprint}:${causes.join(',')}`);
}

/** Attributes of a match; its `match_id` is computed when it is read. */
export class MatchAttributes extends Map<AttributeName, Value> {
  readonly #pattern: PatternPlan;
  readonly #causes: readonly number[];

  constructor(own: ReadonlyMap<AttributeName, Value> | null, pattern: PatternPlan, causes: readonly number[]) {
    super(own ?? []);
    this.#pattern = pattern;
    this.#causes = causes;
  }

  override get(name: AttributeName): Value | undefined {
    if (name === 'match_id' && !super.has(name)) this.set(name, matchId(this.#pattern, this.#causes));
    return super.get(name);
  }

  /** Whoever copies the attributes copies the id too. */
  override [Symbol.iterator](): MapIterator<[AttributeName, Value]> {
    this.get('match_id');
    return super[Symbol.iterator]();
  }
}

import { limits } from '../../../../limits.ts';
import type { PatternPlan } from '../../../plan/plan.ts';
import type { CheckContext } from '../../context.ts';
import { type BoundCall, countFor, durationFor, wordFor } from '../operator-arguments.ts';

/** How a pattern selects events and gives matches, as its operators say. */
export interface Policies {
  readonly selection: PatternPlan['selection'];
  /** Null = the default of the pattern's form. */
  readonly emission: PatternPlan['emission'] | null;
  readonly subsetsMax: number;
  readonly afterMatch: PatternPlan['afterMatch'];
  readonly withins: readonly number[];
  readonly runsMax: number;
  readonly closureMax: number;
}

const selections = { stnm: 'next', strict: 'strict', stam: 'any' } as const;
const emissions = { longest: 'longest', each: 'each', subsets: 'subsets' } as const;

/** Reads the policies among the operators of a pattern; reports those that exclude each other (E021). */
export function readPolicies(calls: readonly BoundCall[], context: CheckContext): Policies {
  const named = (name: string): readonly BoundCall[] => calls.filter((call) => call.descriptor.name === name);
  const last = (name: string): BoundCall | undefined => named(name).at(-1);
  const selection = oneOf(selections, calls, context);
  const emission = oneOf(emissions, calls, context);
  const subsets = last('subsets');
  for (const name of ['subsets', 'after_match']) refuseSecond(named(name), context);
  if (selection === 'any' && emission) refuseUnderAny(emission, calls, context);
  return {
    selection: selection ?? 'next',
    emission: emission ?? null,
    subsetsMax: (subsets && countFor(subsets, 'limit')) ?? limits.patternSubsetsPerCompletionDefault,
    afterMatch: (named('after_match').map((call) => wordFor(call, 'policy'))[0] ?? 'no_skip') as PatternPlan['afterMatch'],
    withins: named('within').flatMap((call) => durationFor(call, 'duration') ?? []),
    runsMax: least(named('max_runs')) ?? limits.patternRunsDefault,
    closureMax: least(named('max_closure')) ?? limits.patternClosureEventsDefault,
  };
}

function refuseSecond([, second]: readonly BoundCall[], context: CheckContext): void {
  if (second) context.report('E021', second.node.span, `\`.${second.descriptor.name}\` stands here twice`, 'keep one of them');
}

function least(calls: readonly BoundCall[]): number | undefined {
  const counts = calls.flatMap((call) => countFor(call, 'count') ?? []);
  return counts.length > 0 ? Math.min(...counts) : undefined;
}

/** The one policy of a kind that is given; E021 for a second, different one. */
function oneOf<T extends Readonly<Record<string, string>>>(
  names: T,
  calls: readonly BoundCall[],
  context: CheckContext,
): T[keyof T] | undefined {
  const given = calls.filter((call) => call.descriptor.name in names);
  const [first] = given;
  const other = given.find((call) => call.descriptor.name !== first?.descriptor.name);
  if (first && other) {
    context.report(
      'E021',
      other.node.span,
      `\`.${other.descriptor.name}()\` and \`.${first.descriptor.name}()\` exclude each other`,
      'keep one of them',
    );
  }
  return first && (names[first.descriptor.name] as T[keyof T]);
}

const whyNotAny: Readonly<Record<PatternPlan['emission'], string>> = {
  subsets: 'it branches for closures already, so that every subset comes: leave `.subsets()` out',
  each: 'it branches for closures already: leave `.each()` out',
  longest: 'it branches for closures: leave one of them out',
};

function refuseUnderAny(emission: PatternPlan['emission'], calls: readonly BoundCall[], context: CheckContext): void {
  const call = calls.find((each) => each.descriptor.name === emission);
  if (call) context.report('E021', call.node.span, `\`.stam()\` and \`.${emission}()\` exclude each other`, whyNotAny[emission]);
}

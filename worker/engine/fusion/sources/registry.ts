import type { SourcePlan } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import { fuseJoin } from '../joins/fuse-join.ts';
import { fusePattern, printWatchedPattern } from '../patterns/fuse-pattern.ts';
import { decideTrends } from '../patterns/trends/decide-trends.ts';
import { fuseTrends } from '../patterns/trends/fuse-trends.ts';
import type { SourceFuser, StreamPlace, WatchedSourceFuser } from '../place.ts';
import type { FusedInlet } from '../shared-functions.ts';
import { CannotFuse, Refusal } from '../typed.ts';

/** Joins and patterns that have a form in generated code; events need none. */
const sourceFusers: { readonly [K in SourcePlan['kind']]?: SourceFuser } = { join: fuseJoin, pattern: fusePatternOrTrends };

function fusePatternOrTrends(fusion: StreamPlace, origin: string, columns: Columns): readonly FusedInlet[] | Refusal {
  const trends = fusion.program.derived(decideTrends).get(fusion.plan);
  if (trends instanceof Refusal) return trends;
  return orRefused(fusion, () =>
    trends === undefined ? fusePattern(fusion, origin, columns) : fuseTrends(trends, fusion, origin, columns),
  );
}

/** For those that print while they decide: where they give up, what they have printed is taken back. */
function orRefused<T>({ program }: StreamPlace, print: () => T | Refusal): T | Refusal {
  const back = program.mark();
  try {
    return print();
  } catch (error) {
    if (!(error instanceof CannotFuse)) throw error;
    back();
    return new Refusal(error.message);
  }
}

/** What prints the kernel of a source that somebody wants to see at work. */
export function watchedSourceFuserOf(source: SourcePlan): WatchedSourceFuser | undefined {
  return source.kind === 'pattern' ? (fusion) => orRefused(fusion, () => printWatchedPattern(fusion)) : undefined;
}

export function sourceFuserOf(source: SourcePlan): SourceFuser {
  return sourceFusers[source.kind] ?? (() => new Refusal('time alone makes its rows'));
}

import type { SourcePlan } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import type { RowSourceFuser, SourceFuser, StreamContext } from '../fusion-context.ts';
import { fuseJoin } from '../joins/fuse-join.ts';
import { fusePattern, printRowPattern } from '../patterns/fuse-pattern.ts';
import { decideTrends } from '../patterns/trends/decide-trends.ts';
import { fuseTrends } from '../patterns/trends/fuse-trends.ts';
import type { FusedInlet } from '../shared-functions.ts';
import { Refusal } from '../typed.ts';

/** Joins and patterns that have a form in generated code; events need none. */
const sourceFusers: { readonly [K in SourcePlan['kind']]?: SourceFuser } = { join: fuseJoin, pattern: fusePatternOrTrends };

function fusePatternOrTrends(fusion: StreamContext, origin: string, columns: Columns): readonly FusedInlet[] | Refusal {
  const trends = fusion.program.derived(decideTrends).get(fusion.plan);
  if (trends instanceof Refusal) return trends;
  return trends === undefined ? fusePattern(fusion, origin, columns) : fuseTrends(trends, fusion, origin, columns);
}

/** What prints the kernel of a source whose rows come whole. */
export function rowSourceFuserOf(source: SourcePlan): RowSourceFuser | undefined {
  return source.kind === 'pattern' ? printRowPattern : undefined;
}

export function sourceFuserOf(source: SourcePlan): SourceFuser {
  return sourceFusers[source.kind] ?? (() => new Refusal('time alone makes its rows'));
}

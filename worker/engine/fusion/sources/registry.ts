import type { SourcePlan } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import { fuseJoin } from '../joins/fuse-join.ts';
import { fusePattern } from '../patterns/fuse-pattern.ts';
import { fuseTrends } from '../patterns/trends/fuse-trends.ts';
import type { SourceFuser } from '../place.ts';
import type { FusedInlet } from '../shared-functions.ts';
import type { StreamFusion } from '../stream-fusion.ts';
import { CannotFuse } from '../typed.ts';

/** Joins and patterns that have a form in generated code; events need none. */
const sourceFusers: { readonly [K in SourcePlan['kind']]?: SourceFuser } = { join: fuseJoin, pattern: fusePatternOrTrends };

function fusePatternOrTrends(fusion: StreamFusion, origin: string, columns: Columns): readonly FusedInlet[] {
  const isOfTrends = fusion.plan.operators[0]?.kind === 'trend_aggregate';
  return (isOfTrends ? fuseTrends : fusePattern)(fusion, origin, columns);
}

export function sourceFuserOf(source: SourcePlan): SourceFuser {
  return sourceFusers[source.kind] ?? cannotFuse;
}

function cannotFuse(): never {
  throw new CannotFuse('time alone makes its rows');
}

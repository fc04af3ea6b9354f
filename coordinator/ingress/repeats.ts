import { refusalError } from '../cluster/refusal-error.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { type IngressPlace, placesIn } from '../state/commands/ingress-answer.ts';
import type { RequestId } from '../state/commands.ts';
import { remembered } from '../state/sessions.ts';
import { dividedOtherwise, SEPARATOR } from './division.ts';

/** Of a request that came before: where the batches of its first command stand. */
export interface TakenBefore {
  readonly places: readonly IngressPlace[];
  /** Under which its commands are known. */
  readonly digest: string;
}

/**
 * What the state knows of a request that came before: whatever routes, workers and room there are by now, its events were taken.
 * @throws CepError `idempotency_conflict` when it was another request
 */
export function takenBefore(state: ClusterState, id: RequestId): TakenBefore | undefined {
  const before = state.sessions.get(id.session)?.results.find(({ sequence }) => sequence === id.sequence);
  if (before === undefined) return undefined;
  const { digest } = before;
  const known = remembered(state, digest.split(SEPARATOR)[0] === id.digest ? { ...id, digest } : id);
  if (known?.kind === 'refused') throw refusalError(known.refusal);
  return known && { places: placesIn(known.value), digest };
}

/** Where the batches of a command stand that is in the log; undefined when it is not, as far as the state knows. */
export function placesBefore(state: ClusterState, part: RequestId): readonly IngressPlace[] | undefined {
  const known = remembered(state, part);
  return known?.kind === 'done' ? placesIn(known.value) : undefined;
}

interface PortionTaken {
  readonly placementId: string;
  readonly pipeline: string;
  readonly count: number;
  readonly indexes?: readonly number[];
  readonly isUnplaced?: boolean;
}

/**
 * What was taken of a request of one command whose events went other ways than they would now. `indexes`: of its events that could be read.
 * @throws CepError `outcome_unknown` when no pipeline has taken all of these: which of them were taken is not known
 */
export function portionsTaken(
  { placements }: ClusterState,
  { places, digest }: TakenBefore,
  { id, indexes }: { readonly id: RequestId; readonly indexes: readonly number[] },
): readonly PortionTaken[] {
  const taken = places.map(({ placementId, eventCount: count }): PortionTaken => {
    const place = count === indexes.length ? { indexes } : { isUnplaced: true };
    return { placementId, pipeline: placements.get(placementId)?.pipeline ?? placementId, count, ...place };
  });
  const counts = new Map<string, number>();
  for (const { pipeline, count } of taken) counts.set(pipeline, (counts.get(pipeline) ?? 0) + count);
  if (digest !== id.digest || !Array.from(counts.values()).includes(indexes.length)) throw dividedOtherwise();
  return taken;
}

import { createHash } from 'node:crypto';
import { CepError } from '../../shared/errors/error.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { type IngressPlace, placesIn } from '../state/commands/ingress-answer.ts';
import type { RequestId } from '../state/commands.ts';

/** Events that go into the log of one placement together. */
interface Portion {
  readonly placementId: string;
  /** Where in the request each of them stands. */
  readonly indexes?: readonly number[];
  readonly count: number;
}

/** Between the digest of a request and the one of how it is divided. */
export const SEPARATOR = '.';

/**
 * The id of a request that takes several commands: with how it is divided among them, which follows from the routes and replicas that the
 * group has at the moment. Sent again, it is the same only if it is divided as it was: a part is known by its place alone.
 */
export function dividedId(id: RequestId, commands: readonly (readonly Portion[])[]): RequestId {
  return commands.length === 1 ? id : { ...id, digest: `${id.digest}${SEPARATOR}${divisionOf(commands)}` };
}

/** The same for events that go to the same placements in the same commands. */
export function divisionOf(commands: readonly (readonly Portion[])[]): string {
  const hash = createHash('sha256');
  for (const portions of commands) {
    for (const { placementId, count, indexes } of portions) hash.update(`${placementId} ${count} ${indexes?.join() ?? ''};`);
    hash.update('\n');
  }
  return hash.digest('base64url');
}

/**
 * What a conflict of the first command is about, where the state has the request: `other`, another request; `divided`, this one, divided
 * otherwise; `undivided`, this one as a member of the version before has proposed it, divided as it is now.
 */
export function conflictOf(state: ClusterState, id: RequestId, first: readonly Portion[]): 'other' | 'divided' | 'undivided' {
  const before = state.sessions.get(id.session)?.results.find(({ sequence }) => sequence === id.sequence);
  if (before === undefined || before.digest.split(SEPARATOR)[0] !== id.digest) return 'other';
  return before.digest === id.digest && hasPlacesOf(first, placesIn(before.value)) ? 'undivided' : 'divided';
}

/** Whether a request that was sent before, its first command to these places, is divided now as it was. */
export function isDividedAs(
  before: { readonly digest: string; readonly places: readonly IngressPlace[] },
  id: RequestId,
  commands: readonly (readonly Portion[])[],
): boolean {
  const isSame = before.digest === id.digest || before.digest === dividedId(id, commands).digest;
  return isSame && hasPlacesOf(commands[0] ?? [], before.places);
}

export function hasPlacesOf(portions: readonly Portion[], places: readonly IngressPlace[]): boolean {
  const isOf = ({ placementId, count }: Portion, at: number): boolean =>
    places[at]?.placementId === placementId && places[at].eventCount === count;
  return places.length === portions.length && portions.every(isOf);
}

export function dividedOtherwise(): CepError {
  const message =
    'a part of these events was taken before the pipelines, routes or replicas of the group were changed: what of the rest is not known';
  return new CepError('outcome_unknown', message, { hint: 'look which of them were done, and send the others under a new key' });
}

import { type ClusterState, contentOf, type Group, type Placement } from '../state/cluster-state.ts';
import { desiredRevision, routeTargets } from './desired-placement.ts';

interface Known {
  readonly targets: ReturnType<typeof routeTargets>;
  readonly revision: string;
}

/**
 * Revisions of placements, each found out once: they are asked for all placements at every look. What is in a state never changes, so what
 * is the same object says the same.
 */
export class DesiredRevisions {
  /** By the group, then by placement. */
  readonly #known = new WeakMap<Group, Map<string, Known>>();

  of(state: ClusterState, placement: Placement): string {
    const group = state.groups.get(placement.groupId);
    const content = group && contentOf(group, placement);
    if (group === undefined || content === undefined) return desiredRevision(state, placement);
    const ofGroup = this.#known.get(group) ?? new Map<string, Known>();
    this.#known.set(group, ofGroup);
    const targets = routeTargets(state, group, { from: placement.pipeline, content });
    const known = ofGroup.get(placement.id);
    if (known?.targets.length === targets.length && known.targets.every((one, at) => one === targets[at])) return known.revision;
    const revision = desiredRevision(state, placement);
    ofGroup.set(placement.id, { targets, revision });
    return revision;
  }
}

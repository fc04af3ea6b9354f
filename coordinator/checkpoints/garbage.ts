import type { ClusterState } from '../state/cluster-state.ts';
import { folderName, type StoredFile } from './checkpoint-store.ts';

/**
 * Tells which files of a store no state from this one on can need: those of placements that there are no more, and those of epochs that are
 * over which do not count. What is newer than the state is none of them, so a member that lags behind removes nothing that others have just written.
 * @param groupId Only files of this group are asked about. @default any
 */
export function garbageIn({ index, placements, manifests }: ClusterState, groupId?: string): (file: StoredFile) => boolean {
  const known = new Map(
    [...placements.values()].filter((one) => groupId === undefined || one.groupId === groupId).map((one) => [folderName(one.id), one]),
  );
  return ({ folder, epoch, sequence }) => {
    const placement = known.get(folder);
    // An epoch is the index of a decision: one that the state has seen was of a placement that has gone since.
    if (placement === undefined) return epoch <= index;
    const counting = manifests.get(placement.id) ?? [];
    return epoch < placement.epoch && !counting.some((one) => one.epoch === epoch && one.sequence === sequence);
  };
}

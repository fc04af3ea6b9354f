import fc from 'fast-check';
import { expect, it } from 'vitest';
import { folderName, type StoredFile } from '../../../coordinator/checkpoints/checkpoint-store.ts';
import { garbageIn } from '../../../coordinator/checkpoints/garbage.ts';
import { type ClusterState, emptyState } from '../../../coordinator/state/cluster-state.ts';
import { anyLog, step } from './state/commands.ts';

/** What may be needed in a state: checkpoints that count, and those that may yet be made to. */
function needed({ placements, manifests }: ClusterState): StoredFile[] {
  return [...placements.values()].flatMap(({ id, epoch }) => {
    const folder = folderName(id);
    const counting = manifests.get(id) ?? [];
    const next = { folder, epoch, sequence: (counting.at(-1)?.sequence ?? 0) + 1 };
    return [next, ...counting.map((one) => ({ folder, epoch: one.epoch, sequence: one.sequence }))].filter((file) => file.epoch > 0);
  });
}

it('is nothing that this state or a later one needs, and in the end everything that is not needed', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      let state = emptyState;
      const states = log.map((proposal) => {
        state = step(state, proposal).state;
        return state;
      });
      const files = states.flatMap(needed);
      const keyOf = ({ folder, epoch, sequence }: StoredFile): string => `${folder} ${epoch} ${sequence}`;
      const later = new Set<string>();
      for (const one of states.toReversed()) {
        for (const file of needed(one)) later.add(keyOf(file));
        expect(files.filter(garbageIn(one)).filter((file) => later.has(keyOf(file)))).toEqual([]);
      }
      const epochs = new Map([...state.placements.values()].map(({ id, epoch }) => [folderName(id), epoch]));
      const last = new Set(needed(state).map(keyOf));
      const isLeft = garbageIn(state);
      const kept = files.filter((file) => !last.has(keyOf(file)) && !isLeft(file));
      // Of the epoch that goes on, what came before is removed when the next one counts.
      expect(kept.filter(({ folder, epoch }) => epochs.get(folder) !== epoch)).toEqual([]);
    }),
  );
});

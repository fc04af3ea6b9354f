import fc from 'fast-check';
import { expect, it } from 'vitest';
import { desiredRevision } from '../../../coordinator/reconcile/desired-placement.ts';
import { DesiredRevisions } from '../../../coordinator/reconcile/desired-revisions.ts';
import { emptyState } from '../../../coordinator/state/cluster-state.ts';
import { anyLog, step } from './state/commands.ts';

it('revisions that are kept are those that each state gives anew, whatever has changed', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const revisions = new DesiredRevisions();
      let state = emptyState;
      for (const one of log) {
        state = step(state, one).state;
        for (const placement of state.placements.values()) {
          const kept = revisions.of(state, placement);
          if (kept !== desiredRevision(state, placement))
            expect([placement.id, kept]).toEqual([placement.id, desiredRevision(state, placement)]);
        }
      }
    }),
    { numRuns: 50 },
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TakenSequences } from '../../../worker/connectors/nats/taken-sequences.ts';

it('knows exactly the sequences that it was given, also after a way through a position', () => {
  const batches = fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }));
  fc.assert(
    fc.property(batches, (given) => {
      let taken = new TakenSequences([]);
      for (const batch of given) taken = new TakenSequences(JSON.parse(JSON.stringify(taken.with(batch).ranges)));
      const all = new Set(given.flat());
      for (let sequence = 0; sequence <= 61; sequence++) expect(taken.has(sequence)).toBe(all.has(sequence));
    }),
  );
});

it('keeps what follows without a gap as one range', () => {
  expect(new TakenSequences([[1, 3]]).with([5, 4, 9]).ranges).toEqual([
    [1, 5],
    [9, 9],
  ]);
});

it('forgets the oldest ones, so that a position stays small', () => {
  const odd = Array.from({ length: 5_000 }, (_, at) => 2 * at + 1);
  const taken = new TakenSequences([]).with(odd);
  expect(taken.ranges).toHaveLength(2_000);
  expect([taken.has(9_999), taken.has(1)]).toEqual([true, false]);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replicaOf } from '../../../shared/protocol/replica-of.ts';

describe('the replica of a key', () => {
  it('is the same for ever, because the state of a key is where its events went', () => {
    expect(['a', 'b', 'card-17', 1, 2.5, true].map((key) => replicaOf(key, 3))).toMatchInlineSnapshot(`
      [
        1,
        1,
        2,
        1,
        2,
        1,
      ]
    `);
  });

  it('is one of those that there are, and the first for what has no key', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 50 }), (key, replicas) => {
        const replica = replicaOf(key, replicas);
        return Number.isInteger(replica) && replica >= 0 && replica < replicas;
      }),
    );
    expect([replicaOf(undefined, 4), replicaOf(null, 4)]).toEqual([0, 0]);
  });

  it('spreads keys over all of them', () => {
    const counts = [0, 0, 0, 0];
    for (let key = 0; key < 4_000; key++) (counts[replicaOf(`k${key}`, 4)] as number)++;
    expect(Math.min(...counts)).toBeGreaterThan(800);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalValues } from '../../../shared/events/text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { EventShare } from '../../../worker/engine/sharing/event-share.ts';
import { keyHash } from '../../../worker/engine/sharing/key-hash.ts';
import { ownedEvents } from '../../../worker/engine/sharing/owned-events.ts';

const numbers = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true }), fc.constantFrom(-0, 2 ** 31, 2 ** 53, 0.5));
const values: fc.Arbitrary<Value> = fc.oneof(
  numbers,
  fc.string(),
  fc.boolean(),
  fc.constant(null),
  numbers.map((ms) => new Duration(Math.trunc(ms) % 1e9)),
  fc.integer({ min: -3, max: 3 }).map((ms) => new Timestamp(ms)),
  fc.constantFrom<Value>([1], [1, 'a'], new Map([['k', 1]])),
);

describe('keys', () => {
  it('that are equal have one hash', () => {
    fc.assert(
      fc.property(values, values, (one, other) => {
        if (equalValues(one, other)) expect(keyHash(one)).toBe(keyHash(other));
      }),
      { numRuns: 2_000 },
    );
    expect([keyHash(-0), keyHash(1), keyHash('é')]).toEqual([keyHash(0), keyHash(new Duration(1)), keyHash('\u00e9')]);
  });

  it('are spread among engines', () => {
    for (const keys of [Array.from({ length: 1_000 }, (_, i) => i), Array.from({ length: 1_000 }, (_, i) => `user_${i}`)]) {
      const counts = [0, 0, 0, 0];
      for (const key of keys) (counts[keyHash(key) % 4] as number)++;
      for (const count of counts) expect(count).toBeGreaterThan(200);
    }
  });
});

describe('an event', () => {
  const shares = (count: number): EventShare[] => {
    const keys = new Map([['A', 'user'], ['Z', null] as const] as [string, string | null][]);
    return Array.from({ length: count }, (_, number) => new EventShare({ number, count, keys }));
  };

  it('is taken by one engine, however it comes', () => {
    const all = shares(3);
    const owns = all.map((share) => ownedEvents(share, 'A'));
    const place = { texts: ['x', 'y'] as readonly string[], at: 1 };
    for (const user of ['', 'x', 'y', 'z', '😀'] as const) {
      const takers = all.map((share) => share.takes('A', new Map([['user', user]])));
      expect(takers.filter((takes) => takes)).toHaveLength(1);
      expect(owns.map((own) => own(user, undefined))).toEqual(takers);
      expect(owns.map((own) => own(user, { texts: [user], at: 0 }))).toEqual(takers);
      expect(owns.map((own) => own(user, { texts: [], at: -1 }))).toEqual(takers);
    }
    const twice = owns.map((own) => [own('y', place), own('y', place)]);
    expect(twice.every(([one, other]) => one === other)).toBe(true);
  });

  it('of a type of which nothing is remembered is taken in turn, and one of another type by all', () => {
    const all = shares(3);
    const takers = [1, 2, 3, 4].map((events) => {
      for (const share of all) share.events = events;
      return all.findIndex((share) => share.takes('Z', new Map()));
    });
    expect(takers).toEqual([1, 2, 0, 1]);
    expect(all.map((share) => share.takes('Unread', new Map()))).toEqual([true, true, true]);
  });
});

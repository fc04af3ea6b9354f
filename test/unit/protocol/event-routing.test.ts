import { describe, expect, it } from 'vitest';
import { isRouted, replicaOf } from '../../../shared/protocol/event-routing.ts';

describe('the types of a route', () => {
  it.each([
    [['Login'], 'Login', true],
    [['Login'], 'Logins', false],
    [['Log*'], 'Logins', true],
    [['Log*'], 'Lo', false],
    [['*'], 'Anything', true],
    [['A', 'B*'], 'Bee', true],
    [[], 'A', false],
  ])('%j take %s: %s', (types, type, expected) => expect(isRouted(types, type)).toBe(expected));
});

describe('the replica of an event', () => {
  it('follows from the value of its partition key, for ever', () => {
    const values = ['ada', 'bob', 7, 7.5, true, null, { a: 1 }];
    expect(values.map((value) => replicaOf(value, 5))).toMatchInlineSnapshot(`
      [
        3,
        0,
        1,
        1,
        1,
        4,
        1,
      ]
    `);
    expect(replicaOf(undefined, 5)).toBe(replicaOf(null, 5));
    expect(replicaOf('ada', 1)).toBe(0);
  });

  it('tells a text from the number that it looks like', () => {
    const replicas = 1_000_003;
    expect(replicaOf('7', replicas)).not.toBe(replicaOf(7, replicas));
  });

  it('spreads keys over all replicas', () => {
    const counts = Array<number>(4).fill(0);
    for (let key = 0; key < 4_000; key++) {
      const replica = replicaOf(`user-${key}`, 4);
      counts[replica] = (counts[replica] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(900);
  });
});

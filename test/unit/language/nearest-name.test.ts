import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestName } from '../../../shared/language/diagnostics/nearest-name.ts';

describe('nearestName', () => {
  it.each([
    ['prot', 'port'],
    ['porrt', 'port'],
    ['pot', 'port'],
    ['pprt', 'port'],
    ['PORT', 'port'],
    ['partitoin_by', 'partition_by'],
    ['strictevent', 'strict_events'],
  ])('takes %s for %s', (name, expected) => {
    expect(nearestName(name, ['bind', 'port', 'partition_by', 'strict_events', 'api_key_file'])).toBe(expected);
  });

  it.each(['x', 'pxxt', 'completely_different', ''])('finds nothing near %j', (name) => {
    expect(nearestName(name, ['y', 'port', 'bind'])).toBeUndefined();
  });

  it('prefers the closest, and of equally close ones the first', () => {
    expect(nearestName('sensor', ['sensors_b', 'sensos', 'sensore'])).toBe('sensos');
    expect(nearestName('sensor', ['sensor_ab', 'Sensor', 'sensors'])).toBe('Sensor');
  });

  it('never answers with the name itself', () => {
    expect(nearestName('port', ['port'])).toBeUndefined();
    expect(nearestName('port', ['port', 'ports'])).toBe('ports');
  });

  it('agrees with the textbook distance', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 9 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 6 }), (name, candidates) => {
        const bound = Math.min(3, Math.max(1, Math.floor(name.length / 3)));
        const within = candidates.filter((candidate) => candidate !== name && distance(name, candidate) <= bound);
        const least = Math.min(...within.map((candidate) => distance(name, candidate)));
        expect(nearestName(name, candidates)).toBe(within.find((candidate) => distance(name, candidate) === least));
      }),
    );
  });
});

/** Optimal string alignment by its recursive definition. */
function distance(a: string, b: string): number {
  const known = new Map<string, number>();
  const between = (i: number, j: number): number => {
    const key = `${i},${j}`;
    const value = known.get(key) ?? compute(i, j);
    known.set(key, value);
    return value;
  };
  const compute = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const options = [between(i - 1, j) + 1, between(i, j - 1) + 1, between(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)];
    if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) options.push(between(i - 2, j - 2) + 1);
    return Math.min(...options);
  };
  return between(a.length, b.length);
}

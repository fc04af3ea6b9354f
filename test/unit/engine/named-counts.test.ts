import { describe, expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { LabelSets } from '../../../worker/engine/streams/label-sets.ts';
import { NamedCounts } from '../../../worker/engine/streams/named-counts.ts';
import { UnreadTypes } from '../../../worker/engine/streams/unread-types.ts';

const long = 'x'.repeat(limits.countedNameCharsMax + 1);

describe('counts by name', () => {
  it('count so many names each, and what has a further or a long one as the rest', () => {
    const counts = new NamedCounts(2, 'other');
    for (const name of ['a', long, 'b', 'c', 'a', long.slice(1)]) counts.add(name);
    expect([...counts.all]).toEqual([
      ['a', 2],
      ['other', 3],
      ['b', 1],
    ]);
  });

  it('are bounded in the same way when they are loaded, and go on as before', () => {
    const [before, counts] = [new NamedCounts(3, 'other'), new NamedCounts(3, 'other')];
    for (const name of ['z', 'y', 'x', 'w']) before.add(name);
    counts.load([...before.all].sort());
    expect(new Map(counts.all)).toEqual(new Map(before.all));
    counts.load([
      ['a', 5],
      [long, 7],
      ['b', 1],
      ['c', 1],
      ['d', 1],
    ]);
    expect(Object.fromEntries(counts.all)).toEqual({ a: 5, b: 1, c: 1, other: 8 });
  });

  it('leave out what has no place where there is no rest', () => {
    const types = new UnreadTypes();
    types.load(1_000, new Map([[long, 800], ...Array.from({ length: 200 }, (_, at) => [`t${at}`, 1] as const)]));
    types.add(long);
    expect([types.events, types.byType.size, types.byType.has(long)]).toEqual([1_001, 100, false]);
  });
});

describe('sets of labels', () => {
  const tapped = (value: string) => ({ counter: 'seen', labels: [['k', value] as const] });
  const counted = (counts: Map<string, number>, sets: LabelSets, value: string): void => {
    const name = sets.nameIn(counts, tapped(value));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };

  it('with a long value count as the other ones do', () => {
    const counts = new Map<string, number>();
    for (const value of ['a', long]) counted(counts, new LabelSets(), value);
    expect(Object.fromEntries(counts)).toEqual({ 'seen{k="a"}': 1, 'seen{k="other"}': 1 });
  });

  it('come back as they were, and none beyond their bounds', () => {
    const [counts, sets] = [new Map<string, number>(), new LabelSets()];
    for (let n = 0; n <= limits.tapLabelSetsMax; n++) counted(counts, sets, n === 0 ? long : `"${n}\\,{=`);
    counts.set('bare', 3);
    expect(LabelSets.load(counts)).toEqual(counts);
    counts
      .set(`seen{k=${JSON.stringify(long)}}`, 5)
      .set('seen{k="more"}', 7)
      .set(long, 1)
      .set('seen{k="\\q"}', 1);
    const loaded = LabelSets.load(counts);
    expect([loaded.size, loaded.get('seen{k="other"}')]).toEqual([limits.tapLabelSetsMax + 2, 14]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContentIds, type OutputContent } from '../../../../worker/runtime/placed/content-ids.ts';

const output = fc.record({
  kind: fc.constant('o'),
  stream: fc.constantFrom('A', 'B'),
  type: fc.constant('T'),
  time: fc.integer({ min: 0, max: 3 }),
  fieldsJson: fc.constantFrom('{"a":1}', '{"a":2}'),
});

describe('ids made of content', () => {
  it('are the same for the same outputs in any other order, and each is given once', () => {
    fc.assert(
      fc.property(fc.array(output, { maxLength: 60 }), fc.infiniteStream(fc.nat()), (outputs, random) => {
        const given = (list: readonly OutputContent[]): string[] => {
          const ids = new ContentIds('p');
          return list.map((one) => ids.next(one)).sort();
        };
        const shuffled = outputs.map((one) => [random.next().value as number, one] as const).sort(([a], [b]) => a - b);
        const first = given(outputs);
        expect(given(shuffled.map(([, one]) => one))).toEqual(first);
        expect(new Set(first).size).toBe(first.length);
      }),
    );
  });

  it('go on from what was saved as if nothing had happened', () => {
    fc.assert(
      fc.property(fc.array(output, { maxLength: 60 }), fc.nat(60), (outputs, at) => {
        const whole = new ContentIds('p');
        const ids = outputs.map((one) => whole.next(one));
        const first = new ContentIds('p');
        const before = outputs.slice(0, at).map((one) => first.next(one));
        const second = new ContentIds('p', JSON.parse(JSON.stringify(first.save())));
        expect([...before, ...outputs.slice(at).map((one) => second.next(one))]).toEqual(ids);
      }),
    );
  });

  it('of the newest time are kept when they are many, also by what goes on from them', () => {
    const ids = new ContentIds('p');
    const at = (n: number): OutputContent => ({ kind: 'o', stream: 'S', type: 'T', time: 1, fieldsJson: `{"n":${n}}` });
    const first = Array.from({ length: 10_000 }, (_, n) => ids.next(at(n)));
    const second = new ContentIds('p', ids.save());
    expect(second.save().length).toBe(10_000);
    expect(second.next(at(0))).toBe(`${first[0]}-1`);
  });

  it('are others in a placement that came later under the same name, and those of before where it does not say when it came', () => {
    const content: OutputContent = { kind: 'o', stream: 'S', type: 'T', time: 1, fieldsJson: '{}' };
    const [before, first, second] = [undefined, 70, 80].map((created) => new ContentIds('p', [], created).next(content)) as string[];
    const digest = before?.slice('p-'.length);
    expect([before, first, second]).toEqual([`p-${digest}`, `p-1y-${digest}`, `p-28-${digest}`]);
  });

  it('are kept in a bounded number', () => {
    const ids = new ContentIds('p');
    for (let time = 0; time < 20_000; time++) ids.next({ kind: 'o', stream: 'S', type: 'T', time, fieldsJson: '{}' });
    expect(ids.save().length).toBeLessThanOrEqual(5_120);
  });

  it('are the same behind a save whether or not others were made since', () => {
    const at = (n: number): OutputContent => ({ kind: 'o', stream: 'S', type: 'T', time: n, fieldsJson: '{}' });
    const first = new ContentIds('p');
    for (let n = 0; n < 3_000; n++) first.next(at(n));
    const second = new ContentIds('p', first.save());
    for (let n = 3_000; n < 4_600; n++) {
      first.next(at(n));
      second.next(at(n));
    }
    first.save();
    expect(first.next(at(10))).toBe(second.next(at(10)));
  });
});

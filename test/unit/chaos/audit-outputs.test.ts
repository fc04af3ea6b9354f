import { describe, expect, it } from 'vitest';
import { auditOutputs, isExact } from '../../../chaos/process/cluster/audit-outputs.ts';
import { expected, textOf } from '../../../chaos/process/cluster/expected.ts';
import type { Delivery } from '../../../chaos/process/cluster/sink.ts';
import { step } from '../../../chaos/process/cluster/story.ts';

const sent = Array.from({ length: 40 }, (_, number) => step('p0', number)).flat();
const right = expected('p0', sent).map((said, at): Delivery => ({ id: `id-${at}`, text: textOf(said), at }));
const audited = (deliveries: readonly Delivery[], pings: Parameters<typeof auditOutputs>[0]['pings'] = []) =>
  auditOutputs({ deliveries, sent: new Map([['p0', sent]]), pings });
const ping = (number: number): Delivery => ({ id: `ping-${number}`, text: textOf({ type: 'Ponged', data: { number } }), at: 0 });

describe('what must come of a story', () => {
  it('is a pair for each that is opened before it is closed, windows of complete numbers, and joins that have both sides', () => {
    const said = (type: string) => expected('p0', sent).filter((one) => one.type === type);
    // Of 40 steps: the last three are not closed yet, every fifth pair is closed before it is opened.
    expect(said('Paired')).toHaveLength(37 - 7);
    expect(said('Total')[0]?.data).toEqual({ producer: 'p0', events: 5, first: 0, last: 5, sum: 11 });
    expect(said('Counted')).toHaveLength(5);
    expect(said('Joined')).toHaveLength(38 - 9);
  });
});

describe('an audit', () => {
  it('finds nothing where everything was said, however often under one id', () => {
    const report = audited([...right, ...right.slice(0, 3)]);
    expect([isExact(report), report.repeats, report.expected]).toEqual([true, 3, right.length]);
  });

  it('finds what was not said', () => {
    expect(audited(right.slice(1)).lost).toEqual([right[0]?.text]);
  });

  it('finds what was said under two ids, and what of one id says two things', () => {
    const [first, second] = right as [Delivery, Delivery];
    const { doubled, collided } = audited([...right, { ...first, id: second.id }]);
    expect([doubled, collided]).toEqual([[`${first.text}: id-0 and id-1`], [`id-1: ${second.text} and ${first.text}`]]);
  });

  it('finds what nobody caused', () => {
    expect(audited([...right, ping(1)]).invented).toEqual([ping(1).text]);
  });

  it('lets the clock close windows of time as it comes, and finds what closes twice or holds what nobody sent', () => {
    const beats = [1, 2, 3].map((number) => ({ event_type: 'Beat', fields: { producer: 'b', number, order: '7' } }) as const);
    const closed = (id: string, order: string, numbers: readonly number[]): Delivery => ({
      ...{ id, at: 0, text: textOf({ type: 'Beaten', data: { order, numbers } }) },
    });
    const report = (...deliveries: readonly Delivery[]) => auditOutputs({ deliveries, sent: new Map([['b', beats]]), pings: [] });
    expect(isExact(report(closed('w', '7', [1, 3]), closed('w', '7', [1, 3])))).toBe(true);
    expect(report(closed('w', '7', [1]), closed('v', '7', [1, 2])).contradicted).toHaveLength(1);
    expect(report(closed('w', '7', [1, 4])).invented).toHaveLength(1);
    expect(report(closed('w', '8', [1])).invented).toHaveLength(1);
  });

  it('finds what was said before what comes first', () => {
    const [first, second, ...rest] = right as [Delivery, Delivery, ...Delivery[]];
    expect(audited([second, first, ...rest]).disordered).toEqual([second.text]);
  });

  it('lets an event of which nobody knows come or not, and holds others to what was told of them', () => {
    expect(isExact(audited([...right, ping(0)], ['unknown', 'unknown']))).toBe(true);
    expect(audited([...right, ping(1)], ['taken', 'not taken'])).toMatchObject({ lost: [ping(0).text], invented: [ping(1).text] });
  });
});

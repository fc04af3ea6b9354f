import { describe, expect, test } from 'vitest';
import { Harness, type HarnessOptions } from './harness.ts';
import {
  and,
  binary,
  both,
  constant,
  type Draft,
  field,
  held,
  maybe,
  not,
  or,
  pattern,
  plus,
  sameKey,
  seq,
  step,
} from './pattern-builder.ts';

const pair = seq(step('A'), step('B', { where: sameKey('a') }));

function openRuns(count: number, options: HarnessOptions = {}, plan = pattern(pair, { withinMs: 60_000 })): Harness {
  const harness = new Harness(plan, options);
  for (let index = 0; index < count; index++) harness.push({ type: 'A', v: index, k: `k${index}`, time: index });
  return harness;
}

describe('open runs that wait for an equal key', () => {
  test('an event meets only those with its key', () => {
    const harness = openRuns(1_000);
    harness.evaluations = 0;
    harness.push({ type: 'B', v: 0, k: 'k500', time: 1_000 });
    expect(harness.text()).toEqual(['(A500{k500},B0{k500})']);
    expect(harness.evaluations).toBe(1);
  });

  test('without the index every one of them is asked, with the same result', () => {
    const harness = openRuns(1_000, { isIndexed: false });
    harness.evaluations = 0;
    harness.push({ type: 'B', v: 0, k: 'k500', time: 1_000 });
    expect(harness.text()).toEqual(['(A500{k500},B0{k500})']);
    expect(harness.evaluations).toBe(1_000);
  });

  test('a NOT and a .not are found by their keys too', () => {
    const absent = pattern(seq(step('A'), not('B', { where: sameKey('a'), withinMs: 60_000 })));
    const cancelled = pattern(seq(step('A'), step('C')), { not: [{ type: 'B', where: sameKey('a') }] });
    for (const plan of [absent, cancelled]) {
      const harness = openRuns(1_000, {}, plan);
      harness.evaluations = 0;
      harness.push({ type: 'B', v: 0, k: 'k500', time: 1_000 });
      expect(harness.matcher.activeRuns).toBe(999);
      expect(harness.evaluations).toBe(1);
    }
  });

  test('a condition in front that may fail keeps every run in reach, so no failure goes unseen', () => {
    const failing = both(binary('>', binary('+', field('k'), constant('x')), constant('a')), sameKey('a'));
    const harness = openRuns(3, {}, pattern(seq(step('A'), step('B', { where: failing }))));
    harness.push({ type: 'B', v: 0, k: 'k1', time: 10 });
    expect(harness.evaluations).toBe(3);
    expect(harness.text()).toEqual(['(A1{k1},B0{k1})']);
  });

  test('numbers and durations that are equal share a key, text and numbers do not', () => {
    const byValue = pattern(seq(step('A'), step('B', { where: binary('==', field('v'), held('a', 'k')) })));
    expect(new Harness(byValue).pushAll('A{7} B7').text()).toEqual([]);
  });
});

describe('the shapes that engines are compared by', () => {
  test('rising prices: one match per run, which the event after next completes', () => {
    const rising = seq(
      step('S', { as: 'first' }),
      plus('S', { as: 'rising', where: binary('>', field('v'), held('first', 'v')) }),
      step('S', { as: 'last', where: binary('>', field('v'), held('rising', 'v')) }),
    );
    const harness = new Harness(pattern(rising, { withinMs: 60_000 }), { by: 'k' });
    for (let i = 0; i < 2_000; i++) harness.push({ type: 'S', v: 100 + Math.floor(i / 10) * 10 + (i % 10), k: `s${i % 2}`, time: i });
    expect(harness.matches).toHaveLength(1_996);
  });

  test('A then B with the same id: one match per pair, and nothing left', () => {
    const harness = new Harness(pattern(pair, { withinMs: 60_000 }));
    for (let i = 0; i < 2_000; i++) harness.push({ type: i % 2 === 0 ? 'A' : 'B', v: i, k: `k${i >> 1}`, time: i });
    expect([harness.matches.length, harness.matcher.activeRuns]).toEqual([1_000, 0]);
  });

  test('the same with a thousand open As at a time', () => {
    const harness = new Harness(pattern(pair, { withinMs: 60_000 }));
    for (let i = 0; i < 4_000; i++) {
      const at = i % 2_000;
      harness.push({ type: at < 1_000 ? 'A' : 'B', v: i, k: `k${Math.floor(i / 2_000)}-${at % 1_000}`, time: i });
    }
    expect([harness.matches.length, harness.evaluations]).toEqual([2_000, 2_000]);
  });

  test('a closure of thousands of captures stays cheap to grow', () => {
    const harness = new Harness(pattern(seq(step('A'), plus('B', { withinMs: 10_000 }), step('C')), { withinMs: 1e9 }));
    harness.push({ type: 'A', v: 0, k: null, time: 0 });
    for (let i = 0; i < 9_000; i++) harness.push({ type: 'B', v: i, k: null, time: i });
    harness.push({ type: 'C', v: 0, k: null, time: 9_000 });
    expect(harness.matches[0]?.bound?.[1]).toHaveLength(9_000);
  });

  test('brackets in brackets, each with a time of its own: what may come next is found out once for each of them', () => {
    const within = (inner: Draft, end: string): Draft => and(step('A', { withinMs: 1_000 }), seq(or(maybe('B'), inner), step(end)));
    let nested: Draft = and(step('A'), step('B', { withinMs: 1_000 }));
    for (let depth = 1; depth < 100; depth++) nested = within(nested, 'C');
    const harness = new Harness(pattern(seq(step('X'), within(nested, 'D'))));
    expect(harness.pushAll('X@0 A@1 D@1').text(true)).toHaveLength(1);
  });
});

import { describe, expect, test } from 'vitest';
import { matchesOf, timedMatchesOf } from './harness.ts';
import { and, binary, field, held, maybe, not, pattern, plus, sameKey, seq, star, step, unlessFirst } from './pattern-builder.ts';

const pair = seq(step('A', { as: 'a' }), step('B', { as: 'b' }));
const withClosure = seq(step('A'), plus('B'), step('C'));

describe('the worked examples of the reference', () => {
  test('each A opens a run and the first B completes them all', () => {
    expect(matchesOf(pattern(pair), 'A1@0 A2@1 B1@2 B2@3')).toEqual(['(A1,B1)', '(A2,B1)']);
  });

  test('skip till any match finds every combination', () => {
    expect(matchesOf(pattern(pair, { selection: 'any' }), 'A1@0 A2@1 B1@2 B2@3')).toEqual(['(A1,B1)', '(A2,B1)', '(A1,B2)', '(A2,B2)']);
  });

  test('strict contiguity lets only the A right before the B match', () => {
    expect(matchesOf(pattern(pair, { selection: 'strict' }), 'A1 A2 B1')).toEqual(['(A2,B1)']);
  });

  test('skip_past_last drops every run that began before the end of the match', () => {
    expect(matchesOf(pattern(pair, { afterMatch: 'skip_past_last' }), 'A1 A2 B1')).toEqual(['(A1,B1)']);
  });

  test('a sequence of one type slides over the events', () => {
    const three = seq(step('A', { as: 'a' }), step('A', { as: 'b' }), step('A', { as: 'c' }));
    expect(matchesOf(pattern(three), 'A1 A2 A3 A4')).toEqual(['(A1,A2,A3)', '(A2,A3,A4)']);
  });

  test('a closure before a step is matched once, whole', () => {
    expect(matchesOf(pattern(withClosure), 'A B1 B2 C C')).toEqual(['(A,[B1,B2],C)']);
  });

  test('.each() gives its beginnings when the step behind it comes', () => {
    expect(matchesOf(pattern(withClosure, { emission: 'each' }), 'A B1 B2 C C')).toEqual(['(A,[B1],C)', '(A,[B1,B2],C)']);
  });

  test('.subsets() gives its subsets in order of discovery', () => {
    expect(matchesOf(pattern(withClosure, { emission: 'subsets' }), 'A B1 B2 C C')).toEqual(['(A,[B1],C)', '(A,[B2],C)', '(A,[B1,B2],C)']);
  });

  test('a closure that ends the pattern matches at each capture', () => {
    expect(timedMatchesOf(pattern(seq(step('A'), plus('B'))), 'A1@0 B1@1 B2@2')).toEqual(['(A1,[B1])@1', '(A1,[B1,B2])@2']);
  });

  test('A -> B* -> C matches without a B', () => {
    expect(matchesOf(pattern(seq(step('A'), star('B'), step('C'))), 'A C')).toEqual(['(A,[],C)']);
  });

  test('A -> B? -> C matches without a B, which is null', () => {
    expect(matchesOf(pattern(seq(step('A'), maybe('B'), step('C'))), 'A C')).toEqual(['(A,-,C)']);
  });

  test('A -> NOT B within 5m matches at the deadline', () => {
    const absence = pattern(seq(step('A'), not('B', { withinMs: 300_000 }), step('X', { as: 'x' })));
    const trailing = pattern(seq(step('A'), not('B', { withinMs: 300_000 })));
    expect(timedMatchesOf(trailing, 'A@0 X@301')).toEqual(['(A)@300']);
    expect(timedMatchesOf(trailing, 'A@0 B@10 X@301')).toEqual([]);
    expect(timedMatchesOf(absence, 'A@0 X@301')).toEqual(['(A,X)@301']);
  });

  test('.not(X) cancels the runs for which its condition holds', () => {
    const cancelled = pattern(seq(step('A'), step('B')), { not: [{ type: 'X', where: sameKey('a') }] });
    expect(matchesOf(cancelled, 'A{k1} A{k2} X{k1} B')).toEqual(['(A{k2},B)']);
  });

  test('within bounds the distance from first to last event, inclusive', () => {
    const bounded = pattern(pair, { withinMs: 10_000 });
    expect(matchesOf(bounded, 'A@0 B@10')).toEqual(['(A,B)']);
    expect(matchesOf(bounded, 'A@0 B@11')).toEqual([]);
  });

  test('AND(A, B) completes in any order', () => {
    expect(matchesOf(pattern(and(step('A'), step('B'))), 'B A')).toEqual(['(A,B)']);
  });

  test('a closure compares with its previous capture, from each beginning', () => {
    const rising = plus('T', { as: 'b', where: unlessFirst('b', binary('>', field('v'), held('b', 'v'))) });
    expect(matchesOf(pattern(seq(rising, step('E'))), 'T5 T3 T6 E')).toEqual(['([T5,T6],E)', '([T3,T6],E)', '([T6],E)']);
  });
});

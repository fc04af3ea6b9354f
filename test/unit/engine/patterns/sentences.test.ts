import { describe, expect, test } from 'vitest';
import { errorsOf, harnessOf, matches, matchesToTheEnd, timedMatches } from './program.ts';

describe('where', () => {
  test('a condition reads the candidate bare, through its own alias, and earlier steps by alias', () => {
    expect(matches('A as a -> B where v > a.v and b.v < 9 as b', 'A5 B4 B9 B7')).toEqual(['(A5,B7)']);
  });

  test('inside a closure its alias is the previous capture, and the first capture satisfies the comparison', () => {
    expect(matches('A -> B+ where v > b.v as b -> C', 'A B5 B3 B6 C')).toEqual(['(A,[B5,B6],C)']);
  });

  test('each comparison that mentions the previous capture is satisfied on its own', () => {
    expect(matches('A -> B+ where v > b.v and v < 9 as b -> C', 'A B10 B5 B9 B8 C')).toEqual(['(A,[B5,B8],C)']);
  });

  test('a later condition may use aggregates of an earlier closure', () => {
    expect(matches('A -> B+ as b -> C where v == count(b) and v <= sum(b.v)', 'A B1 B2 C1 C2')).toEqual(['(A,[B1,B2],C2)']);
  });

  test('first(b), last(b), b[0] and prev(b) read single captures', () => {
    expect(
      matches('A -> B+ as b -> C where first(b).v == 1 and b[0].v == 1 and last(b).v == 3 and prev(b).v == 2', 'A B1 B2 B3 C'),
    ).toEqual(['(A,[B1,B2,B3],C)']);
  });

  test('a filter behind the pattern drops finished matches', () => {
    expect(matches('A as a -> B as b .where(a.v == b.v)', 'A1 A2 B2')).toEqual(['(A2,B2)']);
  });

  test('a condition that fails drops the event for this pattern, is reported, and changes no run', () => {
    const harness = harnessOf('A as a -> B where v + "x" == "1x" as b -> C');
    harness.pushAll('A1 B2 C');
    expect(harness.failures.map((row) => row.type)).toEqual(['B']);
    expect(harness.matcher.activeRuns).toBe(1);
  });

  test('an event whose condition fails for one run is taken by no other', () => {
    const harness = harnessOf('A as a -> B where a.v == 1 or k + 1 == 2 as b');
    expect(harness.pushAll('A1 A2 B{x}').text()).toEqual([]);
    expect(harness.matcher.activeRuns).toBe(2);
  });
});

describe('displaced events', () => {
  /** The matches, and how many events were late. */
  function displaced(pattern: string, input: string): readonly [readonly string[], number] {
    const harness = harnessOf(pattern);
    return [harness.pushAll(input).text(true), harness.late.length];
  }

  test('a within bounds the pattern either way, and what lies further back is late', () => {
    expect(displaced('A as a -> B as b within 5s', 'A@100 B@20')).toEqual([[], 1]);
    expect(displaced('A as a -> B as b within 5s', 'A@100 B@95')).toEqual([['(A,B)@95'], 0]);
    expect(displaced('A as a -> B as b within 5s', 'A@100 B@94.999')).toEqual([[], 1]);
    expect(displaced('A as a -> B as b', 'A@100 B@20')).toEqual([['(A,B)@20'], 0]);
    expect(displaced('AND(A as a, B as b) within 5s', 'B@100 A@20')).toEqual([[], 1]);
    expect(displaced('A as a -> B+ as b -> C within 5s', 'A@100 B1@20 B2@101 B3@99 C@102')).toEqual([['(A,[B2,B3],C)@102'], 1]);
  });

  test('so do the within of a step and that of a group', () => {
    expect(displaced('A as a -> (B as b within 5s)', 'A@100 B@20 B@101')).toEqual([['(A,B)@101'], 0]);
    expect(displaced('A as a -> B as b within 5s -> C as c', 'A@100 B@20 B@95 C@1')).toEqual([['(A,B,C)@1'], 0]);
    expect(displaced('A -> ((B as b -> C as c) within 5s)', 'A@100 B@101 C@20 C@102')).toEqual([['(A,B,C)@102'], 0]);
  });

  test('an event that lies too far back ends no run', () => {
    expect(displaced('A as a -> NOT B within 5s -> C as c', 'A@100 B@20 C@106')).toEqual([['(A,C)@106'], 0]);
    expect(displaced('A as a -> NOT B within 5s -> C as c', 'A@100 B@95 C@106')).toEqual([[], 0]);
    expect(displaced('A as a -> NOT B -> C as c .within(9s)', 'A@100 B@20 C@106')).toEqual([['(A,C)@106'], 0]);
    expect(displaced('A as a -> C as c .within(9s) .not(X)', 'A@100 X@20 C@106')).toEqual([['(A,C)@106'], 0]);
    expect(displaced('A as a -> C as c .within(9s) .strict()', 'A@100 C@20 C@106')).toEqual([['(A,C)@106'], 1]);
  });

  test('a run that time has passed does not begin: its event is late, once', () => {
    expect(displaced('A as a -> B as b within 5s', 'X@100 A@20 B@21')).toEqual([[], 2]);
    expect(displaced('A as a -> A as b within 5s', 'X@100 A@20 A@94 A@95 A@96')).toEqual([['(A,A)@96'], 2]);
    expect(displaced('A+ as a within 5s', 'X@100 A@20')).toEqual([[], 1]);
    expect(displaced('A as a -> B as b within 5s -> C as c', 'X@100 A@20 B@21 C@22')).toEqual([[], 1]);
  });

  test('a run whose gap behind a displaced event is over ends with the watermark, but not at the time of its first event', () => {
    const source = 'A as a -> B as b -> (C as c within 1s)';
    expect(displaced(source, 'A@10 B@5 C@5')).toEqual([['(A,B,C)@5'], 0]);
    expect(displaced(source, 'A@10 B@5 X@10.001 C@5')).toEqual([[], 0]);
    expect(displaced(source, 'A@10 B@5 C@7')).toEqual([[], 0]);
    expect(displaced(source, 'X@10 A@5 B@5 C@5')).toEqual([[], 0]);
  });

  test('what a first step refuses is not late', () => {
    expect(displaced('A where v > 5 as a -> B as b within 5s', 'X@100 A1@20 A7@20')).toEqual([[], 1]);
  });

  test('match_duration_ms is a distance', () => {
    const harness = harnessOf('A as a -> B as b within 5s').pushAll('A@100 B@97');
    expect(harness.matches.map((match) => match.fields.get('match_duration_ms'))).toEqual([3000]);
  });
});

describe('several closures', () => {
  test('the one that ends the pattern grows, the others are whole', () => {
    expect(matches('A+ as a -> B+ as b', 'A1 A2 B1 B2')).toEqual(['([A1,A2],[B1])', '([A2],[B1])', '([A1,A2],[B1,B2])', '([A2],[B1,B2])']);
    expect(matches('A+ as a -> B+ as b .subsets()', 'A1 B1 B2')).toEqual(['([A1],[B1])', '([A1],[B2])', '([A1],[B1,B2])']);
    expect(matches('A+ as a -> B+ as b -> C? as c', 'A1 B1 B2')).toEqual(['([A1],[B1],-)', '([A1],[B1,B2],-)']);
    expect(matches('A+ as a -> (B as b -> C as c)+', 'A1 B1 C1 B2 C2')).toEqual(['([A1],[B1],[C1])', '([A1],[B1,B2],[C1,C2])']);
  });

  test('where none ends it, the first does', () => {
    expect(matches('A+ as a -> B+ as b -> C .each()', 'A1 A2 B1 B2 C')).toEqual([
      '([A1],[B1,B2],C)',
      '([A1,A2],[B1,B2],C)',
      '([A2],[B1,B2],C)',
    ]);
    expect(timedMatches('A+ as a -> B+ as b -> NOT C within 2s .each()', 'A1@0 A2@1 B1@2 X@9')).toEqual([
      '([A1],[B1])@4',
      '([A1,A2],[B1])@4',
      '([A2],[B1])@4',
    ]);
  });
});

describe('selection', () => {
  test('a run takes the first event that satisfies its next step and skips the others', () => {
    expect(matches('A as a -> B where v > 5 as b -> C as c', 'A B1 X B6 B7 C')).toEqual(['(A,B6,C)']);
  });

  test('.strict() lets no other event of the sources between', () => {
    expect(matches('A as a -> B as b -> C as c .strict()', 'A1 B1 A2 C1 A3 B3 C3')).toEqual(['(A3,B3,C3)']);
  });

  test('.strict() ignores types that are no source of the stream', () => {
    expect(matches('A as a -> B as b .strict()', 'A1 X B1')).toEqual(['(A1,B1)']);
  });

  test('.strict() is judged within the partition', () => {
    expect(matches('A as a -> B as b .strict() .partition_by(k)', 'A{p} A{q} B{p}')).toEqual(['(A{p},B{p})']);
  });

  test('.strict() counts the types of NOT steps among the sources', () => {
    expect(matches('A as a -> NOT X where v > 5 -> B as b .strict()', 'A X1 B')).toEqual([]);
    expect(matches('A as a -> NOT X where v > 5 -> B as b', 'A X1 B')).toEqual(['(A,B)']);
  });

  test('.strict() does not count the types of .not', () => {
    expect(matches('A as a -> B as b .strict() .not(X where v > 5)', 'A X1 B')).toEqual(['(A,B)']);
  });

  test('.stam() may ignore an event that fits, so it finds every combination', () => {
    expect(matches('A as a -> B as b -> C as c .stam()', 'A B1 B2 C')).toEqual(['(A,B1,C)', '(A,B2,C)']);
  });

  test('.stam() branches for closures too', () => {
    expect(matches('A -> B+ as b -> C .stam()', 'A B1 B2 C')).toEqual(['(A,[B1],C)', '(A,[B1,B2],C)', '(A,[B2],C)']);
  });

  test('.stam() takes an optional step and leaves it out', () => {
    expect(matches('A -> B? as b -> C .stam()', 'A B C')).toEqual(['(A,-,C)', '(A,B,C)']);
  });

  test('.stam() fits the events of AND in every way', () => {
    expect(matches('AND(A as a, A as b) .stam()', 'A1 A2')).toEqual(['(A1,A2)', '(A2,A1)']);
  });

  test('.stam() with .subsets(), .each() and .longest() is refused', () => {
    for (const emission of ['subsets', 'each', 'longest']) expect(errorsOf(`A -> B+ -> C .stam() .${emission}()`)).toEqual(['E021']);
  });
});

describe('Kleene closures', () => {
  test('all X is X+', () => {
    expect(matches('all A as a -> B', 'A1 A2 B')).toEqual(['([A1,A2],B)', '([A2],B)']);
  });

  test('{n} takes exactly n', () => {
    expect(matches('A -> B{2} as b -> C', 'A B1 B2 B3 C')).toEqual(['(A,[B1,B2],C)']);
    expect(matches('A -> B{2} as b -> C', 'A B1 C')).toEqual([]);
  });

  test('{n,} takes n or more, {n,m} no more than m', () => {
    expect(matches('A -> B{2,} as b -> C', 'A B1 C1 B2 B3 C2')).toEqual(['(A,[B1,B2,B3],C2)']);
    expect(matches('A -> B{1,2} as b -> C', 'A B1 B2 B3 C')).toEqual(['(A,[B1,B2],C)']);
  });

  test('.each() behind a closure with an empty * gives one match', () => {
    expect(matches('A -> B* as b -> C .each()', 'A C')).toEqual(['(A,[],C)']);
    expect(matches('A -> B* as b -> C .each()', 'A B1 B2 C')).toEqual(['(A,[B1],C)', '(A,[B1,B2],C)']);
  });

  test('.each() of {n,m} begins with n captures', () => {
    expect(matches('A -> B{2,3} as b -> C .each()', 'A B1 B2 B3 C')).toEqual(['(A,[B1,B2],C)', '(A,[B1,B2,B3],C)']);
  });

  test('.subsets() of {n,m} keeps sizes within the bounds', () => {
    expect(matches('A -> B{2,3} as b -> C .subsets()', 'A B1 B2 B3 C')).toEqual([
      '(A,[B1,B2],C)',
      '(A,[B1,B3],C)',
      '(A,[B2,B3],C)',
      '(A,[B1,B2,B3],C)',
    ]);
  });

  test('.subsets() of * has no empty set', () => {
    expect(matches('A -> B* as b -> C .subsets()', 'A C')).toEqual([]);
    expect(matches('A -> B* as b -> C .subsets()', 'A B1 C')).toEqual(['(A,[B1],C)']);
  });

  test('.subsets() at the end gives per captured event the subsets that hold it', () => {
    expect(timedMatches('A -> B+ as b .subsets()', 'A@0 B1@1 B2@2 B3@3')).toEqual([
      '(A,[B1])@1',
      '(A,[B2])@2',
      '(A,[B1,B2])@2',
      '(A,[B3])@3',
      '(A,[B1,B3])@3',
      '(A,[B2,B3])@3',
      '(A,[B1,B2,B3])@3',
    ]);
  });

  test('.subsets(limit:) gives so many per completion and counts what it cuts', () => {
    const harness = harnessOf('A -> B+ as b -> C .subsets(limit: 4)').pushAll('A B1 B2 B3 C');
    expect(harness.text()).toEqual(['(A,[B1],C)', '(A,[B2],C)', '(A,[B1,B2],C)', '(A,[B3],C)']);
    expect(harness.dropped.get('subsets_limit')).toBe(3);
  });

  test('.subsets() of a thousand captures stops at its limit', () => {
    const harness = harnessOf('A -> B+ as b -> C .subsets(limit: 10)').pushAll(`A ${'B '.repeat(1000)} C`);
    expect(harness.matches).toHaveLength(10);
    expect(harness.dropped.get('subsets_limit')).toBeGreaterThan(1e300);
  });

  test('with two closures .each() acts on the first and the other is whole', () => {
    expect(matches('A -> B+ as b -> C+ as c -> D .each()', 'A B1 B2 C1 C2 D')).toEqual(['(A,[B1],[C1,C2],D)', '(A,[B1,B2],[C1,C2],D)']);
  });

  test('with two closures .subsets() acts on the first and the other is whole', () => {
    expect(matches('A -> B+ as b -> C+ as c -> D .subsets()', 'A B1 B2 C1 C2 D')).toEqual([
      '(A,[B1],[C1,C2],D)',
      '(A,[B2],[C1,C2],D)',
      '(A,[B1,B2],[C1,C2],D)',
    ]);
  });

  test('a closure that ends the pattern under .longest() comes at the end of input, with the time of its last event', () => {
    expect(matchesToTheEnd('A -> B+ as b .longest()', 'A@0 B1@1 B2@2 X@9')).toEqual(['(A,[B1,B2])@2']);
  });

  test('a closure that ends the pattern under .longest() comes when the deadline of its run has passed', () => {
    expect(timedMatches('A -> B+ as b .longest() .within(5s)', 'A@0 B1@1 B2@2 X@5')).toEqual([]);
    expect(timedMatches('A -> B+ as b .longest() .within(5s)', 'A@0 B1@1 B2@2 X@6')).toEqual(['(A,[B1,B2])@2']);
  });

  test('a closure that ends the pattern under .longest() comes at a strict break', () => {
    expect(timedMatches('A -> B+ as b .longest() .strict()', 'A@0 B1@1 B2@2 A@3')).toEqual(['(A,[B1,B2])@2']);
  });

  test('.longest() of a full {n,m} is emitted at once', () => {
    expect(timedMatches('A -> B{1,2} as b .longest()', 'A@0 B1@1 B2@2')).toEqual(['(A,[B1,B2])@2']);
  });

  test('a full {n} beside or within the closure of .each() holds no match back', () => {
    expect(timedMatches('AND(A* as a, B{2} as b) .each()', 'B1 B2@1')).toEqual(['([],[B1,B2])@1']);
    expect(timedMatches('(B{2} as b)+ .each()', 'B1 B2@1')).toEqual(['([B1,B2])@1']);
    expect(timedMatches('A -> (B* as b OR C{2} as c) .each() .strict()', 'A@0 B@1 X@2')).toEqual(['(A,[],[])@0', '(A,[B],[])@1']);
  });

  test('a pattern of one quantified step is a pattern', () => {
    expect(timedMatches('A+ as a', 'A1@0 A2@1')).toEqual(['([A1])@0', '([A1,A2])@1', '([A2])@1']);
    expect(matches('A{2} as a', 'A1 A2 A3')).toEqual(['([A1,A2])', '([A2,A3])']);
  });

  test('a group is a closure of rounds', () => {
    expect(matches('(A as a -> B as b)+ -> C', 'A1 B1 A2 B2 C')).toEqual(['([A1,A2],[B1,B2],C)', '([A2],[B2],C)']);
    expect(matches('A -> (B as b -> C as c)+', 'A B1 C1 B2 C2')).toEqual(['(A,[B1],[C1])', '(A,[B1,B2],[C1,C2])']);
    expect(matches('(A as a -> B as b){2} -> C .each()', 'A1 B1 A2 B2 C')).toEqual(['([A1,A2],[B1,B2],C)']);
  });

  test('a round that was only begun is left out when the step behind the group comes', () => {
    expect(matches('(A as a -> B as b)+ -> C', 'A1 B1 A2 C')).toEqual(['([A1],[B1],C)']);
    expect(matches('(A as a -> B as b)+ -> C .strict()', 'A1 B1 A2 C')).toEqual([]);
    expect(matchesToTheEnd('X -> (A as a -> B as b)+ .longest()', 'X@0 A1@1 B1@2 A2@3')).toEqual(['(X,[A1],[B1])@2']);
  });
});

describe('monotone closures', () => {
  test('.increasing(f) ends the run at the first break and gives the whole closure', () => {
    expect(timedMatches('T+ as t .increasing(v)', 'T1@0 T3@1 T2@2')).toEqual(['([T1,T3])@1', '([T3])@1']);
  });

  test('.decreasing(f) falls', () => {
    expect(timedMatches('T+ as t .decreasing(v)', 'T3@0 T1@1 T2@2')).toEqual(['([T3,T1])@1', '([T1])@1']);
  });

  test('an equal value is a break', () => {
    expect(timedMatches('T+ as t .increasing(v)', 'T1@0 T1@1')).toEqual(['([T1])@0']);
  });

  test('null is a break, and opens no run', () => {
    expect(matchesToTheEnd('T+ as t .increasing(v)', 'T1@0 T@1 T2@2')).toEqual(['([T1])@0', '([T2])@2']);
  });

  test('a break while a step follows ends the run without a match', () => {
    expect(matches('A -> T+ as t -> E .increasing(v)', 'A T1 T2 E')).toEqual(['(A,[T1,T2],E)']);
    expect(matches('A -> T+ as t -> E .increasing(v)', 'A T2 T1 E')).toEqual([]);
  });

  test('an event that fits the next step is no break', () => {
    expect(matches('A -> T+ as t -> T where v == 0 as e .increasing(v)', 'A T1 T2 T0')).toEqual(['(A,[T1,T2],T0)']);
  });

  test('T.increasing(f) on a step is the same', () => {
    expect(timedMatches('T.increasing(v) as t', 'T1@0 T3@1 T2@2')).toEqual(['([T1,T3])@1', '([T3])@1']);
  });
});

describe('after a match', () => {
  test('no_skip keeps runs apart', () => {
    expect(matches('A as a -> B as b .after_match(no_skip)', 'A1 A2 B1')).toEqual(['(A1,B1)', '(A2,B1)']);
  });

  test('skip_to_next keeps one match for each start', () => {
    expect(matches('A as a -> B as b .stam() .after_match(skip_to_next)', 'A1 A2 B1 B2')).toEqual(['(A1,B1)', '(A2,B1)']);
    expect(matches('A -> B+ as b .after_match(skip_to_next)', 'A B1 B2')).toEqual(['(A,[B1])']);
  });

  test('skip_past_last also drops the run that the last event opens', () => {
    expect(matches('A as a -> A as b .after_match(skip_past_last)', 'A1 A2 A3 A4')).toEqual(['(A1,A2)', '(A3,A4)']);
  });

  test('runs are dropped within the partition only', () => {
    expect(matches('A as a -> B as b .partition_by(k) .after_match(skip_past_last)', 'A{p} A{q} B{p} B{q}')).toEqual([
      '(A{p},B{p})',
      '(A{q},B{q})',
    ]);
  });

  test('skip_past_last with .each() is refused, also where it is the default', () => {
    expect(errorsOf('A -> B+ .each() .after_match(skip_past_last)')).toEqual(['E021']);
    expect(errorsOf('A -> B+ .after_match(skip_past_last)')).toEqual(['E021']);
  });

  test('a match that the filter behind the pattern drops does not count', () => {
    expect(matches('A as a -> B as b .after_match(skip_past_last) .where(a.v > 1)', 'A1 A2 B1')).toEqual(['(A2,B1)']);
  });

  test('the first of several matches that one event completes counts', () => {
    expect(matches('A -> B+ as b -> C .subsets() .after_match(skip_past_last)', 'A B1 B2 C')).toEqual(['(A,[B1],C)']);
  });

  test('matches of absences count when they come out, up to their last event', () => {
    expect(timedMatches('A as a -> NOT B within 5s .after_match(skip_past_last)', 'A1@0 A2@1 X@20')).toEqual(['(A1)@5', '(A2)@6']);
  });

  test('matches of ended closures count when they come out', () => {
    expect(timedMatches('A as a -> B+ as b .longest() .within(5s) .after_match(skip_past_last)', 'A1@0 A2@1 B1@2 A3@3 B2@4 X@30')).toEqual([
      '(A1,[B1,B2])@4',
    ]);
  });
});

describe('absence', () => {
  test('the match has the time of the deadline', () => {
    expect(timedMatches('A as a -> NOT B where v > 3 within 5m', 'A@0 B1@10 X@301')).toEqual(['(A)@300']);
  });

  test('an event exactly at the deadline still cancels', () => {
    expect(timedMatches('A -> NOT B within 5s', 'A@0 X@5 B@5 X@6')).toEqual([]);
    expect(timedMatches('A -> NOT B within 5s', 'A@0 B@6')).toEqual(['(A)@5']);
  });

  test('between two steps no such event may come', () => {
    expect(matches('A as a -> NOT B -> C as c', 'A1 B A2 C')).toEqual(['(A2,C)']);
  });

  test('behind a closure it ends the run', () => {
    expect(matches('A -> B+ as b -> NOT X -> C', 'A B1 X B2 C')).toEqual([]);
    expect(matches('A -> B+ as b -> NOT X -> C', 'A X B1 B2 C')).toEqual(['(A,[B1,B2],C)']);
  });

  test.each(['NOT (B OR C)', 'NOT (B OR (C))', 'NOT OR(B, C)', 'NOT (C where v > 0 OR B where v >= 0)'])(
    '%s forbids each of them',
    (none) => {
      const then = none.replace('NOT', '-> NOT');
      expect(timedMatches(`A as a ${then} within 5s`, 'A1@0 C2@3 A2@10 B1@15 A3@20 X@30')).toEqual(['(A3)@25']);
      expect(timedMatches(`A as a ${then} within 5s -> D as d`, 'A1@0 C2@3 D@9 A2@10 D@14 A3@20 D@26')).toEqual(['(A2,D)@26', '(A3,D)@26']);
      expect(matches(`A as a ${then} -> D as d`, 'A1 C2 A2 B1 A3 D')).toEqual(['(A3,D)']);
      expect(matches(`A as a ${then} -> X? as x -> D as d`, 'A1 X C2 D A2 X D')).toEqual(['(A2,X,D)']);
      expect(timedMatches(`(A as a ${then}) .within(5s)`, 'A1@0 C2@3 A2@10 X@30')).toEqual(['(A2)@15']);
      expect(matches(`A as a ${then} -> D as d .strict()`, 'A1 X1 D1 C2 A2 D2 A3 C3 D3')).toEqual(['(A1,D1)', '(A2,D2)']);
    },
  );

  test('one absence of several types has one time, where absences in a row have one each', () => {
    expect(timedMatches('A -> NOT (B OR C) within 5s', 'A@0 X@30')).toEqual(['(A)@5']);
    expect(timedMatches('A -> NOT B within 5s -> NOT C within 5s', 'A@0 X@30')).toEqual(['(A)@10']);
  });

  test('of several types each has its own condition, and reads the steps before it', () => {
    const source = 'A as a -> NOT (B where v > a.v OR C as c where c.v == a.v) within 5s';
    expect(timedMatches(source, 'A3@0 B3@1 C2@2 X@30')).toEqual(['(A3)@5']);
    expect(timedMatches(source, 'A3@0 B4@1 X@30 A3@40 C3@42 X@60')).toEqual([]);
  });

  test.each([
    'NOT (B OR C) -> D within 1s',
    'A OR NOT (B OR C) within 1s',
    'A -> NOT (B -> C) within 1s',
    'A -> NOT (B AND C) within 1s',
    'A -> NOT (B+ OR C) within 1s',
    'A -> NOT (B OR C)+ within 1s',
    'A -> NOT (B OR NOT C) within 1s',
    'A -> NOT (B within 1s OR C) within 1s',
    'A -> NOT (B OR C) as x within 1s',
  ])('%s is refused', (source) => {
    expect(errorsOf(source)).toEqual(['E000']);
  });

  test('of several types at the end needs a time as well', () => {
    expect(errorsOf('A -> NOT (B OR C)')).toEqual(['E082']);
  });

  test('over optional steps it stays in force until the step that must come', () => {
    expect(matches('A -> NOT B -> C? as c -> D', 'A C B D')).toEqual([]);
    expect(matches('A -> NOT B -> C? as c -> D', 'A C D B')).toEqual(['(A,C,D)']);
  });

  test('it ends as well when one with a time of its own behind it is over, whether an optional step comes then or not', () => {
    const source = 'A -> NOT B -> NOT X within 1s -> C? as c -> D';
    expect(timedMatches(source, 'A@0 C@3 B@4 D@5')).toEqual(['(A,C,D)@5']);
    expect(timedMatches(source, 'A@0 B@4 D@5')).toEqual(['(A,-,D)@5']);
    expect(timedMatches(source, 'A@0 B@1 C@3 D@5')).toEqual([]);
  });

  test('behind an optional step that has not come it only bars the way past it', () => {
    expect(matches('A -> B? as b -> NOT X -> C', 'A X B C')).toEqual(['(A,B,C)']);
    expect(matches('A -> B? as b -> NOT X -> C', 'A X C')).toEqual([]);
  });

  test('where it bars the way, a closure that ends the pattern has nothing to give until an optional step puts it off', () => {
    const source = 'A as a -> B* as b -> NOT X -> C* as c .longest()';
    expect(matchesToTheEnd(source, 'A@0 X@1')).toEqual([]);
    expect(matchesToTheEnd(`${source} .strict()`, 'A@0 X@1')).toEqual([]);
    expect(matchesToTheEnd(`${source} .strict()`, 'A1@0 A2@1')).toEqual(['(A1,[],[])@0', '(A2,[],[])@1']);
    expect(matchesToTheEnd(source, 'A@0 X@1 B@2 C@3')).toEqual(['(A,[B],[C])@3']);
  });

  test.each([
    ['OR(D as d -> E as e, C as c)', 'A D X C', []],
    ['OR(D as d -> E as e, C as c)', 'A D X C E', ['(A,D,E,-)']],
    ['OR(D as d -> E as e, C as c)', 'A D C X', ['(A,-,-,C)']],
    ['OR(D as d -> E as e, F as f -> G as g)', 'A D F X G', ['(A,-,-,F,G)']],
    ['OR(D{2} as d, C as c)', 'A D X C', []],
    ['OR(D{2} as d, C as c)', 'A D1 X C D2', ['(A,[D1,D2],-)']],
    ['OR(D -> E, C as c) -> F as f', 'A D X C F', []],
    ['AND(OR(D as d -> E as e, C as c), F as f)', 'A D X C F', []],
    ['AND(OR(D as d -> E as e, C as c), F as f)', 'A D X F E', ['(A,D,E,-,F)']],
    ['AND(OR(D as d -> E as e, C as c), F as f)', 'A D F X C', ['(A,-,-,C,F)']],
    ['AND((D as d -> E as e)? -> C as c, F as f)', 'A D X C F', []],
    ['AND((D as d -> E as e)? -> C as c, F as f)', 'A D X F E C', ['(A,D,E,C,F)']],
    ['B? as b -> OR(D as d -> E as e, C as c)', 'A D X C', []],
  ] as const)('in front of %s it leaves only what has begun: %s', (item, input, expected) => {
    expect(matches(`A -> NOT X -> ${item}`, input)).toEqual(expected);
    expect(harnessOf(`A -> NOT X -> ${item}`, { isIndexed: false }).pushAll(input).text()).toEqual(expected);
  });

  test('a run that was saved behind the first event of a group goes on in the same way', () => {
    const harness = harnessOf('A -> NOT X -> OR(D as d -> E as e, C as c)').pushAll('A@0 D@1').restart();
    harness.pushAll('X@2').restart();
    expect(harness.pushAll('C@3 E@4').text(true)).toEqual(['(A,D,E,-)@4']);
  });

  test.each([
    ['(B? as b -> NOT N -> C as c within 1h)', 'X N C E', []],
    ['(B? as b -> NOT N -> C as c within 1h)', 'X N B C E', ['(X,B,C,E)']],
    ['(NOT N -> C within 5m)', 'X N C E', []],
    ['(NOT N -> C){1,2}', 'X N C E', []],
    ['(NOT N -> C){1,2}', 'X C1 N C2 E', ['(X,[C1],E)']],
    ['(NOT N -> C)?', 'X N C E', ['(X,-,E)']],
    ['(NOT N -> C)?', 'X C N E', ['(X,C,E)']],
    ['(NOT N -> C)+', 'X C1 N C2 E', ['(X,[C1],E)']],
    ['(NOT N -> C){2}', 'X C1 N C2 E', []],
    ['(NOT N -> C -> D?){2}', 'X C1 N D C2 E', ['(X,[C1,C2],[D],E)']],
    ['(NOT N -> C+){2}', 'X C1 N C2 C3 E', []],
    ['(B? -> NOT N -> C){2}', 'X C N C E', []],
    ['(B? -> NOT N -> C){2}', 'X C1 N B C2 E', ['(X,[B],[C1,C2],E)']],
    ['(B? -> NOT N -> C)+', 'X C1 B N C2 E', ['(X,[],[C1],E)']],
    ['(B -> NOT N -> C)+', 'X B1 C1 B2 N B3 C2 E', ['(X,[B1,B3],[C1,C2],E)']],
    ['F? -> (NOT N -> C)?', 'X N F C E', ['(X,F,C,E)']],
  ] as const)('at the beginning of a group it counts from the step before it, of each round: %s, %s', (group, input, expected) => {
    expect(matches(`X -> ${group} -> E`, input)).toEqual(expected);
    expect(harnessOf(`X -> ${group} -> E`, { isIndexed: false }).pushAll(input).text()).toEqual(expected);
  });

  test.each([
    ['(NOT N within 5s -> C within 1m)', 'X@0 C@7 E@8', ['(X,C,E)']],
    ['(NOT N within 5s -> C within 1m)', 'X@0 C@5 E@8', []],
    ['(NOT N within 5s -> C within 1m)', 'X@0 N@2 C@7 E@8', []],
    ['(B? -> NOT N within 5s -> C){1,2}', 'X@0 C@7 E@8', ['(X,[],[C],E)']],
    ['(NOT N within 5s -> C){2}', 'X@0 C1@7 C2@13 E@14', ['(X,[C1,C2],E)']],
    ['(NOT N within 5s -> C){2}', 'X@0 C1@7 C2@12 E@14', []],
    ['(NOT N within 5s -> C)+', 'X@0 C1@7 N@8 C2@20 E@21', ['(X,[C1],E)']],
    ['(NOT N within 5s -> C)?', 'X@0 Y@7 E@8', ['(X,-,E)']],
    ['F? -> (NOT N within 5s -> C)?', 'X@0 Y@7 F@8 C@9 E@10', ['(X,F,-,E)']],
    ['B+ -> (NOT N within 5s -> C)?', 'X@0 B1@1 B2@7 C@8 E@9', ['(X,[B1,B2],-,E)']],
    ['(NOT N within 5s){2}', 'X@0 E1@6 E2@11', ['(X,E2)']],
    ['OR(B? -> (NOT N within 5s -> C)?, F)', 'X@0 Y@7 F@8 E@9', ['(X,-,-,F,E)']],
  ] as const)('and one with a time of its own lets what stands behind it come then: %s, %s', (group, input, expected) => {
    const source = `X -> ${group} -> E`;
    expect(matches(source, input)).toEqual(expected);
    const harness = harnessOf(source);
    for (const word of input.split(' ')) harness.pushAll(word).restart();
    expect(harness.text()).toEqual(expected);
  });

  test.each([
    ['OR(B? -> NOT N -> C, D) -> E', 'X N D E', ['(X,-,-,D,E)']],
    ['OR(B? -> NOT N -> C, D) -> E', 'X N C E', []],
    ['OR(B? -> NOT N -> C, D) -> E', 'X N B C E', ['(X,B,C,-,E)']],
    ['AND(B? -> NOT N -> C, D) -> E', 'X D N B C E', ['(X,B,C,D,E)']],
    ['AND(B? -> NOT N -> C, D) -> E', 'X N D B C E', ['(X,B,C,D,E)']],
    ['AND(B? -> NOT N -> C, D) -> E', 'X N D C E', []],
    ['F? -> OR(B? -> NOT N -> C, D) -> E', 'X N D E', ['(X,-,-,-,D,E)']],
    ['F? -> OR(B? -> NOT N -> C, D) -> E', 'X N F C E', ['(X,F,-,C,-,E)']],
    ['B+ -> OR(F? -> NOT N -> C, D) -> E', 'X B1 N B2 D E', ['(X,[B1,B2],-,-,D,E)']],
    ['B+ -> OR(F? -> NOT N -> C, D) -> E', 'X B1 N B2 C E', []],
    ['OR(B? -> (NOT N -> C)?, F) -> E', 'X N F E', ['(X,-,-,F,E)']],
  ] as const)('one within an item that has not begun leaves what it does not forbid: %s, %s', (pattern, input, expected) => {
    expect(matches(`X -> ${pattern}`, input)).toEqual(expected);
    const harness = harnessOf(`X -> ${pattern}`).pushAll('Y@0');
    for (const [at, word] of input.split(' ').entries()) harness.pushAll(`${word}@${at + 1}`).restart();
    expect(harness.text()).toEqual(expected);
  });

  test.each([
    ['(C -> D)?', 'X C N D E', ['(X,C,D,E)']],
    ['(C -> D)?', 'X C N E', []],
    ['(C -> D)?', 'X N C E', []],
    ['(C -> D)?', 'X N C D E', ['(X,C,D,E)']],
    ['(C -> D -> G)?', 'X C N D E', []],
    ['(C -> D -> G)?', 'X C N D G E', ['(X,C,D,G,E)']],
    ['(C -> D)*', 'X C N D E', ['(X,[C],[D],E)']],
    ['(C -> D)+', 'X C1 D1 C2 N D2 E', ['(X,[C1,C2],[D1,D2],E)']],
    ['(C -> D)+', 'X C1 D1 C2 N E', []],
    ['(C -> D)+', 'X C1 D1 N C2 D2 E', []],
    ['(C -> D?)+', 'X C1 N C2 D E', ['(X,[C1],[D],E)']],
    ['(C -> D)+ -> F?', 'X C1 D1 N C2 D2 E', []],
    ['(C -> D)+ -> F?', 'X C1 D1 N C2 D2 F E', ['(X,[C1,C2],[D1,D2],F,E)']],
    ['(C -> D)? -> F?', 'X C N D E', ['(X,C,D,-,E)']],
    ['(C -> D)? -> F?', 'X C N F E', ['(X,-,-,F,E)']],
    ['OR(C -> D, F?)', 'X C N D E', ['(X,C,D,-,E)']],
    ['OR(C -> D, F?)', 'X C N F E', ['(X,-,-,F,E)']],
    ['(C -> D?)', 'X C N D E', ['(X,C,D,E)']],
    ['(C -> D? within 1h)', 'X C N D E', ['(X,C,D,E)']],
    ['(C -> D? within 1h)', 'X C N E', []],
    ['OR(C -> D?, F)', 'X C N D E', ['(X,C,D,-,E)']],
    ['AND(C -> D?, F)', 'X C F N D E', ['(X,C,D,F,E)']],
    ['AND((C -> D)?, (F -> G)?)', 'X C F N D E', ['(X,C,D,-,-,E)']],
  ] as const)('behind %s it bars the way on, not what has begun: %s', (item, input, expected) => {
    expect(matches(`X -> ${item} -> NOT N -> E`, input)).toEqual(expected);
    const harness = harnessOf(`X -> ${item} -> NOT N -> E`).pushAll('Y@0');
    for (const [at, word] of input.split(' ').entries()) harness.pushAll(`${word}@${at + 1}`).restart();
    expect(harness.text()).toEqual(expected);
  });

  test('NOT B within d -> C is C after d without B, and a C at the end of d comes too early', () => {
    expect(matches('A -> NOT B within 5s -> C as c', 'A@0 C1@3 C2@5 C3@6')).toEqual(['(A,C3)']);
    expect(matches('A -> NOT B within 5s -> C as c', 'A@0 B@5 C@6')).toEqual([]);
    expect(matches('A -> NOT B within 5s -> C as c', 'A@0 B@5.5 C@6')).toEqual(['(A,C)']);
  });

  test('a last NOT without within uses the one of the pattern, from the first event', () => {
    expect(timedMatches('A -> B as b -> NOT C .within(10s)', 'A@0 B@4 X@11')).toEqual(['(A,B)@10']);
    expect(timedMatches('A -> B as b -> NOT C .within(10s)', 'A@0 B@4 C@10 X@11')).toEqual([]);
  });

  test('a last NOT whose pattern is over before the NOT within in front of it matches with that one', () => {
    expect(timedMatches('A as a -> NOT B within 5s -> C? as c -> NOT B .within(2s)', 'A@0 X@9')).toEqual(['(A,-)@5']);
  });

  test('a within behind a trailing NOT is its own: the gap to the step before it', () => {
    expect(timedMatches('A -> B as b -> NOT C within 5s', 'A@0 B@4 X@20')).toEqual(['(A,B)@9']);
    expect(timedMatches('A -> B+ as b -> NOT C within 5s', 'A@0 B1@1 B2@4 X@20')).toEqual(['(A,[B1,B2])@9']);
  });

  test('the pattern bounds events, not the wait for an absence', () => {
    expect(timedMatches('A -> B as b -> NOT C within 5s .within(6s)', 'A@0 B@4 X@20')).toEqual(['(A,B)@9']);
  });

  test('an absence in a branch of AND completes at its deadline', () => {
    expect(timedMatches('AND(A as a, B as b -> NOT C within 5s)', 'B@0 A@1 X@9')).toEqual(['(A,B)@5']);
    expect(timedMatches('AND(A as a, B as b -> NOT C within 5s)', 'B@0 X@6 A@7')).toEqual(['(A,B)@7']);
  });

  test('match_duration_ms goes to the deadline', () => {
    const harness = harnessOf('A -> B as b -> NOT C within 5s').pushAll('A@0 B@4 X@20');
    expect(harness.matches.map((match) => match.fields.get('match_duration_ms'))).toEqual([9000]);
  });

  test('at the end of input absences match at their deadlines', () => {
    expect(matchesToTheEnd('A as a -> NOT B within 5m', 'A1@0 A2@10')).toEqual(['(A1)@300', '(A2)@310']);
  });

  test('.strict() with a trailing absence is ended by its event alone', () => {
    expect(timedMatches('A as a -> NOT B within 5s .strict()', 'A1@0 A2@1 X@20')).toEqual(['(A1)@5', '(A2)@6']);
    expect(timedMatches('A as a -> NOT B within 5s .strict()', 'A1@0 B@1 X@20')).toEqual([]);
  });

  test('behind a displaced event it is over when its time is, also where that lies before the first event of the run', () => {
    const source = 'A as a -> B as b -> NOT C within 1s .within(2s)';
    expect(timedMatches(source, 'A1@0 A2@2 B@0 C@1')).toEqual(['(A1,B)@1', '(A2,B)@2']);
    expect(timedMatches(source, 'A1@0 A2@2 B@1 C@2 X@9')).toEqual([]);
  });

  test('a leading NOT and a quantifier on NOT are refused', () => {
    expect(errorsOf('NOT A -> B')).toEqual(['E000']);
    expect(errorsOf('A -> NOT B+ -> C')).toEqual(['E000']);
  });
});

describe('.not', () => {
  test('cancels the run wherever it stands', () => {
    expect(matches('A as a -> B as b -> C as c .not(X)', 'A1 X B C')).toEqual([]);
    expect(matches('A as a -> B as b -> C as c .not(X)', 'A1 B X C')).toEqual([]);
    expect(timedMatches('A as a -> NOT B within 5s .not(X)', 'A@0 X@2 C@9')).toEqual([]);
  });

  test('cancels runs of its partition only', () => {
    expect(matches('A as a -> B as b .partition_by(k) .not(X)', 'A{p} A{q} X{p} B{p} B{q}')).toEqual(['(A{q},B{q})']);
  });

  test('never retracts an emitted match', () => {
    expect(matches('A -> B+ as b .not(X)', 'A B1 X B2')).toEqual(['(A,[B1])']);
  });

  test('comes before the step that the same event would be, and the event still opens a run', () => {
    expect(matches('A as a -> B as b .not(A where k == a.k)', 'A1{p} A2{p} B')).toEqual(['(A2{p},B)']);
  });
});

describe('AND and OR', () => {
  test('nest freely with sequences', () => {
    expect(matches('A as a -> (B as b AND C as c) -> D as d', 'A C B D')).toEqual(['(A,B,C,D)']);
    expect(matches('AND(A as a -> B as b, C as c)', 'A C B')).toEqual(['(A,B,C)']);
    expect(matches('A as a -> B as b OR C as c', 'A C')).toEqual(['(A,-,C)']);
  });

  test('OR binds looser than AND', () => {
    expect(matches('A -> B as b OR C as c AND D as d', 'A D C')).toEqual(['(A,-,C,D)']);
  });

  test('OR completes on the first branch, and aliases of the others read null', () => {
    expect(matches('X -> OR(A as a -> B as b, C as c)', 'X A C B')).toEqual(['(X,-,-,C)']);
    expect(matches('X -> OR(A as a -> B as b, C as c)', 'X A B C')).toEqual(['(X,A,B,-)']);
  });

  test('a branch that opens the run is the branch of the run', () => {
    expect(matches('OR(A as a -> B as b, C as c)', 'A C B')).toEqual(['(-,-,C)', '(A,B,-)']);
  });

  test('an event that fits two branches takes the first as written', () => {
    expect(matches('AND(A as a, A as b)', 'A1 A2')).toEqual(['(A1,A2)']);
    expect(matches('X -> OR(A as a, A as b)', 'X A')).toEqual(['(X,A,-)']);
  });

  test('an event that completes an AND also opens a run where it fits a first step', () => {
    expect(matches('AND(A as a, B as b)', 'B1 A1 B2')).toEqual(['(A1,B1)', '(A1,B2)']);
  });

  test('a closure in AND grows until the step behind comes', () => {
    expect(matches('AND(A as a, B+ as b) -> C as c', 'B1 A B2 C')).toEqual(['(A,[B1,B2],C)', '(A,[B2],C)']);
  });

  test('SEQ is a sequence', () => {
    expect(matches('SEQ(A as a, B as b)', 'A B')).toEqual(['(A,B)']);
  });
});

describe('optional steps', () => {
  test('a trailing optional step matches at once without it and never captures', () => {
    expect(matches('A as a -> B? as b', 'A B')).toEqual(['(A,-)']);
  });

  test('a trailing * matches at once without it and again per capture', () => {
    expect(timedMatches('A as a -> B* as b', 'A@0 B1@1 B2@2')).toEqual(['(A,[])@0', '(A,[B1])@1', '(A,[B1,B2])@2']);
  });

  test('behind a leading optional step an event opens a run only when no open run takes it', () => {
    expect(matches('X? as x -> A as a -> B as b', 'X A B')).toEqual(['(X,A,B)']);
    expect(matches('X? as x -> A as a -> B as b', 'A B')).toEqual(['(-,A,B)']);
    expect(matches('X? as x -> A as a -> B as b', 'A1 A2 B')).toEqual(['(-,A1,B)', '(-,A2,B)']);
  });

  test('a run takes nothing for one part of an AND when another part is overdue, so that it keeps no event from opening a run', () => {
    expect(timedMatches('X? as x -> (A within 1s as a AND B as b)', 'X@0 B@1 A@1')).toEqual(['(X,A,B)@1']);
    expect(timedMatches('X? as x -> (A within 1s as a AND B as b)', 'X@0 B@3 A@3')).toEqual(['(-,A,B)@3']);
  });

  test('so too where a further event of a closure before the AND could still save the run', () => {
    expect(timedMatches('X* as x -> (A within 1s as a AND B as b)', 'X@0 B@3 A@3')).toEqual(['([],A,B)@3']);
    expect(timedMatches('X* as x -> (A+ within 1s as a AND B as b)', 'X@0 B@3 A@3')).toEqual(['([],[A],B)@3']);
    expect(timedMatches('X* as x -> ((A within 1s as a)+ within 1s AND B as b)', 'X@0 B@3 A@3')).toEqual(['([],[A],B)@3']);
    expect(timedMatches('X+ as x -> (A within 1s as a AND B as b)', 'X1@0 B1@3 X2@4 B2@5 A@5')).toEqual([
      '([X1,X2],A,B2)@5',
      '([X2],A,B2)@5',
    ]);
  });

  test('so too where the AND is one branch of an OR, or one element of a group', () => {
    expect(timedMatches('X? as x -> ((A within 1s as a AND B as b) OR C as c)', 'X@0 B@3 A@3')).toEqual(['(-,A,B,-)@3']);
    expect(timedMatches('X? as x -> (A within 1s as a AND B as b){1,2} -> C', 'X@0 A1@1 B1@1 B2@3 A2@3 C@4')).toEqual([
      '(X,[A1],[B1],C)@4',
      '(-,[A2],[B2],C)@4',
    ]);
  });

  test('an optional step not yet begun goes before the step behind it', () => {
    expect(matches('A -> B? as b -> B as c', 'A B1 B2')).toEqual(['(A,B1,B2)']);
    expect(matches('A -> B* as b -> B as c', 'A B1 B2 B3')).toEqual(['(A,[B1],B2)']);
  });

  test('an optional step in brackets with a bound or a ? goes before the step behind the brackets too', () => {
    expect(matches('(AND(A as a, B* as b) within 9s) -> B as c', 'A B1 B2')).toEqual(['(A,[B1],B2)']);
    expect(matches('X -> (A as a -> B? as b)? -> B as c', 'X A B1 B2')).toEqual(['(X,A,B1,B2)']);
  });

  test('in a group that repeats, the step behind it goes before an optional step of a further element', () => {
    expect(matches('X -> (A as a -> B? as b)+ -> B as c', 'X A B1 B2')).toEqual(['(X,[A],[],B1)']);
  });

  test('the next step takes an event that fits the open closure too', () => {
    expect(matches('A -> B+ as b -> B where v > 5 as c', 'A B1 B2 B7 B8')).toEqual(['(A,[B1,B2],B7)']);
    expect(matches('A -> B+ as b -> B where v > 5 as c .stam()', 'A B1 B7')).toEqual(['(A,[B1],B7)']);
  });
});

describe('time', () => {
  test('a step bounds the gap to the step before it, inclusive', () => {
    expect(matches('A as a -> (B as b within 5s) -> C as c', 'A@0 B1@6 C@7')).toEqual([]);
    expect(matches('A as a -> (B as b within 5s) -> C as c', 'A@0 B1@5 C@70')).toEqual(['(A,B1,C)']);
  });

  test('on a closure it bounds the gaps between captures too', () => {
    expect(matches('A -> (B+ as b within 5s) -> C', 'A@0 B1@5 B2@10 B3@16 C@17')).toEqual(['(A,[B1,B2],C)']);
  });

  test('a group bounds its first to its last event', () => {
    expect(matches('A -> (B as b -> C as c within 5s) -> D', 'A@0 B@10 C@15 D@99')).toEqual(['(A,B,C,D)']);
    expect(matches('A -> (B as b -> C as c within 5s) -> D', 'A@0 B@10 C@16 D@99')).toEqual([]);
  });

  test('runs end when the watermark has passed their deadline', () => {
    const harness = harnessOf('A -> B .within(5s)').pushAll('A@0');
    expect(harness.advance(5_000).matcher.activeRuns).toBe(1);
    expect(harness.advance(5_001).matcher.activeRuns).toBe(0);
  });

  test('a run ends as soon as no step can come in time any more', () => {
    const harness = harnessOf('A -> (B within 2s) -> C .within(1h)').pushAll('A@0');
    expect(harness.advance(2_001).matcher.activeRuns).toBe(0);
  });

  test('in order of arrival an event from before still counts', () => {
    expect(matches('A as a -> B as b .within(10s)', 'A@5 B@3')).toEqual(['(A,B)']);
  });

  test('expire drops a key after more than that long without events', () => {
    const expiring = 'A as a -> B as b .partition_by(k, expire: 10s)';
    expect(matches(expiring, 'A{p}@0 B{p}@10')).toEqual(['(A{p},B{p})']);
    expect(matches(expiring, 'A{p}@0 B{p}@11')).toEqual([]);
    expect(harnessOf(expiring).pushAll('A{p}@0 X{q}@11').matcher.activeRuns).toBe(0);
  });
});

describe('order', () => {
  test('matches of one event come in the order in which their runs began', () => {
    expect(matches('A as a -> B where v >= a.v as b -> C as c', 'A3 A1 B1 B3 C')).toEqual(['(A3,B3,C)', '(A1,B1,C)']);
  });

  test('branches of one run come by their captured events, a prefix first', () => {
    expect(matches('A -> B+ as b -> C as c .stam()', 'A B1 B2 B3 C')).toEqual([
      '(A,[B1],C)',
      '(A,[B1,B2],C)',
      '(A,[B1,B2,B3],C)',
      '(A,[B1,B3],C)',
      '(A,[B2],C)',
      '(A,[B2,B3],C)',
      '(A,[B3],C)',
    ]);
  });

  test('what one step of time completes comes by deadline, then by run', () => {
    expect(timedMatches('A as a -> B as b -> NOT C within 5s', 'A1@0 A2@1 B1@3 A3@3 A4@3 B2@3 X@60')).toEqual([
      '(A1,B1)@8',
      '(A2,B1)@8',
      '(A3,B2)@8',
      '(A4,B2)@8',
    ]);
    expect(timedMatches('A as a -> NOT B where k == a.k within 5s', 'A{q}@2 A{p}@1 X@60')).toEqual(['(A{p})@6', '(A{q})@7']);
  });
});

describe('the match as a row', () => {
  const [match] = harnessOf('A as a -> B+ as b -> C as c').pushAll('A1@1 B2@2 B3{x}@3 C4@4.5').matches;

  test('has the fields of its steps by alias, a closure those of its last event, and its duration', () => {
    expect([...(match?.fields ?? [])]).toEqual([
      ['a_v', 1],
      ['b_v', 3],
      ['b_k', 'x'],
      ['c_v', 4],
      ['match_duration_ms', 3500],
    ]);
  });

  test('has the time of its last event and the arrival numbers of all its events', () => {
    expect(match?.time).toBe(4500);
    expect(match?.causes).toEqual([1, 2, 3, 4]);
    expect(match?.order).toBe(4);
    expect(match?.last?.type).toBe('C');
  });

  test('of an absence lasts until the deadline', () => {
    const [absent] = harnessOf('A as a -> NOT B within 5s').pushAll('A@1 X@9').matches;
    expect(absent?.time).toBe(6000);
    expect(absent?.fields.get('match_duration_ms')).toBe(5000);
  });
});

describe('the state budget', () => {
  test('over max_runs the oldest run is dropped and counted', () => {
    const harness = harnessOf('A as a -> B as b .max_runs(2)').pushAll('A1 A2 A3 B');
    expect(harness.text()).toEqual(['(A2,B)', '(A3,B)']);
    expect(harness.dropped.get('max_runs')).toBe(1);
  });

  test('max_runs counts over all partitions', () => {
    const harness = harnessOf('A as a -> B as b .partition_by(k) .max_runs(2)').pushAll('A{p} A{q} A{r} B{p} B{q}');
    expect(harness.text()).toEqual(['(A{q},B{q})']);
  });

  test('a run over max_closure is dropped and counted', () => {
    const harness = harnessOf('A -> B+ as b -> C .max_closure(2)').pushAll('A B1 B2 B3 C');
    expect(harness.text()).toEqual([]);
    expect(harness.dropped.get('max_closure')).toBe(1);
  });
});

describe('taps of steps', () => {
  test('see the event when a run takes it, with what the run holds', () => {
    const seen: string[] = [];
    const harness = harnessOf('A as a .print(v) -> B as b', {
      tap: (step, row) => seen.push(`${step.alias} ${row.fields.get('v')} ${row.bound?.length}`),
    });
    harness.pushAll('A1 B1 A2');
    expect(seen).toEqual(['a 1 2', 'a 2 2']);
  });
});

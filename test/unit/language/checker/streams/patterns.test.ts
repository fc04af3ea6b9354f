import { describe, expect, test } from 'vitest';
import { problems } from '../checking.ts';
import { planned } from './plan-text.ts';

const events = `
event A:
    k: int
    v: float
    user: str
event B:
    k: int
    v: float
    user: str
event C:
    k: int
    w: float
`;
const plan = (text: string): string => planned(`${events}stream S = ${text}`);
const told = (text: string): string => problems(`${events}stream S = ${text}`);

describe('the steps of a pattern', () => {
  test('read earlier steps through their aliases and themselves bare', () => {
    expect(
      plan('A as a -> B where k == a.k and b.v > 1 as b -> C where w > a.v + b.v as c .within(60s).emit(x: a.k, y: c.w)'),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1 b: event B as B where ((.k == $0.k) and (.v > 1))
        $2 c: event C as C where (.w > ($0.v + $1.v))
        emit S x=$0.k, y=$2.w
        = {x: int, y: float}"
    `);
  });
  test('take quantifiers, `all`, and conditions of every spelling', () => {
    expect(
      plan(
        'A[v > 1] as a -> all B where v > b.v as b -> C{2,3} as c -> A{2,} -> B? -> C* -> A.where(k > 1).filter(v > 2) as z .within(1m).emit()',
      ),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2 -> $3 -> $4 -> $5 -> $6)
        $0 a: event A as A where (.v > 1)
        $1 b: event B as B{1,Infinity} closure where unless_first[$1]((.v > $1.v))
        $2 c: event C as C{2,3} closure
        $3: event A as A{2,Infinity} closure
        $4: event B as B{0,1}
        $5: event C as C{0,Infinity} closure
        $6 z: event A as A where ((.k > 1) and (.v > 2))
        emit S all
        = {a_k: int, a_v: float, a_user: str, b_k: int, b_v: float, b_user: str, c_k: int, c_w: float, z_k: int, z_v: float, z_user: str, match_duration_ms: int}"
    `);
  });
  test('take lambdas over the candidate', () => {
    expect(plan('A as a -> B.filter(x => x.k == a.k).where(v > 1) as b -> C .within(1m).emit()')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1 b: event B as B where ((.v > 1) and (.k == $0.k))
        $2: event C as C
        emit S all
        = {a_k: int, a_v: float, a_user: str, b_k: int, b_v: float, b_user: str, match_duration_ms: int}"
    `);
  });
  test('bound the gap before them by a within of their own', () => {
    expect(plan('A as a -> B within 5s -> C where w > 1 within 10s')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 10000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1: event B as B within 5000
        $2: event C as C where (.w > 1)
        = {a_k: int, a_v: float, a_user: str, match_duration_ms: int}"
    `);
    expect(plan('A as a -> (B within 5s) .within(1m)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0 a: event A as A
        $1: event B as B within 5000
        = {a_k: int, a_v: float, a_user: str, match_duration_ms: int}"
    `);
    expect(plan('A as a -> B .within(5s) -> C .within(1m)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1: event B as B within 5000
        $2: event C as C
        = {a_k: int, a_v: float, a_user: str, match_duration_ms: int}"
    `);
  });
  test.each([
    ['A -> B within -1s', 0],
    ['(A -> B within -5s)', 0],
    ['A -> (B -> C within -5s) -> A within 1m', 0],
    ['A -> (B -> C){2} within -5s', 0],
    ['sequence(a: A, b: B within -5s) within 1m', 0],
    ['A -> NOT B within -5s', 0],
    ['A -> NOT B within 0s - 5s -> C within 1m', 0],
    ['A -> B within BEFORE -> C within 1m', 1],
  ])('bound nothing by a time below 0: %s', (source, lines) => {
    const errors = told(`${source} .emit()${lines > 0 ? '\nconst BEFORE = 0s - 5s' : ''}`).split('\n');
    expect(errors.map((error) => error.replace(/^\S+ /, ''))).toEqual(['E081 `within` must be at least 0s']);
  });
  test('may bound a gap by 0s, and say of a time that is null that it is', () => {
    expect(told('A -> B within 0s -> C within 1m .emit()')).not.toContain('E081');
    expect(told('A -> B within 5s/0 -> C within 1m .emit()')).toContain('E061 a duration is needed here, not null');
  });
  test('are one event with `{1}`, of which no aggregate is read', () => {
    const once = '`a` is one event, as a step with `{1}` is: read `a.f`, or write `{1,}` for a closure';
    const refused = (name: string): string => `E073 the aggregate \`${name}\` cannot stand here (${once})`;
    expect(told('A{1} as a -> B where k > count(a) within 1m .emit(n: collect(a.k))').replace(/\d+:\d+ /g, '')).toBe(
      `${refused('count')}\n${refused('collect')}`,
    );
    expect(told('A{1} as a -> B within 1m .emit(k: a.k)')).not.toContain('E0');
    expect(told('A as a -> B within 1m .emit(n: count(a))')).toContain(
      '(aggregates stand in `.aggregate(n: ..)`, or read a closure: `sum(b.f)`)',
    );
  });
  test('may be absences', () => {
    expect(plan('A as a -> NOT B where k == a.k within 5m')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within null
        ($0 -> $1)
        $0 a: event A as A
        $1: NOT event B as B where (.k == $0.k) within 300000
        = {a_k: int, a_v: float, a_user: str, match_duration_ms: int}"
    `);
    expect(plan('A as a -> NOT B -> C .within(1m)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1: NOT event B as B
        $2: event C as C
        = {a_k: int, a_v: float, a_user: str, match_duration_ms: int}"
    `);
    expect(plan('A as a -> NOT(B where v > 1) within 5s -> C within 1m')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1: NOT event B as B where (.v > 1) within 5000
        $2: event C as C
        = {a_k: int, a_v: float, a_user: str, match_duration_ms: int}"
    `);
    expect(plan('A as a -> NOT B .within(5m)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 300000
        ($0 -> $1)
        $0 a: event A as A
        $1: NOT event B as B
        = {a_k: int, a_v: float, a_user: str, match_duration_ms: int}"
    `);
    expect(told('A as a -> NOT B')).toMatchInlineSnapshot(`
      "13:12 W003 nothing bounds this pattern in time, so its runs are kept until they match (add \`.within(10m)\`)
      13:22 E082 an absence at the end needs \`within\`: without it the pattern never matches (write \`-> NOT B within 5m\`)"
    `);
    expect(told('NOT A -> B within 1m')).toMatchInlineSnapshot(
      `"13:12 E000 a pattern cannot begin with \`NOT\` (put a step before it: \`A -> NOT B within 5m\`)"`,
    );
    expect(told('AND(A, NOT B) within 1m')).toMatchInlineSnapshot(
      `"13:19 E000 a branch cannot begin with \`NOT\` (\`A\` with no \`B\` before it is \`A -> NOT B -> A\`)"`,
    );
    expect(told('A -> NOT B OR C .within(1m)')).toMatchInlineSnapshot(
      `"13:17 E000 a branch cannot begin with \`NOT\` (\`NOT\` is of \`B\` alone: that none of them comes is \`A -> NOT (B OR C) within 5m\`, one or the other \`(A -> NOT B within 5m) OR (A -> C)\`)"`,
    );
    expect(told('A -> NOT (B OR C) within 5m')).toBe('');
    expect(told('(A -> NOT B within 5m) OR (A -> C) .within(5m)')).toBe('');
    expect(told('A -> NOT B -> C .within(5m)')).toBe('');
    expect(told('(NOT A -> B) -> C within 1m')).toMatchInlineSnapshot(
      `"13:13 E000 a pattern cannot begin with \`NOT\` (put a step before it: \`A -> NOT B within 5m\`)"`,
    );
    expect(told('A -> NOT B as b -> C where k == b.k within 1m .emit(x: b.k)')).toMatchInlineSnapshot(`
      "13:44 E035 unknown alias \`b\` (\`b\` names a \`NOT\`: there is no event of it)
      13:67 E035 unknown alias \`b\` (\`b\` names a \`NOT\`: there is no event of it)"
    `);
  });
  test('print, log and count the event that they take', () => {
    expect(
      plan('A as a .print(a.v, v) -> B as b .tap(counter: "bs", labels: [k]).log(message: f"{a.k} {b.k}") -> C .within(1m)'),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A tap print .v, .v
        $1 b: event B as B tap tap  count bs{k=.k} tap log - f($0.k, " ", .k) -
        $2: event C as C
        = {a_k: int, a_v: float, a_user: str, b_k: int, b_v: float, b_user: str, match_duration_ms: int}"
    `);
    expect(told('A as a .limit(5) -> B .emit(x: 1) .xyz() -> C .within(1m)')).toMatchInlineSnapshot(`
      "13:19 E092 \`.limit\` cannot stand before a \`->\` (only \`.where\`, \`.within\`, \`.print\`, \`.log\` and \`.tap\` stand on a step; write others behind the pattern)
      13:34 E092 \`.emit\` cannot stand before a \`->\` (only \`.where\`, \`.within\`, \`.print\`, \`.log\` and \`.tap\` stand on a step; write others behind the pattern)
      13:47 E091 there is no operator \`.xyz\`"
    `);
  });
  test('of unknown or wrong names are told', () => {
    expect(told('A as a -> Bb as b -> P as p -> Z.late as z .within(1m)\npattern P = A -> B within 1m')).toMatchInlineSnapshot(`
      "13:22 W030 event type \`Bb\` is not declared (did you mean \`B\`?)
      13:33 E033 \`P\` is a pattern, not an event or stream (give its matches a stream: \`stream S = P\`, and name that)
      13:45 E033 \`Z\` is no stream, and only a stream has late events"
    `);
    expect(
      told('A as a -> B where k == c.k as b -> C where zz == a.nothing as c .within(1m).emit(x: d.k, y: user, z: w)'),
    ).toMatchInlineSnapshot(`
      "13:35 E035 unknown alias \`c\` (\`c\` belongs to a later step, which has not happened yet)
      13:55 E034 unknown name \`zz\`: event \`C\` has no such field (declare it in the event: \`zz: any?\`)
      13:63 E034 event \`A\` has no field \`nothing\` (declare it in the event: \`nothing: any?\`)
      13:96 E035 unknown alias \`d\` (the aliases here: \`a\`, \`b\`, \`c\`)
      13:104 E034 unknown name \`user\`: the match has no such field (declare it in the event: \`user: any?\`)"
    `);
    expect(told('A as a -> B as a -> C{3,2} as c -> A{0} .within(1m).emit()')).toMatchInlineSnapshot(`
      "13:27 E035 the alias \`a\` names two steps (give each step an alias of its own)
      13:33 E081 the quantifier \`{3,2}\` has its bounds the wrong way round
      13:48 E081 the quantifier \`{0}\` takes no event at all"
    `);
    expect(told('A as a -> B where v as b .within(1m).where(a.v).emit()')).toMatchInlineSnapshot(`
      "13:30 E060 a condition is a bool, not float
      13:55 E060 a condition is a bool, not float"
    `);
  });
});

describe('AND, OR, groups and calls', () => {
  test('nest freely with sequences', () => {
    expect(plan('A as a -> B as b OR C as c AND A as d .within(1m).emit(a.k, x: b.v, y: c.w)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> ($1 OR ($2 AND $3)))
        $0 a: event A as A
        $1 b: event B as B
        $2 c: event C as C
        $3 d: event A as A
        emit S k=$0.k, x=$1.v, y=$2.w
        = {k: int, x: float, y: float}"
    `);
    expect(plan('SEQ(A as a, AND(B as b, OR(C as c, A as d))) within 1m')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> ($1 AND ($2 OR $3)))
        $0 a: event A as A
        $1 b: event B as B
        $2 c: event C as C
        $3 d: event A as A
        = {a_k: int, a_v: float, a_user: str, b_k: int, b_v: float, b_user: str, c_k: int, c_w: float, d_k: int, d_v: float, d_user: str, match_duration_ms: int}"
    `);
    expect(plan('(A as a -> B where v > a.v as b){2,} -> C as c .within(1m).emit(n: count(a), last: b.v)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ((($0 -> $1)){2,Infinity} -> $2)
        $0 a: event A as A closure
        $1 b: event B as B closure where (.v > $0.v)
        $2 c: event C as C
        emit S n=count[$0](), last=$1.v
        = {n: int, last: float}"
    `);
    expect(plan('(A -> B within 5s) -> C within 1m')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ((($0 -> $1)){1,1} within 5000 -> $2)
        $0: event A as A
        $1: event B as B
        $2: event C as C
        = {match_duration_ms: int}"
    `);
    expect(plan('sequence(a: A, b: B where k == a.k, c: C) .within(1m).emit(a.k)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1 b: event B as B where (.k == $0.k)
        $2 c: event C as C
        emit S k=$0.k
        = {k: int}"
    `);
  });
  test('an alias that cannot be read is no field of an event that is not declared', () => {
    const errors = (source: string): string =>
      told(source)
        .split('\n')
        .filter((line) => !/ W\d/.test(line))
        .join('\n');
    expect(errors('AND(U as a, V where v >= a.v as b) within 1m')).toBe(
      '13:37 E035 unknown alias `a` (branches complete in any order: compare in `.where` behind the pattern)',
    );
    expect(errors('U as a -> V where v == c.v and c != 1 as b -> W as c .within(1m)')).toBe(
      '13:35 E035 unknown alias `c` (`c` belongs to a later step, which has not happened yet)',
    );
    expect(errors('U as a -> NOT V as n -> W where v == n.v as c .within(1m).not(U where v == n.v).emit(n: n.v)')).toBe(
      [
        '13:49 E035 unknown alias `n` (`n` names a `NOT`: there is no event of it)',
        '13:87 E035 unknown alias `n` (`n` names a `NOT`: there is no event of it)',
        '13:100 E035 unknown alias `n` (`n` names a `NOT`: there is no event of it)',
      ].join('\n'),
    );
    expect(errors('U as a -> V where c == 1 as b -> W as c .within(1m)')).toBe('');
  });
  test('branches do not read each other', () => {
    expect(told('AND(A as a, B where k == a.k as b) within 1m')).toMatchInlineSnapshot(
      `"13:37 E035 unknown alias \`a\` (branches complete in any order: compare in \`.where\` behind the pattern)"`,
    );
    expect(told('A as x -> OR(A as a, B where k == a.k and v > x.v as b) -> C where w > b.v within 1m')).toMatchInlineSnapshot(
      `"13:46 E035 unknown alias \`a\` (of the branches of \`OR\` a match has one: none reads another)"`,
    );
  });
});

describe('closures', () => {
  test('compare with the previous capture', () => {
    expect(
      plan(
        'A as a -> B+ where v > b.v and k == a.k as b -> C where w > b.v and count(b) > 2 as c .within(1m).emit(n: count(b), first: first(b).v, s: sum(b.v), l: b.LEN, p: prev(b).v, z: b[0].v)',
      ),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1 b: event B as B{1,Infinity} closure where (unless_first[$1]((.v > $1.v)) and (.k == $0.k))
        $2 c: event C as C where ((.w > $1.v) and (count[$1]() > 2))
        emit S n=count[$1](), first=$1[first].v, s=sum[$1](.v), l=count[$1](), p=$1[prev].v, z=$1[0].v
        = {n: int, first: float, s: float, l: int, p: float, z: float}"
    `);
  });
  test('that end the pattern emit each capture unless told otherwise', () => {
    expect(plan('A -> B+ as b .within(1m)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, each, no_skip, within 60000
        ($0 -> $1)
        $0: event A as A
        $1 b: event B as B{1,Infinity} closure
        = {b_k: int, b_v: float, b_user: str, match_duration_ms: int}"
    `);
    expect(plan('A -> B* -> C? .within(1m)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, each, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0: event A as A
        $1: event B as B{0,Infinity} closure
        $2: event C as C{0,1}
        = {match_duration_ms: int}"
    `);
    expect(plan('A -> B+ as b .within(1m).longest()')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0: event A as A
        $1 b: event B as B{1,Infinity} closure
        = {b_k: int, b_v: float, b_user: str, match_duration_ms: int}"
    `);
    expect(plan('A -> B+ -> NOT C within 5s')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within null
        ($0 -> $1 -> $2)
        $0: event A as A
        $1: event B as B{1,Infinity} closure
        $2: NOT event C as C within 5000
        = {match_duration_ms: int}"
    `);
    expect(plan('A+ .within(1m)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, each, no_skip, within 60000
        $0
        $0: event A as A{1,Infinity} closure
        = {match_duration_ms: int}"
    `);
    expect(plan('(A -> B)+ .within(1m)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, each, no_skip, within 60000
        (($0 -> $1)){1,Infinity}
        $0: event A as A closure
        $1: event B as B closure
        = {match_duration_ms: int}"
    `);
  });
  test('rise or fall', () => {
    expect(plan('A+ as a -> B .within(1m).increasing(v).emit(n: count(a))')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0 a: event A as A{1,Infinity} closure
        $1: event B as B
        increasing $0 .v
        emit S n=count[$0]()
        = {n: int}"
    `);
    expect(plan('A.decreasing(v) as a -> B .within(1m).emit(n: count(a))')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0 a: event A as A{1,Infinity} closure
        $1: event B as B
        decreasing $0 .v
        emit S n=count[$0]()
        = {n: int}"
    `);
    expect(plan('A as a .increasing(a.v) .within(1m).emit(n: count(a))')).toMatchInlineSnapshot(`
      "13:19 E020 \`.increasing\` needs a pattern, and this source is none (write a pattern: \`A as a -> B as b\`)
      13:36 E020 \`.within\` needs a pattern, and this source is none (write a pattern (\`A as a -> B as b .within(10s)\`), or \`.window(10s)\`)
      13:56 E073 the aggregate \`count\` cannot stand here (aggregates stand in \`.aggregate(n: ..)\`, or read a closure: \`sum(b.f)\`)"
    `);
    expect(told('A -> B .within(1m).increasing(v)')).toMatchInlineSnapshot(
      `"13:30 E021 \`.increasing\` applies to the only closure, and the pattern has no closure (write the step as \`X+\`)"`,
    );
    expect(told('A+ -> NOT B.increasing(v) -> C .within(1m)')).toMatchInlineSnapshot(
      `"13:23 E021 \`.increasing\` applies to the only closure, and this step is none (write the step as \`X+\`)"`,
    );
    expect(told('A+ -> B+ .within(1m).increasing(v)')).toMatchInlineSnapshot(
      `"13:32 E021 \`.increasing\` applies to the only closure, and the pattern has several closures (write the step as \`X+\`)"`,
    );
    expect(told('A+ .within(1m).increasing(v).each()')).toMatchInlineSnapshot(
      `"13:26 E021 \`.increasing\` gives one match per run, so it and \`.each()\` exclude each other (keep one of them)"`,
    );
    expect(told('A+ .within(1m).increasing(v).stam()')).toMatchInlineSnapshot(
      `"13:26 E021 \`.increasing\` gives one match per run, so it and \`.stam()\` exclude each other (keep one of them)"`,
    );
    expect(told('A+ .within(1m).increasing(v).decreasing(k)')).toMatchInlineSnapshot(
      `"13:40 E021 a pattern has one monotone condition at most (keep \`.increasing\` or the other)"`,
    );
    expect(told('A+ .within(1m).increasing(v > 1)')).toMatchInlineSnapshot(`"13:38 E062 \`.increasing\` needs a value that has an order"`);
    expect(told('A+ .within(1m).increasing()')).toMatchInlineSnapshot(
      `"13:26 E082 \`.increasing\` needs an argument: what must grow from capture to capture"`,
    );
  });
});

describe('policies', () => {
  test('are read from the operators of the stream', () => {
    expect(
      plan(
        'A as a -> B+ as b -> C as c .within(1m).strict().subsets(limit: 5).after_match(skip_to_next).max_runs(10).max_closure(5).not(C where w == a.v and count(b) > 1).not(B)',
      ),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, strict, subsets, skip_to_next, within 60000, subsets 5, runs 10, closure 5
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1 b: event B as B{1,Infinity} closure
        $2 c: event C as C
        cancelled by event C as C where ((.w == $0.v) and (count[$1]() > 1))
        cancelled by event B as B
        = {a_k: int, a_v: float, a_user: str, b_k: int, b_v: float, b_user: str, c_k: int, c_w: float, match_duration_ms: int}"
    `);
    expect(plan('A -> B .within(2m).within(1m).stnm()')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0: event A as A
        $1: event B as B
        = {match_duration_ms: int}"
    `);
    expect(plan('A -> B .within(1m).stam().after_match("no_skip")')).toMatchInlineSnapshot(`
      "S
        pattern -, any, longest, no_skip, within 60000
        ($0 -> $1)
        $0: event A as A
        $1: event B as B
        = {match_duration_ms: int}"
    `);
  });
  test('exclude each other', () => {
    expect(told('A -> B+ -> C .within(1m).stam().subsets()')).toMatchInlineSnapshot(
      `"13:43 E021 \`.stam()\` and \`.subsets()\` exclude each other (it branches for closures already, so that every subset comes: leave \`.subsets()\` out)"`,
    );
    expect(told('A -> B+ -> C .within(1m).stam().each()')).toMatchInlineSnapshot(
      `"13:43 E021 \`.stam()\` and \`.each()\` exclude each other (it branches for closures already: leave \`.each()\` out)"`,
    );
    expect(told('A -> B+ -> C .within(1m).stam().longest()')).toMatchInlineSnapshot(
      `"13:43 E021 \`.stam()\` and \`.longest()\` exclude each other (it branches for closures: leave one of them out)"`,
    );
    expect(told('A -> B+ -> C .within(1m).each().after_match(skip_past_last)')).toMatchInlineSnapshot(
      `"13:43 E021 \`skip_past_last\` and \`.each()\` exclude each other (add \`.longest()\`: one match with the whole closure)"`,
    );
    expect(told('A -> B+ .within(1m).after_match(skip_past_last)')).toMatchInlineSnapshot(
      `"13:31 E021 \`skip_past_last\` and the growing matches of a closure that ends the pattern (\`.each()\`, the default) exclude each other (add \`.longest()\`: one match with the whole closure)"`,
    );
    expect(told('A -> B+ .within(1m).longest().after_match(skip_past_last)')).toMatchInlineSnapshot(`""`);
    expect(told('A -> B+ -> NOT C within 5s .strict()')).toMatchInlineSnapshot(`
      "13:12 W003 nothing bounds this pattern in time, so its runs are kept until they match; \`within 5s\` is that of the \`NOT\` before it (for the whole pattern write \`.within(5s)\`)
      13:39 E021 \`.strict()\` and a closure before an absence at the end exclude each other (nothing would say when the closure ends)"
    `);
    expect(told('A -> B .within(1m).strict().stam().longest().each()')).toMatchInlineSnapshot(`
      "13:39 E021 \`.stam()\` and \`.strict()\` exclude each other (keep one of them)
      13:46 W053 \`.longest()\` says how a closure gives its matches, and this pattern has none (leave it out, or let a step repeat: \`X+\`)
      13:56 E021 \`.each()\` and \`.longest()\` exclude each other (keep one of them)"
    `);
    expect(
      told('A -> B .within(1m).after_match(skip_all).max_runs(0).within(5).subsets(limit: "x").not(5).after_match()'),
    ).toMatchInlineSnapshot(`
      "13:43 E081 \`policy\` cannot be \`skip_all\` (it is one of \`no_skip\`, \`skip_to_next\`, \`skip_past_last\`)
      13:62 E081 \`count\` must be a whole number of at least 1
      13:72 E061 a duration is needed here, not int (write a unit: 5s, 5m)
      13:74 W053 \`.subsets()\` says how a closure gives its matches, and this pattern has none (leave it out, or let a step repeat: \`X+\`)
      13:90 E081 \`limit\` must be a whole number of at least 1
      13:99 E081 \`.not\` takes an event type with a condition (write \`.not(X where e)\`)
      13:101 E082 \`.after_match\` needs an argument: which runs end with a match
      13:101 E021 \`.after_match\` stands here twice (keep one of them)"
    `);
  });
  test('need a pattern', () => {
    expect(told('A.within(5s).strict().not(B).after_match(no_skip).max_runs(5).each()')).toMatchInlineSnapshot(`
      "13:13 E020 \`.within\` needs a pattern, and this source is none (write a pattern (\`A as a -> B as b .within(10s)\`), or \`.window(10s)\`)
      13:24 E020 \`.strict\` needs a pattern, and this source is none (write a pattern: \`A as a -> B as b\`)
      13:33 E020 \`.not\` needs a pattern, and this source is none (write a pattern: \`A as a -> B as b\`)
      13:40 E020 \`.after_match\` needs a pattern, and this source is none (write a pattern: \`A as a -> B as b\`)
      13:61 E020 \`.max_runs\` needs a pattern, and this source is none (write a pattern: \`A as a -> B as b\`)
      13:73 E020 \`.each\` needs a pattern, and this source is none (write a pattern: \`A as a -> B as b\`)"
    `);
    expect(told('A where v > 1 within 5s')).toMatchInlineSnapshot(
      `"13:26 E020 \`.within\` needs a pattern, and this source is none (write a pattern (\`A as a -> B as b .within(10s)\`), or \`.window(10s)\`)"`,
    );
  });
  test('warn about what is rarely meant', () => {
    expect(told('A -> B')).toMatchInlineSnapshot(
      `"13:12 W003 nothing bounds this pattern in time, so its runs are kept until they match (add \`.within(10m)\`)"`,
    );
    expect(told('A -> B .partition_by(k, expire: 1h)')).toMatchInlineSnapshot(`""`);
    expect(told('A -> (B within 5s)')).toMatchInlineSnapshot(`""`);
    expect(told('A -> B .within(1m).not(B)')).toMatchInlineSnapshot(
      `"13:30 W048 \`B\` is also the last step: it cancels the run or completes it (for a timeout write \`-> NOT B within d\`)"`,
    );
    for (const pattern of ['A -> B', 'A -> (B OR C)', 'A -> NOT B within 5s'])
      expect(told(`${pattern} .within(1m).longest()`)).toContain('W053');
    for (const pattern of ['A -> B+', 'A* -> B', '(A -> B){2,3}', 'A{1,2} OR B'])
      expect(told(`${pattern} .within(1m).longest()`)).not.toContain('W053');
    expect(told('A -> B .within(1m).each()')).toMatchInlineSnapshot(
      `"13:30 W053 \`.each()\` says how a closure gives its matches, and this pattern has none (leave it out, or let a step repeat: \`X+\`)"`,
    );
    expect(told('A -> B? .within(1m)')).toMatchInlineSnapshot(
      `"13:17 W049 the pattern is complete without its last step, which therefore never captures (leave it out, or make it a step that must come)"`,
    );
  });
});

describe('the partition of a pattern', () => {
  test('is read on every candidate', () => {
    expect(plan('A as a -> B as b within 1m partition by user, k .limit(2).emit(user, b.k)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0 a: event A as A
        $1 b: event B as B
        by user=.user, k=.k
        limit 2 per stream
        emit S user=.user, k=$1.k
        = {user: str, k: int}"
    `);
    expect(plan('A as a -> B as b .within(1m).partition_by(lower(user), expire: 1h)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0 a: event A as A
        $1 b: event B as B
        by lower(user)=lower(.user) expire 3600000
        = {a_k: int, a_v: float, a_user: str, b_k: int, b_v: float, b_user: str, match_duration_ms: int}"
    `);
    expect(told('A as a -> C as c within 1m partition by user')).toMatchInlineSnapshot(
      `"13:52 E034 unknown name \`user\`: event \`C\` has no such field (the events have no common key: leave \`.partition_by(user)\` out and write \`where its_key == a.user\` on the step)"`,
    );
    expect(told('A as a -> B as b .within(1m).not(C).partition_by(user)')).toMatchInlineSnapshot(
      `"13:61 E034 unknown name \`user\`: event \`C\` has no such field (the events have no common key: leave \`.partition_by(user)\` out and write \`where its_key == a.user\` on the step)"`,
    );
    expect(told('A as a -> B as b .within(1m).partition_by(a.user)')).toMatchInlineSnapshot(
      `"13:54 E035 unknown alias \`a\` (fields are read without a name before them here, or give the source one: \`X as x\`)"`,
    );
  });
});

describe('a named pattern', () => {
  const named = `${events}pattern P = A as a -> B where k == a.k as b within 10m partition by user\n`;
  test('is a source with operators of the stream', () => {
    expect(
      planned(`${named}stream S = P.within(5m).after_match(skip_past_last).where(b.v > 1).emit(x: a.k)\nstream T = P`),
    ).toMatchInlineSnapshot(`
      "S
        pattern P, next, longest, skip_past_last, within 300000
        ($0 -> $1)
        $0 a: event A as A
        $1 b: event B as B where (.k == $0.k)
        by user=.user
        filter ($1.v > 1)
        emit S x=$0.k
        = {x: int}
      T
        pattern P, next, longest, no_skip, within 600000
        ($0 -> $1)
        $0 a: event A as A
        $1 b: event B as B where (.k == $0.k)
        by user=.user
        = {a_k: int, a_v: float, a_user: str, b_k: int, b_v: float, b_user: str, match_duration_ms: int}"
    `);
  });
  test('of one plain step is a filter', () => {
    expect(planned(`${events}pattern P = A where v > 1 as a partition by user\nstream S = P.limit(1).emit(a.k)`)).toMatchInlineSnapshot(`
      "S
        from event A as A
        by user=.user
        filter (.v > 1)
        limit 1 per stream
        emit S k=.k
        = {k: int}"
    `);
    expect(problems(`${events}pattern P = A where v > 1 within 5s\nstream S = P.emit()`)).toMatchInlineSnapshot(
      `"13:34 E020 a single event takes no time, so \`within\` bounds nothing (write a pattern of several steps, or \`A+\`)"`,
    );
  });
  test('is checked even when no stream names it', () => {
    expect(problems(`${events}pattern P = A as a -> B where kk == a.k as b within 10m`)).toMatchInlineSnapshot(
      `"13:31 E034 unknown name \`kk\`: event \`B\` has no such field (did you mean \`k\`?)"`,
    );
    expect(problems(`${named}stream S = P as p .emit(x: p.k)`)).toMatchInlineSnapshot(`
      "14:17 E035 \`P\` is a pattern: its steps have aliases, its matches have none (read the steps: \`a.field\`)
      14:28 E035 unknown alias \`p\` (the aliases here: \`a\`, \`b\`)"
    `);
  });
});

describe('a match', () => {
  test('is read through aliases, bare through its last event, and has fields of its own', () => {
    expect(
      plan(
        'A as a -> B as b -> C? as c .within(1m).where(a.v > 1 and w > 2).emit(a_k, b_v, match_duration_ms, match_id, at: timestamp, k)',
      ),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1 b: event B as B
        $2 c: event C as C{0,1}
        filter (($0.v > 1) and (.w > 2))
        emit S a_k=.a_k, b_v=.b_v, match_duration_ms=.match_duration_ms, match_id=@match_id, at=@timestamp, k=.k
        = {a_k: int, b_v: float, match_duration_ms: int, match_id: str, at: timestamp, k: int}"
    `);
    expect(plan('A as a -> OR(B as b, C as c) .within(1m).emit(k, v, w)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> ($1 OR $2))
        $0 a: event A as A
        $1 b: event B as B
        $2 c: event C as C
        emit S k=.k, v=.v, w=.w
        = {k: int, v: any, w: any}"
    `);
  });
  test('goes on to followers with the fields of its aliases', () => {
    expect(
      planned(`${events}stream S = A as a -> B+ as b -> C .within(1m)\nstream T = S.where(a_k > 1 and match_duration_ms > 5).emit(b_v)`),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1 b: event B as B{1,Infinity} closure
        $2: event C as C
        = {a_k: int, a_v: float, a_user: str, b_k: int, b_v: float, b_user: str, match_duration_ms: int}
      T
        from stream S as S
        filter ((.a_k > 1) and (.match_duration_ms > 5))
        emit T b_v=.b_v
        = {b_v: float}"
    `);
    expect(
      problems(
        `${events}stream S = A as a -> B as b .within(1m)\nstream T = S.emit(k)\nstream U = A as a -> B as b .within(1m).select(x: a.k).where(a.k > 1).emit()`,
      ),
    ).toMatchInlineSnapshot(`
      "14:19 E034 unknown name \`k\`: stream \`S\` has no such field (it has \`a_k\`, \`a_v\`, \`a_user\`, \`b_k\`, \`b_v\`, \`b_user\`)
      15:62 E035 unknown alias \`a\` (the result of \`.select\` has only the fields written there: give it what is needed of \`a\`)"
    `);
  });
});

describe('trends and forecasts', () => {
  test('take the place of matches or come besides them', () => {
    expect(
      plan(
        'A as a -> B+ where v > b.v as b -> C as c .within(1m).partition_by(k).trend_aggregate(n: count_trends(), e: count_events(b), s: sum_trends(b.v * 2), m: max_trends(b.k) + 1, again: count_trends()).having(n > 1).limit(5).emit(k, n, e, last: b.v)',
      ),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1 -> $2)
        $0 a: event A as A
        $1 b: event B as B{1,Infinity} closure where unless_first[$1]((.v > $1.v))
        $2 c: event C as C
        by k=.k
        trend_aggregate 60000 [count_trends(), count_events($1), sum_trends($1 (.v * 2)), max_trends($1 .k)] n=#0, e=#1, s=#2, m=(#3 + 1), again=#0
        filter (.n > 1)
        limit 5 per stream
        emit S k=.k, n=.n, e=.e, last=$1.v
        = {k: int, n: int, e: int, last: float}"
    `);
    expect(plan('A+ .window(5m).trend_aggregate(n: count_trends(), s: window_start).emit(n)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, each, no_skip, within null
        $0
        $0: event A as A{1,Infinity} closure
        trend_aggregate 300000 [count_trends()] n=#0, s=@window_start
        emit S n=.n
        = {n: int}"
    `);
    expect(
      plan(
        'A -> B .within(1m).forecast(confidence: 0.7, mode: "fast", hawkes: true).where(is_forecast and forecast_probability > 0.8).emit(p: forecast_probability, t: forecast_time)',
      ),
    ).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within 60000
        ($0 -> $1)
        $0: event A as A
        $1: event B as B
        forecast 0.7 60000 50/3 true false
        filter (@is_forecast and (@forecast_probability > 0.8))
        emit S p=@forecast_probability, t=@forecast_time
        = {p: float, t: duration}"
    `);
    expect(plan('A -> B .forecast(warmup: 10, max_depth: 2, horizon: 30s, conformal: true)')).toMatchInlineSnapshot(`
      "S
        pattern -, next, longest, no_skip, within null
        ($0 -> $1)
        $0: event A as A
        $1: event B as B
        forecast 0.5 30000 10/2 false true
        = {match_duration_ms: int}"
    `);
  });
  test('refuse what they cannot take', () => {
    expect(told('A+ as a .trend_aggregate(n: count_trends())')).toMatchInlineSnapshot(
      `"13:20 E082 \`.trend_aggregate\` needs a window (write \`.window(5m)\` before it, or bound the pattern with \`within\`)"`,
    );
    expect(
      told(
        'A+ as a -> B+ as b .within(1m).trend_aggregate(n: count(), m: sum_trends(), o: count_trends(a), p: sum_trends(a.v + b.v), q: cont_trends(), r: sum_trends(a.user), s: count_trends() where v > 1)',
      ),
    ).toMatchInlineSnapshot(`
      "13:62 E070 \`count\` is no aggregate over trends (did you mean \`count_trends\`?)
      13:74 E071 \`sum_trends\` takes one argument, like \`b.price\`
      13:91 E071 \`count_trends\` takes no argument
      13:122 E072 the argument must be about one step of the pattern (the steps are \`a\`, \`b\`)
      13:137 E070 \`cont_trends\` is no aggregate over trends (did you mean \`count_trends\`?)
      13:166 E072 aggregates over trends take numbers
      13:178 E073 an aggregate over trends takes no \`where\` (write the condition on the step of the pattern)"
    `);
    expect(
      told('A+ as a .window(5m).trend_aggregate(s: sum_trends(a.timestamp), m: avg_trends(a.timestamp), l: max_trends(a.timestamp))'),
    ).toMatchInlineSnapshot(`
      "13:62 E072 aggregates over trends take numbers, and \`sum_trends\` no times
      13:90 E072 aggregates over trends take numbers, and \`avg_trends\` no times"
    `);
    expect(told('A+ .window(5m, sliding: 1m).strict().after_match(no_skip).trend_aggregate(n: count_trends())')).toMatchInlineSnapshot(`
      "13:27 E080 \`sliding\` means nothing for the window of trends, which is tumbling
      13:39 E021 \`.strict\` and \`.trend_aggregate\` exclude each other (trends are all combinations; they are not enumerated as matches)
      13:48 E021 \`.after_match\` and \`.trend_aggregate\` exclude each other (trends are all combinations; they are not enumerated as matches)"
    `);
    expect(told('A+ .window(5).trend_aggregate(n: count_trends())')).toMatchInlineSnapshot(
      `"13:15 E081 the window of trends is a duration (write \`.window(5m)\`)"`,
    );
    expect(told('A+ .within(1m).where(v > 1).trend_aggregate(n: count_trends())')).toMatchInlineSnapshot(
      `"13:39 E092 \`.trend_aggregate\` cannot stand here (write it right behind a pattern: \`A+ as a .trend_aggregate(..)\`)"`,
    );
    expect(told('A.trend_aggregate(n: count_trends()).forecast()')).toMatchInlineSnapshot(`
      "13:13 E092 \`.trend_aggregate\` cannot stand here (write it right behind a pattern: \`A+ as a .trend_aggregate(..)\`)
      13:48 E092 \`.forecast\` cannot stand here (write it right behind a pattern: \`A+ as a .forecast(..)\`)"
    `);
    expect(told('A -> B .within(1m).forecast(confidence: 2, horizon: 5, mode: "quick", hawkes: 1)')).toMatchInlineSnapshot(`
      "13:52 E081 \`confidence\` must be a number from 0 to 1
      13:64 E061 a duration is needed here, not int (write a unit: 5s, 5m)
      13:73 E081 \`mode\` cannot be \`"quick"\` (it is one of \`fast\`, \`balanced\`, \`accurate\`)
      13:90 E081 \`hawkes\` must be true or false"
    `);
  });
});

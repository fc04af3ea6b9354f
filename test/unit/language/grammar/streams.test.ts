import { describe, expect, it } from 'vitest';
import type { PatternElement, StreamSource } from '../../../../shared/language/ast/nodes.ts';
import { errorLines, printed, readAs } from './reading.ts';

function stream(text: string) {
  return readAs('StreamDeclaration', `stream X = ${text}`);
}

function sourceOf<K extends StreamSource['kind']>(kind: K, text: string): Extract<StreamSource, { readonly kind: K }> {
  const { source } = stream(text);
  expect(source.kind).toBe(kind);
  return source as Extract<StreamSource, { readonly kind: K }>;
}

describe('sources', () => {
  it('reads names, aliases and dotted names', () => {
    expect(sourceOf('NamedSource', 'A as a')).toMatchObject({ path: [{ text: 'A' }], alias: { text: 'a' } });
    expect(sourceOf('NamedSource', 'common.X')).toMatchObject({ path: [{ text: 'common' }, { text: 'X' }], alias: null });
    expect(sourceOf('NamedSource', 'S.late').path).toHaveLength(2);
    expect(stream('X.from(Conn, topic: "t")')).toMatchObject({
      source: { path: [{ text: 'X' }] },
      operators: [{ name: { text: 'from' } }],
    });
    expect(readAs('StreamDeclaration', 'stream X: T = A').type).toMatchObject({ name: 'T' });
  });

  it('reads a step that is no pattern as a source with operators', () => {
    expect(printed('stream X = A where e as a')).toBe('stream X = A as a\n    .where(e)');
    expect(printed('stream X = A[e] as a within 5m partition by k, j .emit()')).toBe(
      'stream X = A as a\n    .where(e)\n    .within(5m)\n    .partition_by(k, j)\n    .emit()',
    );
    expect(printed('stream X = A.where(e) as a .emit()')).toBe('stream X = A as a\n    .where(e)\n    .emit()');
  });

  it('reads merge and join', () => {
    expect(sourceOf('MergeSource', 'merge(A, B.where(x > 1), stream C = D.where(y) as d, common.E,)')).toMatchObject({
      inputs: [
        { name: null, operators: [] },
        { operators: [{ name: { text: 'where' } }] },
        { name: { text: 'C' }, source: { alias: { text: 'd' } }, operators: [{}] },
        { source: { path: [{}, {}] } },
      ],
    });
    for (const join of ['join', 'left_join', 'right_join', 'full_join'])
      expect(sourceOf('JoinSource', `${join}(A, B).on(A.k == B.k).window(5s)`)).toMatchObject({ join, inputs: [{}, {}] });
    expect(sourceOf('JoinSource', 'join(stream A = X.where(a), stream B = Y .on(e), stream C = Z on e)')).toMatchObject({
      inputs: [{}, { operators: [{ name: { text: 'on' } }] }, { operators: [{ name: { text: 'on' } }] }],
    });
  });

  it('reads timers', () => {
    expect(sourceOf('TimerSource', 'timer(5s, initial_delay: 1s)').arguments).toHaveLength(2);
  });

  it('takes the words of sources as names', () => {
    for (const word of ['merge', 'join', 'timer', 'sequence', 'AND', 'SEQ', 'all', 'NOT', 'stream', 'where'])
      expect(sourceOf('NamedSource', `${word} as x`).path).toMatchObject([{ text: word }]);
  });
});

describe('operators', () => {
  it('reads arguments of every form', () => {
    expect(stream('A.emit(a, n: b + 1, null: c, if: d).order_by(a desc, b asc, c)')).toMatchObject({
      operators: [
        { arguments: [{ name: null }, { name: { text: 'n' } }, { name: { text: 'null' } }, { name: { text: 'if' } }] },
        { arguments: [{ order: 'desc' }, { order: 'asc' }, { order: null }] },
      ],
    });
    expect(stream('A.emit as T (a: 1).emit as common.T ()')).toMatchObject({
      operators: [{ as: { text: 'T' } }, { as: { text: 'common.T' } }],
    });
    expect(stream('A.fork(x: .where(a).emit(), y: .print())')).toMatchObject({
      operators: [{ arguments: [{ value: { kind: 'Chain', operators: [{}, {}] } }, { value: { kind: 'Chain', operators: [{}] } }] }],
    });
    expect(stream('A.not(X where k == a.k).not(X).not(common.X where y)')).toMatchObject({
      operators: [
        { arguments: [{ value: { kind: 'StepArgument', type: { text: 'X' }, where: { kind: 'Binary' } } }] },
        { arguments: [{ value: { kind: 'Name' } }] },
        { arguments: [{ value: { kind: 'StepArgument', type: { text: 'common.X' } } }] },
      ],
    });
    expect(stream('A.pattern(n: events => events.len() > 5).pattern(m: A as a -> all B where x)')).toMatchObject({
      operators: [{ arguments: [{ value: { kind: 'Lambda' } }] }, { arguments: [{ value: { kind: 'PatternArgument' } }] }],
    });
    expect(
      stream('A.aggregate(n: count() where s == "failed", d: max(x) - min(x), c: count(distinct(y)))').operators[0]?.arguments[0]?.value
        .kind,
    ).toBe('Filtered');
    expect(stream('A.on_error(null).window(session: 5m).map(x => {a: x.b}).distinct()').operators).toHaveLength(4);
  });

  it('ends an expression outside brackets before an operator', () => {
    const { source, operators } = stream('A as a -> B where b.f == a.f.where(c).within(5m)');
    expect(source.kind).toBe('PatternSource');
    expect(operators.map(({ name }) => name.text)).toEqual(['where', 'within']);
    expect(stream('A as a -> B where x > a.first.y\n  .first()').operators).toHaveLength(1);
    expect(stream('(A -> B where xs.first() > 1)').operators).toHaveLength(0);
    expect(stream('A where f(xs.first()) > 1 -> B').operators).toHaveLength(0);
    expect(stream('A -> B where x in 0..n.first()').operators).toHaveLength(1);
    expect(stream('A -> B where x in 0..first(y)').operators).toHaveLength(0);
  });
});

describe('patterns', () => {
  function bodyOf(text: string): PatternElement {
    return sourceOf('PatternSource', text).pattern.body;
  }

  it('reads the parts of a step', () => {
    expect(bodyOf('all A where x as a where y within 5s -> NOT B where z within 1m')).toMatchObject({
      kind: 'SequenceElement',
      form: 'arrow',
      items: [
        { all: true, type: [{ text: 'A' }], where: [{ name: 'x' }, { name: 'y' }], alias: { text: 'a' }, within: { ms: 5000 } },
        { negated: true, type: [{ text: 'B' }], within: { ms: 60_000 } },
      ],
    });
    expect(bodyOf('A -> NOT(B where x) within 5m -> NOT (C)')).toMatchObject({
      items: [{}, { negated: true, where: [{}], within: {} }, { negated: true }],
    });
    expect(bodyOf('common.A as a -> A.late as b')).toMatchObject({ items: [{ type: [{}, {}] }, { type: [{}, {}] }] });
  });

  it.each([
    ['+', 1, Number.POSITIVE_INFINITY],
    ['*', 0, Number.POSITIVE_INFINITY],
    ['?', 0, 1],
    ['{3}', 3, 3],
    ['{2,}', 2, Number.POSITIVE_INFINITY],
    ['{2, 4}', 2, 4],
  ])('reads the quantifier %s', (text, min, max) => {
    expect(bodyOf(`A -> B${text} as b`)).toMatchObject({ items: [{}, { quantifier: { min, max } }] });
    expect(bodyOf(`(A -> B)${text} -> C`)).toMatchObject({ items: [{ kind: 'GroupElement', quantifier: { min, max } }, {}] });
  });

  it('takes one quantified step as a pattern', () => {
    for (const text of ['A+', 'all A as a', 'A{2}', 'A* where x', 'A.increasing(x)', 'A[x > 1]+ as a'])
      expect(bodyOf(text).kind).toBe('StepElement');
  });

  it('binds AND, then OR, then ->', () => {
    expect(bodyOf('A -> B OR C AND D -> E')).toMatchObject({
      items: [{ kind: 'StepElement' }, { kind: 'OrElement', form: 'infix', items: [{}, { kind: 'AndElement', items: [{}, {}] }] }, {}],
    });
    expect(bodyOf('AND(A, OR(B, C) -> D, SEQ(E))')).toMatchObject({
      kind: 'AndElement',
      form: 'call',
      items: [{}, { kind: 'SequenceElement', form: 'arrow' }, { kind: 'SequenceElement', form: 'call', items: [{}] }],
    });
  });

  it('gives a `within` behind the last step to the pattern, and a `NOT` its own', () => {
    expect(sourceOf('PatternSource', 'A -> B within 5m')).toMatchObject({
      pattern: { within: { ms: 300_000 }, body: { items: [{}, { within: null }] } },
    });
    expect(sourceOf('PatternSource', 'A -> NOT B within 5m')).toMatchObject({
      pattern: { within: null, body: { items: [{}, { within: { ms: 300_000 } }] } },
    });
    expect(sourceOf('PatternSource', 'A -> (B within 5m)')).toMatchObject({
      pattern: {
        within: null,
        body: { items: [{}, { kind: 'GroupElement', pattern: { within: null, body: { within: { ms: 300_000 } } } }] },
      },
    });
    expect(sourceOf('PatternSource', 'A within 5s -> B OR C within 5m')).toMatchObject({
      pattern: { within: { ms: 300_000 }, body: { items: [{ within: { ms: 5000 } }, {}] } },
    });
    expect(sourceOf('PatternSource', '(A -> B within 5s) within 9s -> C')).toMatchObject({
      pattern: { within: null, body: { items: [{ within: { ms: 9000 }, pattern: { within: { ms: 5000 } } }, {}] } },
    });
    expect(sourceOf('PatternSource', 'AND(A within 5s, B) within 1m partition by k, j')).toMatchObject({
      pattern: { within: { ms: 60_000 }, partitionBy: [{}, {}], body: { items: [{ within: { ms: 5000 } }, {}] } },
    });
    expect(sourceOf('PatternSource', 'SEQ(A, B -> C within 5s) within 1m')).toMatchObject({
      pattern: { body: { items: [{}, { kind: 'GroupElement', pattern: { within: { ms: 5000 } } }] } },
    });
  });

  it('gives operators before `->` to their step, and those behind the last step to the stream', () => {
    expect(printed('stream X = A as a .where(x) .print(y) .within(5s) -> B .where(z) .emit()')).toBe(
      'stream X = A where x as a within 5s\n    .print(y)\n    -> B\n    .where(z)\n    .emit()',
    );
    expect(printed('stream X = A -> B.where(z) as b .emit()')).toBe('stream X = A -> B where z as b\n    .emit()');
    expect(stream('A -> B.increasing(x).emit()').operators).toHaveLength(1);
    expect(stream('A+ as a -> B.increasing(x).emit()').operators).toHaveLength(2);
    expect(stream('A as a -> B as b .increasing(x)').operators).toHaveLength(1);
  });

  it('reads named patterns', () => {
    const text = `pattern BruteForce = LoginFailed as f -> LoginFailed+ where user == f.user as more -> LoginOk where user == f.user as ok
    within 10m partition by user`;
    expect(readAs('PatternDeclaration', text).pattern).toMatchObject({
      within: { ms: 600_000 },
      partitionBy: [{ name: 'user' }],
      body: { items: [{}, { quantifier: { text: '+' } }, {}] },
    });
    expect(printed('pattern P = A -> B .where(x) .within(5m) .partition_by(k)')).toBe(
      'pattern P = A -> B where x within 5m partition by k',
    );
    expect(readAs('PatternDeclaration', 'pattern P = A -> B.print()').pattern.body).toMatchObject({ items: [{}, { operators: [{}] }] });
    expect(readAs('PatternDeclaration', 'pattern P = A partition by k within 5m').pattern).toMatchObject({ within: {}, partitionBy: [{}] });
  });

  it('reads the form with names', () => {
    const source = sourceOf('PatternSource', 'sequence(a: A, b: B where x == a.x, c: NOT C within 5m)');
    expect(source).toMatchObject({
      form: 'sequence',
      pattern: {
        body: { form: 'call', items: [{ alias: { text: 'a' } }, { alias: { text: 'b' }, where: [{}] }, { negated: true, within: {} }] },
      },
    });
    expect(sourceOf('PatternSource', 'sequence(a: A, b: B) -> C').form).toBe('arrow');
  });

  it('takes words as types and aliases where they can be nothing else', () => {
    expect(bodyOf('all -> NOT -> AND as where -> within within 5s -> x')).toMatchObject({
      items: [
        { type: [{ text: 'all' }] },
        { type: [{ text: 'NOT' }] },
        { type: [{ text: 'AND' }], alias: { text: 'where' } },
        { type: [{ text: 'within' }], within: {} },
        {},
      ],
    });
    expect(bodyOf('A where where > as and in in is -> B')).toMatchObject({ items: [{ where: [{ kind: 'Binary' }] }, {}] });
  });

  it.each([
    ['NOT A -> B', 'a pattern cannot begin with `NOT`'],
    ['A -> NOT B+', 'a `NOT` takes no quantifier'],
    ['A -> all NOT B', 'a `NOT` takes no quantifier'],
    ['A as a as b -> C', 'the step is named `a` already'],
    ['A -> B within 1s within 2s', 'the pattern has a `within` already'],
    ['A within 1s within 2s -> B', 'the step has a `within` already'],
    ['A+[x]+ -> B', 'the step has a quantifier already'],
    ['(A -> B) as x -> C', '`as` belongs to a step, not to a group'],
    ['AND(A, B).print() -> C', '`.print` belongs to a step, not to a group'],
    ['merge(A+, B)', 'an input is a type or a stream, not a pattern'],
    ['AND(a: A, B)', '`AND(..)` takes no names'],
    ['sequence(a: A as b, B)', 'the step is named `a` already'],
    ['sequence(a: A -> B)', 'only a single step can have a name'],
    ['A.emit(n: sum(x) + 1 where y)', '`where` follows an aggregate call'],
  ])('refuses %s', (text, message) => {
    expect(errorLines(`stream X = ${text}`)).toEqual([expect.stringContaining(message)]);
  });
});

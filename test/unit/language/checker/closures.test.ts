import { describe, expect, test } from 'vitest';
import { lowerStepCondition } from '../../../../shared/language/checker/conditions.ts';
import type { AliasBinding, StepNames } from '../../../../shared/language/checker/scope.ts';
import { eventShape, joinScope, matchScope, matchShape, openShape } from '../../../../shared/language/checker/scopes.ts';
import { brief, contextFor, lowerText, parsed, printed } from './checking.ts';

const context = contextFor(`
event Tick:
    symbol: str
    price: float
    qty: int
`);
const tick = context.symbols.event('Tick');
if (!tick) throw new Error('Tick is declared');
const shape = eventShape(tick);
const a: AliasBinding = { alias: 'a', slot: 0, shape, closure: false };
const b: AliasBinding = { alias: 'b', slot: 1, shape, closure: true };
const match = matchScope([a, b], matchShape([a, b], [shape]));

const lowered = (text: string, scope = match): string => {
  const { text: shown, diagnostics } = lowerText(text, scope, context);
  return diagnostics === '' ? shown : diagnostics;
};

describe('reading a match', () => {
  test.each([
    ['a.price', '$0.price: float'],
    ['b.price', '$1.price: float'],
    ['first(b).price', '$1[first].price: float'],
    ['b.first().price', '$1[first].price: float'],
    ['last(b).qty', '$1[last].qty: int'],
    ['prev(b).qty', '$1[prev].qty: int'],
    ['b[0].qty', '$1[0].qty: int'],
    ['b[-1].timestamp', '$1[-1]@timestamp: timestamp'],
    ['b[0]', 'row($1[0]): Tick'],
    ['count(b)', 'count[$1](): int'],
    ['len(b)', 'count[$1](): int'],
    ['b.LEN', 'count[$1](): int'],
    ['b.count()', 'count[$1](): int'],
    ['sum(b.qty)', 'sum[$1](.qty): int'],
    ['sum(b.qty * b.price)', 'sum[$1]((.qty * .price)): float'],
    ['avg(b.price - a.price)', 'avg[$1]((.price - $0.price)): float'],
    ['sum(b.price) / count(b)', '(sum[$1](.price) / count[$1]()): float'],
    ['count_distinct(b.symbol)', 'count_distinct[$1](.symbol): int'],
    ['count(distinct(b.symbol))', 'count_distinct[$1](.symbol): int'],
    ['percentile(b.price, 0.9)', 'percentile[$1](.price, 0.9): float'],
    ['collect(b)', 'row(all $1): [Tick]'],
    ['collect(b.qty)', 'collect[$1](.qty): [int]'],
    ['max(count(b), 5)', 'max(count[$1](), 5): int'],
    ['max(b.price, 100)', 'max($1.price, 100): float'],
    ['abs(b.price)', 'abs($1.price): float'],
    ['a_price', '.a_price: float'],
    ['match_duration_ms', '.match_duration_ms: int'],
    ['match_id', '@match_id: str'],
    ['price', '.price: float'],
    ['timestamp', '@timestamp: timestamp'],
    ['a', 'row($0): Tick'],
  ])('%s', (text, expected) => {
    expect(lowered(text)).toBe(expected);
  });

  test.each([
    ['a.prise', '1:3 E034 event `Tick` has no field `prise` (did you mean `price`?)'],
    ['c.price', '1:1 E035 unknown alias `c` (the aliases here: `a`, `b`)'],
    ['b["x"].price', '1:3 E062 the captures of a closure are numbered: the index is an int'],
    ['sum(b.symbol)', '1:1 E072 `sum` takes float or duration as `e`, not str'],
    ['percentile(b.price, b.qty)', '1:21 E072 this argument of `percentile` must be known before the program runs'],
    [
      'rate(b.price)',
      '1:1 E073 the aggregate `rate` cannot stand here (aggregates stand in `.aggregate(n: ..)`, or read a closure: `sum(b.f)`)',
    ],
  ])('%s is refused', (text, expected) => {
    expect(lowered(text)).toBe(expected);
  });

  test('an event that was not declared leaves the match open', () => {
    const open: AliasBinding = { alias: 'x', slot: 0, shape: openShape('Other'), closure: false };
    const scope = matchScope([open], matchShape([open], [open.shape]));
    expect(lowered('x.anything', scope)).toBe('$0.anything: any');
    expect(lowered('anything', scope)).toBe('.anything: any');
    expect(lowered('timestamp', scope)).toBe('@timestamp: timestamp');
  });
});

describe("a step's where", () => {
  const condition = (text: string, names: Partial<StepNames>): string => {
    const before = context.diagnostics.length;
    const { node, context: view } = parsed(text, context);
    const step: StepNames = { candidate: shape, own: null, earlier: [], unbound: new Map(), ...names };
    const result = lowerStepCondition([node], step, view);
    const said = context.diagnostics.slice(before).map(printed);
    return [result ? brief(result) : 'none', ...said].join('\n');
  };
  const closure = { earlier: [a], own: { alias: 'b', slot: 1, closure: true } };

  test('the candidate is read bare and through its own alias, earlier steps through theirs', () => {
    expect(condition('price > a.price and b.qty == 1', { earlier: [a], own: { alias: 'b', slot: 1, closure: false } })).toBe(
      '((.price > $0.price) and (.qty == 1))',
    );
  });

  test('in a closure the own alias is the previous capture, of which the first capture need not satisfy anything', () => {
    expect(condition('price > b.price', closure)).toBe('unless_first[$1]((.price > $1.price))');
    expect(condition('price > b.price and qty > a.qty', closure)).toBe('(unless_first[$1]((.price > $1.price)) and (.qty > $0.qty))');
    expect(condition('not (price <= b.price)', closure)).toBe('unless_first[$1](not (.price <= $1.price))');
    expect(condition('price > prev(b).price', closure)).toBe('unless_first[$1]((.price > $1[last].price))');
    expect(condition('price > avg(b.price)', closure)).toBe('unless_first[$1]((.price > avg[$1](.price)))');
  });

  test('readings that are defined before the first capture are simply evaluated', () => {
    expect(condition('count(b) < 5', closure)).toBe('(count[$1]() < 5)');
    expect(condition('sum(b.qty) + qty < 100', closure)).toBe('((sum[$1](.qty) + .qty) < 100)');
    expect(condition('b.LEN < 3', closure)).toBe('(count[$1]() < 3)');
  });

  test('without a bare field the own alias is the candidate, which is warned about', () => {
    expect(condition('b.price > a.price', closure)).toBe(
      '(.price > $0.price)\n1:1 W035 without a bare field in this comparison, `b` is the event being looked at, not the previous capture (write the field bare, without `b.`)',
    );
    expect(condition('b.price > 5 or price > b.price', closure)).toContain('((.price > 5) or unless_first[$1]((.price > $1.price)))');
  });

  test('an alias that cannot be read is unknown, and the hint says why', () => {
    expect(condition('qty == c.qty', { earlier: [a], unbound: new Map([['c', '`c` belongs to a later step']]) })).toBe(
      'null\n1:8 E035 unknown alias `c` (`c` belongs to a later step)'.replace('null', '(.qty == null)'),
    );
  });

  test('a condition that is no bool is refused', () => {
    expect(condition('price', {})).toBe('null\n1:1 E060 a condition is a bool, not float');
  });
});

describe('reading a join', () => {
  const other = { ...shape, description: 'event `Quote`', fields: [{ name: 'bid', type: { kind: 'float' }, optional: false }] } as const;
  const join = joinScope([
    { name: 'Tick', synonyms: ['t'], slot: 0, shape },
    { name: 'Quote', synonyms: [], slot: 1, shape: { ...other, fields: [...other.fields, ...shape.fields.slice(0, 1)] } },
  ]);

  test('a field is read by side, or bare where one side has it', () => {
    expect(lowered('Tick.price', join)).toBe('$0.price: float');
    expect(lowered('t.price', join)).toBe('$0.price: float');
    expect(lowered('bid', join)).toBe('$1.bid: float');
    expect(lowered('symbol', join)).toBe(
      '1:1 E034 `symbol` is a field of several sides of the join (write `Tick.symbol` or `Quote.symbol`)',
    );
    expect(lowered('ask', join)).toBe(
      '1:1 E034 unknown name `ask`: the join of `Tick` and `Quote` has no such field (it has `symbol`, `price`, `qty`, `bid`)',
    );
  });

  test('bare fields of undeclared events are read of the one open side', () => {
    const half = joinScope([
      { name: 'A', synonyms: [], slot: 0, shape: openShape('A') },
      { name: 'Tick', synonyms: [], slot: 1, shape },
    ]);
    expect(lowered('anything', half)).toBe('$0.anything: any');
    const both = joinScope([
      { name: 'A', synonyms: [], slot: 0, shape: openShape('A') },
      { name: 'B', synonyms: [], slot: 1, shape: openShape('B') },
    ]);
    expect(lowered('x', both)).toBe(
      '1:1 E034 unknown name `x`: the join of `A` and `B` has no such field (say which side it is of: `A.x`)',
    );
  });
});

import { describe, expect, test } from 'vitest';
import { eventShape, openShape, programScope, rowScope } from '../../../../shared/language/checker/scopes.ts';
import { contextFor, lowerText } from './checking.ts';

const context = contextFor(`
event Trade:
    symbol: str
    price: float
    qty: int
    at: timestamp
    took: duration
    open: bool
    tags: [str]
    extra: {str: int}
    by: Person
    note: any
event Person: name: str
const LIMIT = 10
fn twice(n: int) -> int: n * 2
`);
const trade = context.symbols.event('Trade');
if (!trade) throw new Error('Trade is declared');
const scope = rowScope(eventShape(trade), ['t']);
const open = rowScope(openShape('Tick'), ['t']);

const lowered = (text: string, at = scope): string => {
  const { text: shown, diagnostics } = lowerText(text, at, context);
  return diagnostics === '' ? shown : diagnostics;
};

describe('operators on types', () => {
  test.each([
    ['qty + 1', '(.qty + 1): int'],
    ['qty + 1.5', '(.qty + 1.5): float'],
    ['qty / 2', '(.qty / 2): float'],
    ['symbol + "x"', '(.symbol + "x"): str'],
    ['at + 5m', '(.at + 5m): timestamp'],
    ['at - at', '(.at - .at): duration'],
    ['took * 2', '(.took * 2): duration'],
    ['took / 1s', '(.took / 1s): float'],
    ['took > 500', '(.took > 500): bool'],
    ['open < open', '(.open < .open): bool'],
    ['note + 1', '(.note + 1): float'],
    ['note + note', '(.note + .note): any'],
    ['note + symbol', '(.note + .symbol): str'],
    ['note * took', '(.note * .took): duration'],
    ['-took', '- .took: duration'],
    ['qty & 3', '(.qty & 3): int'],
    ['symbol in tags', '(.symbol in .tags): bool'],
    ['"k" in extra', '("k" in .extra): bool'],
    ['"a" not in symbol', '("a" not in .symbol): bool'],
    ['price ?? 0', '(.price ?? 0): float'],
    ['if open then 1 else 2.5', '(if .open then 1 else 2.5): float'],
    ['not open', 'not .open: bool'],
    ['qty..qty + 2', '.qty..(.qty + 2): [int]'],
    ['tags[0]', '.tags[0]: str'],
    ['tags[1:]', '.tags[1:]: [str]'],
    ['extra["k"]', '.extra["k"]: int'],
    ['extra.k', '.extra.k: int'],
    ['by.name', '.by.name: str'],
    ['by?.name', '.by.name: str'],
    ['note.a.b', '.note.a.b: any'],
    ['f"{symbol}: {qty}"', 'f(.symbol, ": ", .qty): str'],
    ['{a: 1, b: qty}', '{a: 1, b: .qty}: {str: int}'],
    ['[qty, price]', '[.qty, .price]: [float]'],
  ])('%s', (text, expected) => {
    expect(lowered(text)).toBe(expected);
  });

  test.each([
    ['symbol * 2', '1:1 E062 `*` cannot be applied to str and int'],
    ['open + 1', '1:1 E062 `+` cannot be applied to bool and int'],
    ['at + at', '1:1 E062 `+` cannot be applied to timestamp and timestamp'],
    ['-symbol', '1:1 E062 `-` cannot be applied to str'],
    ['symbol & 1', '1:1 E062 `&` cannot be applied to str and int'],
    ['tags < tags', '1:1 E062 [str] and [str] have no order (`<`)'],
    ['1 in tags', '1:1 E062 int is never in [str] (convert with to_string(x), to_int(x) or to_float(x))'],
    ['1 in symbol', '1:1 E062 int is never in str'],
    ['1 in qty', '1:1 E062 `in` looks in an array, a map or a str, not in int (a range stands in parentheses: `x in (1..5)`)'],
    ['qty and open', '1:1 E060 a condition is a bool, not int'],
    ['not qty', '1:5 E060 a condition is a bool, not int'],
    ['if qty then 1 else 2', '1:4 E060 a condition is a bool, not int'],
    ['qty[0]', '1:1 E062 int cannot be indexed by int'],
    ['tags["a"]', '1:1 E062 [str] cannot be indexed by str'],
    ['qty[1:]', '1:1 E062 only strings and arrays have slices, not int'],
    ['"a".."b"', '1:1 E062 a bound of a range is an int, not str\n1:6 E062 a bound of a range is an int, not str'],
    ['qty.x', '1:5 E062 int has no fields, so `.x` cannot be read'],
    ['{a: 1, a: 2}', '1:8 E081 the key `a` is given twice'],
    ['x => x', '1:1 E062 a lambda stands only as the argument of a function of the language'],
    ['(count() where open)', '1:2 E073 `where` behind a call belongs to the aggregates of `.aggregate(..)`'],
  ])('%s is refused', (text, expected) => {
    expect(lowered(text)).toBe(expected);
  });

  test('a comparison of types that are never equal is refused with how to convert', () => {
    expect(lowered('symbol == 5')).toBe(
      '1:1 E062 str and int are never equal (`==`) (convert with to_string(x), to_int(x) or to_float(x))',
    );
    expect(lowered('at == "2026-01-31"')).toMatchInlineSnapshot(
      `"1:1 E062 timestamp and str are never equal (\`==\`) (write a timestamp as @2026-01-31T10:00:00Z, or to_timestamp(x))"`,
    );
    expect(lowered('at > 5')).toMatchInlineSnapshot(
      `"1:1 E062 timestamp and int have no order (\`>\`) (write to_timestamp(x) for epoch milliseconds)"`,
    );
    expect(lowered('tags == [1]')).toContain('E062 [str] and [int] are never equal');
  });

  test('a comparison with the literal null tests for it, and one with a null constant does not', () => {
    expect(lowered('price == null')).toBe('.price is null: bool');
    expect(lowered('(null) != price')).toBe('.price is not null: bool');
    expect(lowered('price is not null')).toBe('.price is not null: bool');
    expect(lowered('price == (null ?? null)')).toBe('(.price == null): bool');
  });

  test('constant parts are folded, failures and large results are not', () => {
    expect(lowered('LIMIT * 60 + qty')).toBe('(600 + .qty): int');
    expect(lowered('upper("ab") + f"{1 + 1}"')).toBe('"AB2": str');
    expect(lowered('if LIMIT > 5 then price else qty')).toBe('.price: float');
    expect(lowered('1 / 0')).toBe('null: float');
    expect(lowered('[1, 2][5]')).toBe('null: int');
    expect(lowered('5m * 2')).toBe('10m: duration');
    expect(lowered('range(5000)')).toBe('range(5000): [int]');
    expect(lowered('now()')).toContain('now()');
  });
});

describe('names', () => {
  test('a name is the nearest thing: alias, field, attribute, value of the program', () => {
    expect(lowered('t.price')).toBe('.price: float');
    expect(lowered('price')).toBe('.price: float');
    expect(lowered('timestamp')).toBe('@timestamp: timestamp');
    expect(lowered('event_type')).toBe('@event_type: str');
    expect(lowered('LIMIT')).toBe('10: int');
    expect(lowered('t')).toBe('row(): Trade');
  });

  test('an undeclared event is open, but values of the program go before its unknown fields', () => {
    expect(lowered('price', open)).toBe('.price: any');
    expect(lowered('user.name', open)).toBe('.user.name: any');
    expect(lowered('LIMIT', open)).toBe('10: int');
    expect(lowered('timestamp', open)).toBe('(.timestamp ?? @timestamp): any');
  });

  test.each([
    ['prise', '1:1 E034 unknown name `prise`: event `Trade` has no such field (did you mean `price`?)'],
    ['ts', '1:1 E034 unknown name `ts`: event `Trade` has no such field (did you mean `timestamp`?)'],
    ['event_time', '1:1 E034 unknown name `event_time`: event `Trade` has no such field (did you mean `timestamp`?)'],
    ['venue', '1:1 E034 unknown name `venue`: event `Trade` has no such field (declare it in the event: `venue: any?`)'],
    ['twice', '1:1 E034 unknown name `twice`: event `Trade` has no such field (`twice` is a function: write twice(..))'],
    ['t.venue', '1:3 E034 event `Trade` has no field `venue` (declare it in the event: `venue: any?`)'],
    ['t.ts', '1:3 E034 event `Trade` has no field `ts` (did you mean `timestamp`?)'],
    ['by.nam', '1:4 E034 `Person` has no field `nam` (did you mean `name`?)'],
    ['u.price', '1:1 E035 unknown alias `u` (the aliases here: `t`)'],
    ['extr.k', '1:1 E035 unknown alias `extr` (did you mean `extra`?)'],
  ])('%s is unknown', (text, expected) => {
    expect(lowered(text)).toBe(expected);
  });

  test('one unknown name is one diagnostic', () => {
    expect(lowered('(venue + 1) * 2 > 3 and venue.a')).toBe(
      '1:2 E034 unknown name `venue`: event `Trade` has no such field (declare it in the event: `venue: any?`)\n1:25 E035 unknown alias `venue` (the aliases here: `t`)',
    );
  });
});

describe('calls', () => {
  test.each([
    ['abs(price)', 'abs(.price): float'],
    ['price.abs()', 'abs(.price): float'],
    ['to_upper(symbol)', 'upper(.symbol): str'],
    ['tags.map(x => len(x))', 'map(.tags, (local0) => len(local0)): [int]'],
    ['map(tags, upper)', 'map(.tags, (local1) => upper(local1)): [str]'],
    ['tags.filter((x, i) => i > 0)', 'filter(.tags, (local2, local3) => (local3 > 0)): [str]'],
    ['tags.map(x => { let y = len(x); y + 1 })', 'map(.tags, (local4) => {set_local; return}): [int]'],
    ['twice(qty)', 'fn0(.qty): int'],
    ['max(price, 1)', 'max(.price, 1): float'],
    ['coalesce(note, 1)', 'coalesce(.note, 1): any'],
  ])('%s', (text, expected) => {
    expect(lowered(text)).toBe(expected);
  });

  test.each([
    ['abss(price)', '1:1 E050 unknown function `abss` (did you mean `abs`?)'],
    ['price.abss()', '1:7 E050 unknown function `abss` (did you mean `abs`?)'],
    ['qty.twice()', '1:5 E050 unknown function `twice` (write twice(x, ..): only functions of the language are called as methods)'],
    [
      'uuid()',
      '1:1 E050 unknown function `uuid` (there is no uuid(): an output depends on its input alone, so a replay gives the same; write match_id, which every match carries, or hash(x))',
    ],
    ['abs()', '1:1 E051 `abs` takes 1 argument, not 0'],
    ['substring(symbol)', '1:1 E051 `substring` takes 2 to 3 arguments, not 1'],
    ['twice(1, 2)', '1:1 E051 `twice` takes 1 argument, not 2'],
    ['twice(n: 1)', '1:7 E051 arguments of functions have no names (write twice(..) with the values in order)'],
    ['twice("a")', '1:7 E062 `twice` takes int as `n`, not str'],
    ['upper(price)', '1:7 E062 `upper` takes str as `text`, not float'],
    ['map(tags, 5)', '1:11 E062 `map` takes a function as `change` (write x => ..)'],
    ['map(tags, (a, b, c) => a)', '1:11 E051 the function for `map` has 1 or 2 parameters, not 3'],
    ['map(tags, (x, x) => x)', '1:15 E007 the parameter `x` stands twice'],
    ["regex_match(symbol, '(a')", '1:1 E052 invalid regular expression: missing closing ): `(a`'],
    [
      'count()',
      '1:1 E073 the aggregate `count` cannot stand here (aggregates stand in `.aggregate(n: ..)`, or read a closure: `sum(b.f)`)',
    ],
    [
      'sum(price)',
      '1:5 E062 `sum` takes [any] as `items`, not float (aggregates stand in `.aggregate(n: ..)`, or read a closure: `sum(b.f)`)',
    ],
    ['price(1)', '1:1 E050 unknown function `price`'],
    ['tags[0](1)', '1:1 E050 only functions can be called'],
  ])('%s is refused', (text, expected) => {
    expect(lowered(text)).toBe(expected);
  });

  test('behind a window without aggregate an aggregate call says to write one', () => {
    const windowed = { ...scope, bareWindow: true };
    expect(lowered('sum(price)', windowed)).toBe(
      '1:5 E073 the aggregate `sum` cannot stand here (write `.aggregate(n: ..)` behind the window and read `n`)',
    );
  });

  test('outside of any row there are only the values of the program', () => {
    expect(lowered('price', programScope())).toBe('1:1 E034 unknown name `price`');
    expect(lowered('LIMIT + 1', programScope())).toBe('11: int');
  });
});

describe('what arguments a function can do with', () => {
  test.each([
    ['filter(tags, x => len(x))', '1:19 E060 a condition is a bool, not int'],
    ['tags.any(x => x)', '1:15 E060 a condition is a bool, not str'],
    ['all(tags, upper)', '1:11 E060 a condition is a bool, not str'],
    ['filter([qty], (x, i) => x & i)', '1:25 E060 a condition is a bool, not int (`&` works on the bits of ints: write `and`)'],
    ['any(tags, x => { let n = len(x); n })', '1:16 E060 a condition is a bool, not int'],
    ['any(tags)', '1:1 E062 `any` takes [bool] as `items`, not [str]'],
    ['all([1, 2])', '1:1 E062 `all` takes [bool] as `items`, not [int]'],
    ['sum(tags)', '1:1 E062 `sum` takes [float] or [duration] as `items`, not [str]'],
    ['variance([took])', '1:1 E062 `variance` takes [float] as `items`, not [duration]'],
    ['sort([tags])', '1:1 E062 values of [str] have no order (`sort`)'],
    ['max([extra])', '1:1 E062 values of {str: int} have no order (`max`)'],
    ['min(qty, symbol)', '1:1 E062 int and str have no order (`min`) (convert with to_string(x), to_int(x) or to_float(x))'],
    ['max(note, took, qty)', '1:1 E062 duration and int have no order (`max`)'],
    ['max([qty], 3)', '1:1 E062 `max` takes one array, or values that are none'],
    ['clamp(qty, 1s, 2s)', '1:1 E062 int and duration have no order (`clamp`)'],
    ['concat(symbol, tags)', '1:1 E062 `concat` cannot mix str and [str]'],
    ['contains(symbol, qty)', '1:1 E062 int is never in str'],
    ['contains(tags, qty)', '1:1 E062 int is never in [str] (convert with to_string(x), to_int(x) or to_float(x))'],
    ['get(tags, "a")', '1:1 E062 [str] cannot be indexed by str'],
    ['set(extra, 1, 2)', '1:1 E062 {str: int} cannot be indexed by int'],
  ])('%s: what a function can never do is refused', (text, expected) => {
    expect(lowered(text)).toBe(expected);
  });

  test.each([
    'filter(tags, x => contains(x, "a"))',
    'filter(note, x => x.active)',
    'filter([note, qty], x => x)',
    'any(tags, x => if open then note else qty)',
    'any(tags, x => { let n = len(x); if n > 1 then true else null })',
    'all(tags, x => null)',
    'any([open, null])',
    'all([])',
    'any(note)',
    'sum([1, 2.5, null])',
    'sum(note)',
    'avg([took])',
    'sort([open])',
    'sort([note, qty])',
    'min(qty, price, note, null)',
    'max(at, note)',
    'clamp(took, note, 5m)',
    'concat(symbol, note)',
    'contains(note, qty)',
    'contains([price], qty)',
    'get(extra, note)',
    'get(by, "name")',
    'set(tags, 0, qty)',
  ])('%s: what it may do is not', (text) => {
    expect(lowered(text)).not.toContain('E06');
  });
});

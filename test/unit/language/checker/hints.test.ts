import { describe, expect, test } from 'vitest';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { foreignFunctions, foreignOperators } from '../../../../shared/language/diagnostics/foreign-words.ts';
import { aggregates, functions } from '../../../../shared/language/functions/index.ts';
import { findOperator } from '../../../../shared/language/operators/table.ts';

const events = `event Login:
    user: str
    ip: str
    amount: float
event Order:
    id: str
    total: float
event Shipment:
    order_id: str
`;

/** What is reported, with the hints. */
function told(program: string): readonly string[] {
  return check(new SourceText('test.vpl', program)).diagnostics.map(({ code, message, hint }) => `${code} ${message} | ${hint ?? ''}`);
}

function toldOf(streams: string): string {
  return told(`${events}${streams}\n`).join('\n');
}

describe('words of other languages', () => {
  test('are none of this one', () => {
    for (const word of foreignOperators.flatMap(({ words }) => words)) expect(findOperator(word), word).toBeUndefined();
    for (const word of foreignFunctions.flatMap(({ words }) => words))
      expect(functions.get(word) ?? aggregates.get(word), word).toBeUndefined();
  });

  test('stand in lower case, and each once', () => {
    for (const table of [foreignOperators, foreignFunctions]) {
      const words = table.flatMap((row) => row.words);
      expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
      expect(words.filter((word) => word !== word.toLowerCase())).toEqual([]);
    }
  });

  test.each(['group_by', 'groupBy', 'GroupBy', 'keyBy', 'groupby'])('.%s is partition_by', (name) => {
    expect(toldOf(`stream S = Login.${name}(user).emit(user)`)).toMatch(/^E091 .*\| write `\.partition_by\(key\)`$/);
  });

  test.each([
    ['sort(user)', '.order_by'],
    ['count()', '.aggregate'],
    ['join(Order)', 'join(A, B)'],
    ['flatMap(x => x)', '.process'],
    ['followedBy(Order)', 'A as a -> B'],
    ['sliding(5m)', 'sliding: 1m'],
  ])('.%s has a hint', (operator, hint) => {
    expect(toldOf(`stream S = Login.${operator}.emit(a: 1)`)).toContain(hint);
  });

  test.each([
    ['length(user)', 'len(x)'],
    ['str(amount)', 'to_string(x)'],
    ['int(amount)', 'to_int(x)'],
    ['float(user)', 'to_float(x)'],
    ['string(amount)', 'to_string(x)'],
    ['toUpperCase(user)', 'upper(x)'],
    ['user.startsWith("a")', 'starts_with'],
    ['isNull(user)', 'is null'],
    ['IIF(amount > 3, 1, 2)', 'if a then b else c'],
    ['DATEDIFF(amount, 1)', 'duration_between'],
    ['amount.between(1, 2)', 'x >= a and x <= b'],
    ['amount in 1..5', 'a range stands in parentheses: `x in (1..5)`'],
  ])('%s has a hint', (call, hint) => {
    expect(toldOf(`stream S = Login.emit(a: ${call})`)).toContain(hint);
  });

  test.each([
    ['cnt()', 'count()'],
    ['dcount(user)', 'count_distinct(x)'],
    ['mean(amount)', 'avg(x)'],
    ['countif(amount > 3)', 'count() where ok'],
    ['count', 'write count(..)'],
  ])('the aggregate %s has a hint', (call, hint) => {
    expect(toldOf(`stream S = Login.window(5m).aggregate(n: ${call}).emit(n)`)).toContain(hint);
  });
});

test.each(['if n > 1', '  if n > 1 and n < 3'])('a block that %s opens says so', (line) => {
  expect(toldOf(`fn f(n: int):\n  ${line}\n        return 1`)).toContain('a block opens with `:` at the end of the line');
});

describe('durations', () => {
  test.each(['5 m', '5 minutes', '5 min', '5min', '5minutes', '"5m"', '"5 minutes"'])('.window(%s) says 5m', (size) => {
    expect(toldOf(`stream S = Login.window(${size}).aggregate(n: count()).emit(n)`)).toMatch(/^E0\d\d [^\n]*`5m`$/);
  });

  test.each(['within 5 minutes', '.within("5m")', '.within(5 min)'])('%s of a pattern too', (within) => {
    expect(toldOf(`stream S = Login as a -> Order as b ${within}`)).toMatch(/^E0\d\d [^\n]*`5m`$/);
  });
});

describe('signs', () => {
  test.each([
    ['user == "a" & ip == "b"', 'and'],
    ['user == "a" | ip == "b"', 'or'],
    ['(user == "a") & (ip == "b")', 'and'],
    ['(user == "a") | (ip == "b")', 'or'],
  ])('%s says %s', (condition, word) => {
    expect(toldOf(`stream S = Login.where(${condition}).emit()`)).toContain(`write \`${word}\``);
  });

  test.each(['amount > "5"', '"5" < amount', 'amount == "5"'])('%s says to leave the quotes out', (condition) => {
    expect(toldOf(`stream S = Login.where(${condition}).emit()`)).toContain('leave the quotes out: `5`');
  });
});

describe('names', () => {
  test('an unknown alias lists those there are', () => {
    expect(toldOf('stream S = Login as a -> Order as b .within(5m).emit(x: zz.user)')).toContain('the aliases here: `a`, `b`');
  });

  test('an unknown field of a stream lists those that it has', () => {
    expect(toldOf('stream A = Login.emit(who: user)\nstream B = A.where(amount > 3).emit()')).toContain('it has `who`');
    expect(toldOf('stream A = Login.emit(who: user)\nstream B = A as a -> A as b where b.amount > 3 .within(5m).emit(a: a.who)')).toContain(
      'it has `who`',
    );
  });

  test('a field of the events behind an aggregate says how to keep it', () => {
    expect(toldOf('stream S = Login.window(5m).aggregate(n: count()).emit(user, n)')).toContain('.partition_by(user)');
  });

  test('a key that one side of a pattern lacks names the condition, and no field to declare', () => {
    const hint = toldOf('stream S = Order as o -> NOT Shipment within 2h .partition_by(id)\n    .emit(id: o.id)');
    expect(hint).toContain('where order_id == o.id');
    expect(hint).not.toContain('declare');
  });

  test('`_` names no step, however often it stands', () => {
    expect(toldOf('stream S = Login as _ -> Order as _ -> Shipment as s .within(5m).emit(s: s.order_id)')).toBe('');
  });

  test('a within behind a trailing NOT is named in the warning of a pattern without bound', () => {
    expect(toldOf('stream S = Login as a -> Order as b\n    -> NOT Shipment\n    within 10m\n    .emit(a: a.user, b: b.id)')).toMatch(
      /^W003 .*`within 10m` is that of the `NOT` before it \| for the whole pattern write `\.within\(10m\)`$/,
    );
  });
});

describe('what follows from an error', () => {
  test.each([
    ['an event without its colon', 'event Login\n    user: str\nstream S = Login.where(user == "a").emit(user)'],
    ['mixed indentation', 'event Login:\n    user: str\n\tip: str\nstream S = Login.where(user == "a" and ip == "b").emit(user)'],
    ['a line indented too far', 'event Login:\n    user: str\n      ip: str\nstream S = Login.where(ip == "b").emit(user)'],
    ['an open brace', 'event Login { user: str\nstream S = Login.where(user == "a").emit(user)'],
    ['a stream that cannot be read', 'event L: x: int\nstream A = L.where(x >).emit(x)\nstream B = A.where(x > 3).emit(x)'],
    ['a function that cannot be read', 'event L: x: int\nfn risky(x)\n    return x\nstream B = L.emit(r: risky(x))'],
    ['a wrong unit', 'event L: x: int\nstream B = L.window(5minuten).aggregate(n: count()).emit(n)'],
    ['an unknown operator', 'event L: x: int\nstream B = L.group_by(x).emit(x, n)'],
    ['an operator in a wrong place', 'event L: x: int\nstream B = L.last().emit(x)'],
    [
      'a second aggregate',
      'event L: x: int\nstream B = L.window(5m).aggregate(n: count()).aggregate(m: sum(n)).emit(m)\nstream C = B.where(m > 3).emit(m)',
    ],
  ])('%s is one error', (_, program) => {
    expect(told(`${program}\n`)).toHaveLength(1);
  });

  test('an error of its own is shown', () => {
    const codes = told(
      'event Login\n    user: str\nevent Order: id: str\nstream S = Login.where(user == "a").emit(user)\nstream T = Order.emit(x: nothing)\n',
    );
    expect(codes.map((one) => one.slice(0, 4))).toEqual(['E000', 'E034']);
  });
});

describe('rows that come of a cause', () => {
  const activity = 'stream Activity = merge(Login, Order.where(total > 3))\n';

  test.each([
    ['an absence', 'Order as o -> NOT Activity within 5m\n    .emit(id: o.id)', 'ends the run at once'],
    [
      'an absence behind an optional step',
      'Order as o -> Shipment? -> NOT Activity within 5m\n    .emit(id: o.id)',
      'ends the run at once',
    ],
    ['a step', 'Order as o -> Activity as a .within(5m).emit(id: o.id, a: a.event_type)', 'is the first that this step sees'],
    ['a branch', 'AND(Order as o, Activity as a) .within(5m).emit(id: o.id, a: a.event_type)', 'is the first'],
    ['a cancel', 'Order as o -> Shipment .within(5m).not(Activity).emit(id: o.id)', 'ends the run at once'],
  ])('%s is warned about', (_, source, what) => {
    expect(toldOf(`${activity}stream S = ${source}`)).toMatch(new RegExp(`^W050 .*${what}`, 'm'));
  });

  test.each([
    [
      'the stream itself',
      `${activity}stream S = Activity where event_type == "Order" as o -> NOT Activity within 5m\n    .emit(t: o.event_type)`,
    ],
    [
      'a step between',
      `${activity}stream S = Order as o -> Shipment as s -> NOT Activity within 5m\n    .within(10m).emit(id: o.id, s: s.order_id)`,
    ],
    [
      'a window between',
      'stream PerMinute = Order.window(1m).aggregate(n: count())\nstream S = Order as o -> PerMinute as p .within(5m).emit(id: o.id, n: p.n)',
    ],
    ['another branch', `${activity}stream S = OR(Order, Activity) -> Shipment as s .within(5m).emit(s: s.order_id)`],
  ])('%s is not', (_, source) => {
    expect(toldOf(source)).not.toContain('W050');
  });
});

describe('a count that is never zero', () => {
  test.each(['.where(n == 0)', '.having(n < 1)', '.where(0 == n)', '.where(1 > n and user != "a")', '.where(n <= 0)'])(
    '%s is warned about',
    (filter) => {
      const streams = `stream S = Login.partition_by(user).window(5m).aggregate(n: count())${filter}.emit(user)`;
      expect(toldOf(streams)).toMatch(/^W051 .*NOT Login where \.\. within 5m/);
    },
  );

  test.each(['n: count() where amount > 3', 'n: count(ip)', 'n: sum(amount)'])('%s may be zero', (aggregate) => {
    expect(toldOf(`stream S = Login.window(5m).aggregate(${aggregate}).where(n == 0).emit(n)`)).toBe('');
  });
});

test('a condition of bits is told what joins conditions', () => {
  expect(toldOf('stream S = Unknown.where(a & b).emit(a: a)')).toContain('write `and`');
  expect(toldOf('stream S = Unknown.where((a | b)).emit(a: a)')).toContain('write `or`');
});

import { describe, expect, test } from 'vitest';
import { aggregateScope } from '../../../../shared/language/checker/aggregate-scope.ts';
import type { CheckContext } from '../../../../shared/language/checker/context.ts';
import type { AggregateScope } from '../../../../shared/language/checker/scope.ts';
import { eventShape, openShape, rowScope } from '../../../../shared/language/checker/scopes.ts';
import { brief, contextFor, lowerText } from './checking.ts';

const context = contextFor(`
event Trade:
    symbol: str
    price: float
    qty: int
const SCALE = 100
fn half(n: float) -> float: n / 2
`);
const trade = context.symbols.event('Trade');
if (!trade) throw new Error('Trade is declared');
const keys = trade.type.fields.slice(0, 1);

function aggregated(
  text: string,
  { rows = rowScope(eventShape(trade as NonNullable<typeof trade>), ['t']), windowed = true } = {},
): string {
  const result = { keys, attributes: ['window_start', 'window_end'], windowed } as const;
  let collected: AggregateScope | undefined;
  const scopeIn = (view: CheckContext): AggregateScope => (collected = aggregateScope(rows, result, view));
  const { text: shown, diagnostics } = lowerText(text, scopeIn, context);
  if (diagnostics !== '') return diagnostics;
  const calls = (collected as AggregateScope | undefined)?.calls.map((call) => {
    const args = [...call.arguments.map(brief), ...call.constants.map(String)].join(', ');
    return `${call.function}(${args})${call.filter ? ` where ${brief(call.filter)}` : ''}`;
  });
  return [shown, ...(calls ?? [])].join(' | ');
}

describe('the items of an aggregate', () => {
  test.each([
    ['sum(price * qty)', '#0: float | sum((.price * .qty))'],
    ['count()', '#0: int | count()'],
    ['max(price) - min(price)', '(#0 - #1): float | max(.price) | min(.price)'],
    ['sum(price) / sum(price)', '(#0 / #0): float | sum(.price)'],
    ['count(distinct(symbol))', '#0: int | count_distinct(.symbol)'],
    ['distinct_count(symbol)', '#0: int | count_distinct(.symbol)'],
    ['(count() where qty > 1)', '#0: int | count() where (.qty > 1)'],
    ['percentile(price, 0.9)', '#0: float | percentile(.price, 0.9)'],
    ['top(price, 3)', '#0: [float] | top(.price, 3)'],
    ['round(avg(price), 2)', 'round(#0, 2): float | avg(.price)'],
    ['max(sum(qty), 5)', 'max(#0, 5): int | sum(.qty)'],
    ['half(sum(price))', 'fn0(#0): float | sum(.price)'],
    ['price.sum()', '#0: float | sum(.price)'],
    ['symbol', '.symbol: str'],
    ['t.symbol', '.symbol: str'],
    ['window_end - window_start', '(@window_end - @window_start): duration'],
    ['sum(qty) * SCALE', '(#0 * 100): int | sum(.qty)'],
    ['first(t.price)', '#0: float | first(.price)'],
    ['rate()', '#0: float | rate()'],
  ])('%s', (text, expected) => {
    expect(aggregated(text)).toBe(expected);
  });

  test.each([
    [
      'price',
      '1:1 E073 `price` is a field of each event, not of the aggregate (write last(price), or make it a key with .partition_by(price))',
    ],
    ['upper(prices)', '1:7 E034 unknown name `prices`: the result of `.aggregate` has no such field (it has `symbol`)'],
    ['sums(price)', '1:1 E070 unknown aggregate `sums` (did you mean `sum`?)'],
    ['sum()', '1:1 E071 `sum` takes 1 argument, not 0'],
    ['sum(price, qty)', '1:1 E071 `sum` takes 1 argument, not 2'],
    ['sum(e: price)', '1:5 E071 arguments of aggregates have no names'],
    ['sum(symbol)', '1:1 E072 `sum` takes float or duration as `e`, not str'],
    ['percentile(price, qty)', '1:19 E072 this argument of `percentile` must be known before the program runs'],
    ['(abs(count()) where qty > 1)', '1:2 E073 only an aggregate takes a `where`'],
    ['(count() where qty)', '1:16 E060 a condition is a bool, not int'],
    [
      'sum(count())',
      '1:5 E062 `sum` takes [any] as `items`, not int (aggregates stand in `.aggregate(n: ..)`, or read a closure: `sum(b.f)`)',
    ],
  ])('%s is refused', (text, expected) => {
    expect(aggregated(text)).toBe(expected);
  });

  test('a running aggregate has no rate', () => {
    expect(aggregated('rate()', { windowed: false })).toBe('1:1 E073 `rate` needs a window (put .window(..) before .aggregate(..))');
  });

  test('a field of an undeclared event is no aggregate either', () => {
    expect(aggregated('price', { rows: rowScope(openShape('Tick')) })).toContain('E073 `price` is a field of each event');
  });
});

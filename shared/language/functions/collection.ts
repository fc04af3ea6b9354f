import { makeEntries, makeItems, makeNewItems, makePairs, makeText } from '../../events/making.ts';
import { keyOf } from '../../events/text.ts';
import { isArray, isMap, kindOf, type Value, type ValueArray, type ValueMap } from '../../events/value.ts';
import { differingKinds, isUnknown, membershipProblem, type TypeProblem } from '../plan/type-relations.ts';
import { ANY, arrayOf, BOOL, FLOAT, INT, isAssignable, isNumeric, mapOf, printType, STR, type Type } from '../plan/types.ts';
import { index, isIn, range as rangeOf } from './access.ts';
import { variance as varianceAggregate } from './aggregates/spread.ts';
import { avg as avgAggregate, sum as sumAggregate } from './aggregates/sum.ts';
import { codePointCount } from './code-points.ts';
import {
  always,
  any,
  commonType,
  defineFunction,
  int,
  itemLambda,
  itemOf,
  itemTest,
  list,
  listOrMap,
  map as mapOfAny,
  oneOf,
  optional,
  sameAs,
  sized,
  variadic,
} from './define.ts';
import { type AggregateDescriptor, EvaluationError, type FunctionDescriptor } from './descriptor.ts';
import { orderOf, requireOrdered, unordered } from './extremes.ts';
import { holds } from './truth.ts';

const len = defineFunction({
  name: 'len',
  category: 'collection',
  parameters: [sized('x')],
  result: always(INT),
  summary: 'The number of characters (code points) of a string, items of an array, or keys of a map.',
  examples: [
    { code: 'len("añ😀")', result: '3' },
    { code: 'len([1, 2])', result: '2' },
    { code: 'len({a: 1})', result: '1' },
  ],
  evaluate: (x) => (typeof x === 'string' ? codePointCount(x) : isArray(x) ? x.length : x.size),
});

const contains = defineFunction({
  name: 'contains',
  category: 'collection',
  parameters: [sized('x'), any('part')],
  result: always(BOOL),
  summary: 'Whether a string has the part in it, an array the item, or a map the key, like `part in x`.',
  examples: [
    { code: 'contains("sensor", "so")', result: 'true' },
    { code: 'contains([1, 2], 3)', result: 'false' },
    { code: 'contains({a: 1}, "a")', result: 'true' },
  ],
  checkTypes: ([x = ANY, part = ANY]) => membershipProblem(part, x),
  evaluate: (x, part) => isIn(part, x),
});

const first = defineFunction({
  name: 'first',
  category: 'collection',
  parameters: [list('items')],
  result: (args) => itemOf(args[0]),
  summary: 'The first item; null of an empty array.',
  examples: [{ code: 'first([3, 1])', result: '3' }],
  evaluate: (items) => items[0] ?? null,
});

const last = defineFunction({
  name: 'last',
  category: 'collection',
  parameters: [list('items')],
  result: (args) => itemOf(args[0]),
  summary: 'The last item; null of an empty array.',
  examples: [
    { code: 'last([3, 1])', result: '1' },
    { code: 'last([])', result: 'null' },
  ],
  evaluate: (items) => items.at(-1) ?? null,
});

const push = defineFunction({
  name: 'push',
  category: 'collection',
  parameters: [list('items'), any('item')],
  result: (args) => arrayOf(commonType([itemOf(args[0]), args[1] ?? ANY])),
  summary: 'The array with one more item at its end.',
  examples: [{ code: 'push([1], null)', result: '[1, null]' }],
  nulls: 'handle',
  evaluate: (items, item) => {
    if (items === null) return null;
    makeWith(items, item, items.length + 1);
    return [...items, item];
  },
});

const pop = defineFunction({
  name: 'pop',
  category: 'collection',
  parameters: [list('items')],
  result: sameAs(0),
  summary: 'The array without its last item.',
  examples: [{ code: 'pop([1, 2])', result: '[1]' }],
  evaluate: (items) => {
    makeItems(items.length);
    return items.slice(0, -1);
  },
});

const reverse = defineFunction({
  name: 'reverse',
  category: 'collection',
  parameters: [list('items')],
  result: sameAs(0),
  summary: 'The items in opposite order.',
  examples: [{ code: 'reverse([1, 2, 3])', result: '[3, 2, 1]' }],
  evaluate: (items) => {
    makeItems(items.length);
    return items.toReversed();
  },
});

const sort = defineFunction({
  name: 'sort',
  category: 'collection',
  parameters: [list('items')],
  result: sameAs(0),
  summary: 'The items in ascending order, nulls last; items of different kinds are a failure.',
  examples: [
    { code: 'sort([10, 9, null, 1.5])', result: '[1.5, 9, 10, null]' },
    { code: 'sort(["b", "B", "a"])', result: '["B", "a", "b"]' },
  ],
  checkTypes: ([items]) => unordered('sort', itemOf(items)),
  evaluate: (items) => {
    makeNewItems(items.length);
    const present = items.filter((item) => item !== null);
    for (const item of present) requireOrdered('sort', item);
    const nulls = new Array<Value>(items.length - present.length).fill(null);
    return [...present.sort((a, b) => orderOf('sort', a, b)), ...nulls];
  },
});

const unique = defineFunction({
  name: 'unique',
  category: 'collection',
  parameters: [list('items')],
  result: sameAs(0),
  summary: 'Each item once, where it first stands.',
  examples: [{ code: 'unique([2, "2", 1, 2.0])', result: '[2, "2", 1]' }],
  evaluate: (items) => {
    makeNewItems(items.length);
    const byKey = new Map<string, Value>();
    for (const item of items) {
      const key = keyOf([item]);
      if (!byKey.has(key)) byKey.set(key, item);
    }
    return [...byKey.values()];
  },
});

const keys = defineFunction({
  name: 'keys',
  category: 'collection',
  parameters: [mapOfAny('map')],
  result: always(arrayOf(STR)),
  summary: 'The keys of a map, in its order.',
  examples: [{ code: 'keys({b: 1, a: 2})', result: '["b", "a"]' }],
  evaluate: (map) => {
    makeItems(map.size);
    return [...map.keys()];
  },
});

const values = defineFunction({
  name: 'values',
  category: 'collection',
  parameters: [mapOfAny('map')],
  result: (args) => arrayOf(elementOf(args[0])),
  summary: 'The values of a map, in its order.',
  examples: [{ code: 'values({b: 1, a: 2})', result: '[1, 2]' }],
  evaluate: (map) => {
    makeNewItems(map.size);
    return [...map.values()];
  },
});

const get = defineFunction({
  name: 'get',
  category: 'collection',
  parameters: [listOrMap('container'), oneOf<string | number>('key', STR, INT), optional(any('default'))],
  result: (args) => (args.length > 2 ? commonType([elementOf(args[0]), args[2] ?? ANY]) : elementOf(args[0])),
  summary: 'The item at an index (negative from the end) or the value of a key; the default, or null, where there is none.',
  examples: [
    { code: 'get([1, 2], -1)', result: '2' },
    { code: 'get({a: 1}, "b", 0)', result: '0' },
  ],
  nulls: 'handle',
  checkTypes: indexProblem,
  evaluate: (container, key, fallback = null) => index(container, key) ?? fallback,
});

const set = defineFunction({
  name: 'set',
  category: 'collection',
  parameters: [listOrMap('container'), oneOf<string | number>('key', STR, INT), any('value')],
  result: (args) => withElement(args[0], args[2] ?? ANY),
  summary: 'The array with another item at an index, null where it has none there; or the map with a key set.',
  examples: [
    { code: 'set({a: 1}, "b", 2)', result: '{a: 1, b: 2}' },
    { code: 'set([1, 2], -1, 5)', result: '[1, 5]' },
  ],
  nulls: 'handle',
  checkTypes: indexProblem,
  evaluate: (container, key, value) => {
    if (container === null || key === null) return null;
    if (isMap(container)) return withEntry(container, key, value);
    return withItem(container, key, value);
  },
});

/** A copy that another item joins: numbers move into places of their own when something else comes among them. */
function makeWith(items: ValueArray, other: Value, length: number): void {
  if (typeof items[0] === 'number' && typeof other !== 'number') makeNewItems(length);
  else makeItems(length);
}

function withEntry(map: ValueMap, key: string | number, value: Value): ValueMap {
  if (typeof key !== 'string') throw new EvaluationError(`set: expected str as key of a map, found ${kindOf(key)}`);
  makeEntries(map.has(key) ? map.size : map.size + 1);
  return new Map(map).set(key, value);
}

/** Null when there is no such item. */
function withItem(items: ValueArray, key: string | number, value: Value): ValueArray | null {
  if (typeof key !== 'number') throw new EvaluationError(`set: expected int as index of an array, found ${kindOf(key)}`);
  const at = key < 0 ? key + items.length : key;
  if (at < 0 || at >= items.length) return null;
  makeWith(items, value, items.length);
  const changed = items.slice();
  changed[at] = value;
  return changed;
}

const range = defineFunction({
  name: 'range',
  category: 'collection',
  parameters: [int('start_or_end'), optional(int('end'))],
  result: always(arrayOf(INT)),
  summary: '`range(n)` is 0 up to, without, n; `range(a, b)` is `a..b`.',
  examples: [
    { code: 'range(3)', result: '[0, 1, 2]' },
    { code: 'range(2, 5)', result: '[2, 3, 4]' },
  ],
  evaluate: (start, end) => (end === undefined ? rangeOf(0, start, false) : rangeOf(start, end, false)),
});

/** What an aggregate gives of the items of an array. */
function ofItems(aggregate: AggregateDescriptor, summary: string, examples: FunctionDescriptor['examples']): FunctionDescriptor {
  return defineFunction({
    name: aggregate.name,
    category: 'collection',
    parameters: [list('items')],
    result: (args) => aggregate.result([itemOf(args[0])]),
    summary,
    examples,
    checkTypes: ([items]) => itemProblem(aggregate.name, itemOf(items), aggregate.parameters[0]?.types ?? []),
    ...(aggregate.ofDurations && { ofDurations: ofItems(aggregate.ofDurations, summary, examples) }),
    evaluate: (items) => {
      const accumulator = aggregate.create([]);
      items.forEach((item, at) => {
        accumulator.add([item], 0, at);
      });
      return accumulator.result({ lengthMs: 0 });
    },
  });
}

const sum = ofItems(
  sumAggregate,
  'The sum of numbers or durations; nulls are skipped; 0 of none, `0s` where the items are declared durations.',
  [
    { code: 'sum([1, 2, null])', result: '3' },
    { code: 'sum([30s, 1m])', result: '1m30s' },
  ],
);

const avg = ofItems(avgAggregate, 'The mean of numbers or durations; nulls are skipped; null of none.', [
  { code: 'avg([1, 2])', result: '1.5' },
  { code: 'avg([])', result: 'null' },
]);

const variance = ofItems(varianceAggregate, 'The sample variance of numbers; nulls are skipped; null of fewer than two.', [
  { code: 'variance([1, 2, 3])', result: '1' },
]);

const filter = defineFunction({
  name: 'filter',
  category: 'collection',
  parameters: [list('items'), itemTest('test')],
  result: sameAs(0),
  summary: 'The items for which the function gives true; what it gives is a bool, or null, which counts as false.',
  examples: [{ code: 'filter([1, 5, 3], x => x > 2)', result: '[5, 3]' }],
  evaluate: (items, test) => {
    makeItems(items.length);
    return items.filter((item, at) => holds(test(item, at)));
  },
});

const map = defineFunction({
  name: 'map',
  category: 'collection',
  parameters: [list('items'), itemLambda('change')],
  result: (args) => arrayOf(args[1] ?? ANY),
  summary: 'What the function gives of each item.',
  examples: [
    { code: 'map([1, 2], x => x * 10)', result: '[10, 20]' },
    { code: 'map(["a", "b"], (x, i) => i)', result: '[0, 1]' },
  ],
  evaluate: (items, change) => {
    makeNewItems(items.length);
    return items.map((item, at) => change(item, at));
  },
});

const anyOf = defineFunction({
  name: 'any',
  category: 'collection',
  parameters: [list('items'), optional(itemTest('test'))],
  result: always(BOOL),
  summary: 'Whether the function gives true of some item; without a function, whether some item is true.',
  examples: [
    { code: 'any([1, 5], x => x > 2)', result: 'true' },
    { code: 'any([false, null])', result: 'false' },
  ],
  checkTypes: (args) => boolProblem('any', args),
  evaluate: (items, test) => items.some((item, at) => holds(test ? test(item, at) : item)),
});

const allOf = defineFunction({
  name: 'all',
  category: 'collection',
  parameters: [list('items'), optional(itemTest('test'))],
  result: always(BOOL),
  summary: 'Whether the function gives true of every item; without a function, whether every item is true.',
  examples: [
    { code: 'all([1, 5], x => x > 2)', result: 'false' },
    { code: 'all([])', result: 'true' },
  ],
  checkTypes: (args) => boolProblem('all', args),
  evaluate: (items, test) => items.every((item, at) => holds(test ? test(item, at) : item)),
});

const flatten = defineFunction({
  name: 'flatten',
  category: 'collection',
  parameters: [list('items')],
  result: (args) => {
    const item = itemOf(args[0]);
    return arrayOf(item.kind === 'array' ? item.item : ANY);
  },
  summary: 'The items, with those that are arrays replaced by their items (one level).',
  examples: [{ code: 'flatten([[1, 2], 3, [[4]]])', result: '[1, 2, 3, [4]]' }],
  evaluate: (items) => {
    makeNewItems(items.reduce<number>((total, item) => total + (isArray(item) ? item.length : 1), 0));
    return items.flat();
  },
});

const concat = defineFunction({
  name: 'concat',
  category: 'collection',
  parameters: [oneOf<string | ValueArray>('x', STR, arrayOf(ANY)), variadic(oneOf<string | ValueArray>('others', STR, arrayOf(ANY)))],
  result: commonType,
  summary: 'Strings, or arrays, put one behind the other.',
  examples: [
    { code: 'concat("a", "b", "c")', result: '"abc"' },
    { code: 'concat([1], [2, 3])', result: '[1, 2, 3]' },
  ],
  checkTypes: (args) => {
    const mixed = differingKinds(args);
    return mixed && { problem: `\`concat\` cannot mix ${mixed.map(printType).join(' and ')}` };
  },
  evaluate: (...parts) => {
    if (parts.every((part) => typeof part === 'string')) return concatTexts(parts);
    if (parts.every((part) => isArray(part))) return concatArrays(parts);
    throw new EvaluationError('concat: cannot mix str and array');
  },
});

function concatTexts(texts: readonly string[]): string {
  makeText(texts.reduce((length, text) => length + text.length, 0));
  return texts.join('');
}

function concatArrays(arrays: readonly ValueArray[]): ValueArray {
  const length = arrays.reduce((sum, items) => sum + items.length, 0);
  if (arrays.some(([item]) => typeof item !== typeof arrays[0]?.[0])) makeNewItems(length);
  else makeItems(length);
  return ([] as Value[]).concat(...arrays);
}

const zip = defineFunction({
  name: 'zip',
  category: 'collection',
  parameters: [list('a'), list('b')],
  result: (args) => arrayOf(arrayOf(commonType([itemOf(args[0]), itemOf(args[1])]))),
  summary: 'Pairs of the items at the same index, as many as the shorter array has.',
  examples: [{ code: 'zip([1, 2, 3], ["a", "b"])', result: '[[1, "a"], [2, "b"]]' }],
  evaluate: (a, b) => {
    const pairs = Math.min(a.length, b.length);
    makeItems(pairs);
    makePairs(pairs);
    return a.slice(0, pairs).map((item, at) => [item, b[at] ?? null]);
  },
});

/** An array is read by an int, a map by a str. */
function indexProblem([container = ANY, key = ANY]: readonly Type[]): TypeProblem | undefined {
  if (isUnknown(container) || isUnknown(key) || (container.kind === 'array') === isNumeric(key)) return undefined;
  return { problem: `${printType(container)} cannot be indexed by ${printType(key)}` };
}

/** Without a function the items themselves are what is looked at. */
function boolProblem(name: string, [items, ...tests]: readonly Type[]): TypeProblem | undefined {
  return tests.length > 0 ? undefined : itemProblem(name, itemOf(items), [BOOL]);
}

function itemProblem(name: string, item: Type, accepted: readonly Type[]): TypeProblem | undefined {
  if (accepted.some((type) => isAssignable(item, type))) return undefined;
  const arrays = [...new Set(accepted.map((type) => printType(arrayOf(isNumeric(type) ? FLOAT : type))))];
  return { problem: `\`${name}\` takes ${arrays.join(' or ')} as \`items\`, not ${printType(arrayOf(item))}` };
}

/** What an index or a key of the container gives. */
function elementOf(type: Type | undefined): Type {
  if (type?.kind === 'map') return type.value;
  return type?.kind === 'record' ? commonType(type.fields.map((field) => field.type)) : itemOf(type);
}

function withElement(type: Type | undefined, value: Type): Type {
  if (type?.kind === 'array') return arrayOf(commonType([type.item, value]));
  return type?.kind === 'map' ? mapOf(commonType([type.value, value])) : mapOrAny(type);
}

function mapOrAny(type: Type | undefined): Type {
  return type?.kind === 'record' ? mapOf(ANY) : ANY;
}

export const collectionFunctions: readonly FunctionDescriptor[] = [
  len,
  contains,
  first,
  last,
  push,
  pop,
  reverse,
  sort,
  unique,
  keys,
  values,
  get,
  set,
  range,
  sum,
  avg,
  variance,
  filter,
  map,
  anyOf,
  allOf,
  flatten,
  concat,
  zip,
];

import { toText } from '../../events/text.ts';
import { Duration, isSafeInteger, kindOf, Timestamp, type Value, type ValueKind } from '../../events/value.ts';
import { BOOL, DURATION, FLOAT, INT, STR, TIMESTAMP } from '../plan/types.ts';
import { always, any, commonType, defineFunction, NUMBER, oneOf, variadic } from './define.ts';
import type { FunctionDescriptor } from './descriptor.ts';
import { finite } from './numbers.ts';

const convertible = oneOf<string | number | boolean | Timestamp | Duration>('x', ...NUMBER, STR, BOOL, TIMESTAMP, DURATION);

/** Decimal numbers as text; no other base, no words such as `Infinity`. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

function toNumber(x: string | number | boolean | Timestamp | Duration): number | null {
  if (x instanceof Timestamp || x instanceof Duration) return finite(x.ms);
  if (typeof x !== 'string') return Number(x);
  const text = x.trim();
  return DECIMAL.test(text) ? finite(Number(text)) : null;
}

const toInt = defineFunction({
  name: 'to_int',
  category: 'conversion',
  parameters: [convertible],
  result: always(INT),
  summary:
    'A whole number from a number or its text (the fraction is cut off), 1 or 0 from a bool, milliseconds from a time or a duration; null where there is none within +-(2^53-1).',
  examples: [
    { code: 'to_int("42")', result: '42' },
    { code: 'to_int(-7.9)', result: '-7' },
    { code: 'to_int("abc")', result: 'null' },
    { code: 'to_int(5s)', result: '5000' },
  ],
  evaluate: (x) => {
    const whole = Math.trunc(toNumber(x) ?? Number.NaN);
    return isSafeInteger(whole) ? whole + 0 : null;
  },
});

const toFloat = defineFunction({
  name: 'to_float',
  category: 'conversion',
  parameters: [convertible],
  result: always(FLOAT),
  summary: 'A number from a number or its text, 1 or 0 from a bool, milliseconds from a time or a duration; null of other text.',
  examples: [
    { code: 'to_float(" 2.5e-3 ")', result: '0.0025' },
    { code: 'to_float("0x10")', result: 'null' },
  ],
  evaluate: toNumber,
});

const toBool = defineFunction({
  name: 'to_bool',
  category: 'conversion',
  parameters: [oneOf<string | number | boolean>('x', BOOL, ...NUMBER, STR)],
  result: always(BOOL),
  summary: 'A bool from a bool, 0 or 1, "true" or "false"; null of any other number or text.',
  examples: [
    { code: 'to_bool("true")', result: 'true' },
    { code: 'to_bool(0)', result: 'false' },
    { code: 'to_bool("yes")', result: 'null' },
  ],
  evaluate: (x) => {
    if (x === true || x === 1 || x === 'true') return true;
    return x === false || x === 0 || x === 'false' ? false : null;
  },
});

const toStringFunction = defineFunction({
  name: 'to_string',
  category: 'conversion',
  parameters: [any('x')],
  result: always(STR),
  summary: 'The value as text: strings as they are, `null`, times in ISO 8601, durations as `1h30m`.',
  examples: [
    { code: 'to_string("a")', result: '"a"' },
    { code: 'to_string(90m)', result: '"1h30m"' },
    { code: 'to_string([1, "a", null])', result: '"[1, \\"a\\", null]"' },
    { code: 'to_string(null)', result: '"null"' },
  ],
  nulls: 'handle',
  evaluate: toText,
});

const typeOf = defineFunction({
  name: 'type_of',
  category: 'conversion',
  parameters: [any('x')],
  result: always(STR),
  summary: 'The kind of a value: int, float, str, bool, array, map, timestamp, duration or null. A number without a fraction is an int.',
  examples: [
    { code: 'type_of(7.0)', result: '"int"' },
    { code: 'type_of({a: 1})', result: '"map"' },
  ],
  nulls: 'handle',
  evaluate: kindOf,
});

const isNull = defineFunction({
  name: 'is_null',
  category: 'conversion',
  parameters: [any('x')],
  result: always(BOOL),
  summary: 'Whether the value is null or missing.',
  examples: [
    { code: 'is_null(null)', result: 'true' },
    { code: 'is_null(0)', result: 'false' },
  ],
  nulls: 'handle',
  evaluate: (x) => x === null,
});

function kindTest(name: string, kind: ValueKind, examples: FunctionDescriptor['examples']): FunctionDescriptor {
  return defineFunction({
    name,
    category: 'conversion',
    parameters: [any('x')],
    result: always(BOOL),
    summary: `Whether \`type_of(x)\` is "${kind}"; false of null.`,
    examples,
    nulls: 'handle',
    evaluate: (x: Value) => kindOf(x) === kind,
  });
}

const kindTests = [
  kindTest('is_int', 'int', [
    { code: 'is_int(7.0)', result: 'true' },
    { code: 'is_int(null)', result: 'false' },
  ]),
  kindTest('is_float', 'float', [{ code: 'is_float(7.5)', result: 'true' }]),
  kindTest('is_string', 'str', [{ code: 'is_string("7")', result: 'true' }]),
  kindTest('is_bool', 'bool', [{ code: 'is_bool(0)', result: 'false' }]),
  kindTest('is_array', 'array', [{ code: 'is_array([])', result: 'true' }]),
  kindTest('is_map', 'map', [{ code: 'is_map({})', result: 'true' }]),
];

const coalesce = defineFunction({
  name: 'coalesce',
  aliases: ['if_null'],
  category: 'conversion',
  parameters: [any('x'), variadic(any('others'))],
  result: commonType,
  summary: 'The first argument that is not null, like `??`.',
  examples: [
    { code: 'coalesce(null, 0, 1)', result: '0' },
    { code: 'coalesce(null, null)', result: 'null' },
  ],
  nulls: 'handle',
  evaluate: (...values) => values.find((value) => value !== null) ?? null,
});

export const conversionFunctions: readonly FunctionDescriptor[] = [
  toInt,
  toFloat,
  toBool,
  toStringFunction,
  typeOf,
  isNull,
  ...kindTests,
  coalesce,
];

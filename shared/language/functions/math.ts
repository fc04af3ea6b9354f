import { Duration, isArray, type Value } from '../../events/value.ts';
import { ANY, arrayOf, DURATION, FLOAT, INT, STR, TIMESTAMP, type Type } from '../plan/types.ts';
import { duration } from './arithmetic.ts';
import { always, commonType, defineFunction, int, itemOf, NUMBER, number, oneOf, optional, quantity, sameAs, variadic } from './define.ts';
import type { FunctionDescriptor, FunctionExample } from './descriptor.ts';
import { type Direction, extremeOf, unlike, unordered } from './extremes.ts';
import { finite, roundHalfAway } from './numbers.ts';

const abs = defineFunction({
  name: 'abs',
  category: 'math',
  parameters: [quantity('x')],
  result: sameAs(0),
  summary: 'The number or duration without its sign.',
  examples: [
    { code: 'abs(-3)', result: '3' },
    { code: 'abs(-5m)', result: '5m' },
  ],
  evaluate: (x) => (x instanceof Duration ? duration(Math.abs(x.ms)) : Math.abs(x)),
});

const sign = defineFunction({
  name: 'sign',
  category: 'math',
  parameters: [quantity('x')],
  result: always(INT),
  summary: '-1, 0 or 1.',
  examples: [{ code: 'sign(-2.5)', result: '-1' }],
  evaluate: (x) => Math.sign(x instanceof Duration ? x.ms : x) + 0,
});

interface FloatFunction {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly [FunctionExample, ...FunctionExample[]];
  readonly compute: (x: number) => number;
}

/** A function of one number; where it is not defined the result is null. */
function floatFunction({ name, summary, examples, compute }: FloatFunction): FunctionDescriptor {
  return defineFunction({
    name,
    category: 'math',
    parameters: [number('x')],
    result: always(FLOAT),
    summary,
    examples,
    evaluate: (x) => finite(compute(x)),
  });
}

const floatFunctions = [
  floatFunction({
    name: 'sqrt',
    summary: 'The square root; null of a negative number.',
    examples: [
      { code: 'sqrt(16)', result: '4' },
      { code: 'sqrt(-1)', result: 'null' },
    ],
    compute: Math.sqrt,
  }),
  floatFunction({
    name: 'log',
    summary: 'The natural logarithm; null of 0 and below.',
    examples: [
      { code: 'log(1)', result: '0' },
      { code: 'log(0)', result: 'null' },
    ],
    compute: Math.log,
  }),
  floatFunction({
    name: 'log10',
    summary: 'The logarithm to base 10; null of 0 and below.',
    examples: [{ code: 'log10(1000)', result: '3' }],
    compute: Math.log10,
  }),
  floatFunction({
    name: 'exp',
    summary: 'e to the power of x; null on overflow.',
    examples: [
      { code: 'exp(0)', result: '1' },
      { code: 'exp(1000)', result: 'null' },
    ],
    compute: Math.exp,
  }),
  floatFunction({
    name: 'sin',
    summary: 'The sine of an angle in radians.',
    examples: [{ code: 'sin(0)', result: '0' }],
    compute: Math.sin,
  }),
  floatFunction({
    name: 'cos',
    summary: 'The cosine of an angle in radians.',
    examples: [{ code: 'cos(0)', result: '1' }],
    compute: Math.cos,
  }),
  floatFunction({
    name: 'tan',
    summary: 'The tangent of an angle in radians.',
    examples: [{ code: 'tan(0)', result: '0' }],
    compute: Math.tan,
  }),
];

const floor = defineFunction({
  name: 'floor',
  category: 'math',
  parameters: [number('x')],
  result: always(INT),
  summary: 'The largest whole number that is not above x.',
  examples: [{ code: 'floor(-1.5)', result: '-2' }],
  evaluate: (x) => Math.floor(x),
});

const ceil = defineFunction({
  name: 'ceil',
  category: 'math',
  parameters: [number('x')],
  result: always(INT),
  summary: 'The smallest whole number that is not below x.',
  examples: [{ code: 'ceil(1.2)', result: '2' }],
  evaluate: (x) => Math.ceil(x) + 0,
});

const round = defineFunction({
  name: 'round',
  category: 'math',
  parameters: [number('x'), optional(int('places'))],
  result: (args) => (args.length > 1 ? FLOAT : INT),
  summary: 'x rounded to a whole number, or to so many decimal places; half goes away from zero.',
  examples: [
    { code: 'round(-2.5)', result: '-3' },
    { code: 'round(1.005, 2)', result: '1.01' },
    { code: 'round(1250, -2)', result: '1300' },
  ],
  evaluate: (x, places = 0) => finite(roundHalfAway(x, places)),
});

const pow = defineFunction({
  name: 'pow',
  category: 'math',
  parameters: [number('base'), number('exponent')],
  result: always(FLOAT),
  summary: 'The base to the power of the exponent, like `**`; null on overflow.',
  examples: [{ code: 'pow(2, 10)', result: '1024' }],
  evaluate: (base, exponent) => finite(base ** exponent),
});

const div = defineFunction({
  name: 'div',
  category: 'math',
  parameters: [number('a'), number('b')],
  result: always(INT),
  summary: 'a divided by b without the fraction; null when b is 0.',
  examples: [
    { code: 'div(-7, 2)', result: '-3' },
    { code: 'div(1, 0)', result: 'null' },
  ],
  evaluate: (a, b) => finite(Math.trunc(a / b)),
});

const ORDERED: readonly Type[] = [...NUMBER, STR, TIMESTAMP, DURATION];

function extreme(name: string, direction: Direction, summary: string, examples: FunctionDescriptor['examples']): FunctionDescriptor {
  return defineFunction({
    name,
    category: 'math',
    parameters: [oneOf<Value>('x', ...ORDERED, arrayOf(ANY)), variadic(oneOf<Value>('others', ...ORDERED))],
    result: (args) => (args.length === 1 && args[0]?.kind === 'array' ? itemOf(args[0]) : commonType(args)),
    summary,
    examples,
    nulls: 'handle',
    checkTypes: ([x = ANY, ...others]) => {
      if (x.kind !== 'array') return unlike(name, [x, ...others]);
      return others.length === 0 ? unordered(name, x.item) : { problem: `\`${name}\` takes one array, or values that are none` };
    },
    evaluate: (x, ...others) => extremeOf(name, others.length === 0 && x !== null && isArray(x) ? x : [x, ...others], direction),
  });
}

const min = extreme('min', -1, 'The smallest of the arguments, or of the items of one array; nulls are skipped.', [
  { code: 'min(3, 1, 2)', result: '1' },
  { code: 'min(["b", "a"])', result: '"a"' },
  { code: 'min([])', result: 'null' },
]);

const max = extreme('max', 1, 'The largest of the arguments, or of the items of one array; nulls are skipped.', [
  { code: 'max(3, null, 2)', result: '3' },
  { code: 'max([5m, 1h])', result: '1h' },
]);

const clamp = defineFunction({
  name: 'clamp',
  category: 'math',
  parameters: [quantity('x'), quantity('low'), quantity('high')],
  result: commonType,
  summary: 'x, or the nearer of the two bounds when x lies outside them; null when the lower bound is above the upper one.',
  examples: [
    { code: 'clamp(12, 0, 10)', result: '10' },
    { code: 'clamp(30s, 1m, 5m)', result: '1m' },
  ],
  checkTypes: (args) => unlike('clamp', args),
  evaluate: (x, low, high) => {
    if (extremeOf('clamp', [low, high], -1) !== low) return null;
    return extremeOf('clamp', [extremeOf('clamp', [x, low], 1), high], -1);
  },
});

export const mathFunctions: readonly FunctionDescriptor[] = [abs, sign, ...floatFunctions, floor, ceil, round, pow, div, min, max, clamp];

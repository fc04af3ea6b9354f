import { toText } from '../../../shared/events/text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { requireBounded } from '../../../shared/events/value-limits.ts';
import type { AttributeName } from '../../../shared/language/plan/plan.ts';
import { library } from '../compile/library.ts';
import { keywords as expressionKeywords, type Vocabulary } from '../compile/vocabulary.ts';
import type { Row } from '../operators/row.ts';
import type { NamesOf } from './columns.ts';
import { shapeOutput } from './fused-output.ts';
import { joinLibrary, joinProperties } from './joins/join-vocabulary.ts';
import { patternLibrary, patternProperties } from './patterns/pattern-vocabulary.ts';
import { trendLibrary, trendProperties } from './patterns/trends/trend-vocabulary.ts';
import { attributesOf, fieldOf } from './row-columns.ts';
import { makeRules, numbersOf } from './rules/print-rules.ts';
import { windowLibrary, windowProperties } from './windows/library.ts';

/** What the generated code of a fused program may call by name, besides what the running program offers (`programNames`). */
export const fusedLibrary = {
  ...library,
  text: (value: Value): string => toText(value),
  timestampOf: (ms: number): Timestamp => new Timestamp(ms),
  durationOf: (ms: number): Duration => new Duration(ms),
  timestampOfOrNull: (ms: number | null): Timestamp | null => (ms === null ? null : new Timestamp(ms)),
  durationOfOrNull: (ms: number | null): Duration | null => (ms === null ? null : new Duration(ms)),
  /** A duration is its milliseconds. */
  withoutUnit: (value: Value): Value => (value instanceof Duration ? value.ms : value),
  bounded,
  makeRow,
  fieldOf,
  attributesOf,
  shapeOutput,
  makeRules,
  numbersOf,
  ...joinLibrary,
  ...patternLibrary,
  ...trendLibrary,
  ...windowLibrary,
} as const;

/** Functions of the running program; `FusedRuntime` has exactly these. */
const programNames = ['give', 'defer', 'rowOfEvent'] as const;

/** The parameters of a fused module, in order: the constants table, then everything it may call. */
export const fusedParameters: readonly string[] = ['K', ...programNames, ...Object.keys(fusedLibrary)];

/** Properties that generated text may read or assign: of counters, streams, kernels, and of objects with minted classes. */
const properties: ReadonlySet<string> = new Set([
  'eventsIn',
  'eventsOut',
  'watched',
  'schedule',
  'due',
  'fail',
  'process',
  'arrive',
  'depart',
  'time',
  'shape',
  'find',
  'starts',
  'rules',
  'counts',
  'asks',
  'asked',
  ...patternProperties,
  ...trendProperties,
  'length',
  ...joinProperties,
  ...windowProperties,
]);

export const fusedVocabulary: Vocabulary = {
  keywords: new Set([...expressionKeywords, 'function', 'new', 'this']),
  names: new Set(fusedParameters),
  properties,
  operators: new Set(['<', '>', '<=', '>=', '++', '+', '*', '/', '%']),
  /** `x0`: minted fields. */
  hasMintedProperties: true,
};

/** @throws EvaluationError when the value is too large to be kept */
function bounded(value: Value): Value {
  requireBounded(value);
  return value;
}

function makeRow(
  type: string,
  time: number,
  order: number,
  { names }: NamesOf,
  values: readonly Value[],
  attributes: ReadonlyMap<AttributeName, Value> | null,
  causes: readonly number[],
): Row {
  const fields = new Map(names.map((name, at) => [name, values[at] as Value]));
  return { type, time, order, fields, bound: null, attributes, causes };
}

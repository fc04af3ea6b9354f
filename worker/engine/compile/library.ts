import { beginMaking, makeEntries, makeNewItems, makeText } from '../../../shared/events/making.ts';
import { toText } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';
import * as arithmetic from '../../../shared/language/functions/arithmetic.ts';
import type { AggregateDescriptor, FunctionDescriptor, FunctionValue } from '../../../shared/language/functions/descriptor.ts';
import { holds, truth } from '../../../shared/language/functions/truth.ts';
import type { AttributeName } from '../../../shared/language/plan/plan.ts';
import { itemsOf, rangeItems } from '../evaluate/loop-items.ts';
import { binaryOperations } from '../evaluate/operations.ts';
import { attributeOf, boundRow, capturesOf, fieldOf } from '../evaluate/row-reading.ts';
import type { Binding, Evaluate, Row, Scope } from '../operators/row.ts';

/**
 * The functions that generated code may call by name, besides those of its own program (`programLibrary`). They are the
 * reference evaluator's own wherever it has one: generated code saves the walk over the plan, it has no second meaning.
 */
export const library = {
  // operators
  add: arithmetic.add,
  subtract: arithmetic.subtract,
  multiply: arithmetic.multiply,
  divide: arithmetic.divide,
  modulo: arithmetic.modulo,
  power: arithmetic.power,
  negate: arithmetic.negate,
  equal: arithmetic.equal,
  notEqual: arithmetic.notEqual,
  less: arithmetic.less,
  lessOrEqual: arithmetic.lessOrEqual,
  greater: arithmetic.greater,
  greaterOrEqual: arithmetic.greaterOrEqual,
  isIn: arithmetic.isIn,
  isNotIn: binaryOperations['not in'],
  bitAnd: arithmetic.bitAnd,
  bitOr: arithmetic.bitOr,
  bitXor: arithmetic.bitXor,
  bitNot: arithmetic.bitNot,
  shiftLeft: arithmetic.shiftLeft,
  shiftRight: arithmetic.shiftRight,
  andTruth: (value: Value): boolean => truth(value, 'and'),
  orTruth: (value: Value): boolean => truth(value, 'or'),
  notTruth: (value: Value): boolean => truth(value, 'not'),
  holds,
  // values
  member: arithmetic.field,
  index: arithmetic.index,
  slice: arithmetic.slice,
  range: arithmetic.range,
  makeArray,
  makeMap,
  fieldsFrom: (entries: readonly [string, Value][]): Map<string, Value> => new Map(entries),
  text: partText,
  joinTexts,
  // rows
  fieldOf,
  attributeOf,
  boundRow,
  firstOf: (binding: Binding | undefined): Row | null => capturesOf(binding)[0] ?? null,
  lastOf: (binding: Binding | undefined): Row | null => capturesOf(binding).at(-1) ?? null,
  prevOf: (binding: Binding | undefined): Row | null => capturesOf(binding).at(-2) ?? null,
  itemAt,
  fieldIn: (row: Row | null, name: string): Value => (row === null ? null : fieldOf(row, name)),
  attributeIn: (row: Row | null, name: AttributeName): Value => (row === null ? null : attributeOf(row, name)),
  fieldsOf: (row: Row | null): Value => row?.fields ?? null,
  fieldsOfAll: (binding: Binding | undefined): Value => makeArray(capturesOf(binding).map((row) => row.fields)),
  isUnbound: (binding: Binding | undefined): boolean => capturesOf(binding).length === 0,
  closureAggregate,
  // calls
  beginMaking,
  call: (descriptor: FunctionDescriptor, args: (Value | FunctionValue)[], now: number): Value => descriptor.evaluate(args, { now }),
  callUnlessNull: (descriptor: FunctionDescriptor, args: (Value | FunctionValue)[], now: number): Value =>
    args.includes(null) ? null : descriptor.evaluate(args, { now }),
  // statements
  itemsOf,
  rangeItems,
  slotOf: (scope: Scope, slot: number): Value => scope.locals[slot] ?? null,
} as const;

/** @throws EvaluationError when the evaluation has made too much. */
function makeArray(items: readonly Value[]): Value {
  makeNewItems(items.length);
  return items;
}

/** @throws EvaluationError when the evaluation has made too much. */
function makeMap(entries: readonly (readonly [string, Value])[]): Map<string, Value> {
  makeEntries(entries.length);
  return new Map(entries);
}

/** A value as a part of a template. @throws EvaluationError when the evaluation has made too much. */
function partText(value: Value): string {
  if (typeof value === 'string') return value;
  const text = toText(value);
  makeText(text.length);
  return text;
}

/** The parts of a template, which may be thousands. @throws EvaluationError when the text grows too long. */
function joinTexts(parts: readonly string[]): string {
  let length = 0;
  for (const part of parts) length += part.length;
  makeText(length);
  let text = '';
  for (const part of parts) text += part;
  return text;
}

function itemAt(binding: Binding | undefined, position: Value): Row | null {
  return typeof position === 'number' && Number.isInteger(position) ? (capturesOf(binding).at(position) ?? null) : null;
}

function closureAggregate(
  descriptor: AggregateDescriptor,
  constants: readonly Value[],
  scope: Scope,
  slot: number,
  argument: Evaluate | null,
): Value {
  const rows = capturesOf(scope.bound[slot]);
  const accumulator = descriptor.create(constants);
  for (const row of rows) accumulator.add(argument === null ? [] : [argument({ ...scope, row })], row.time, row.order);
  return accumulator.result({ lengthMs: (rows.at(-1)?.time ?? 0) - (rows[0]?.time ?? 0) });
}

/** What generated code calls of the program it belongs to. */
export interface ProgramLibrary {
  readGlobal(index: number): Value;
  writeGlobal(index: number, value: Value): void;
  /** Calls a function of the program, with its budget. */
  invoke(index: number, args: readonly Value[], row: Row): Value;
  /** A lambda of so many parameters, counted as the budget asks. */
  lambda(arity: number, body: (...args: Value[]) => Value): FunctionValue;
  /** One run of a body whose loops are counted. */
  activation(): { loopStep(): void };
  /** The `emit` statement. */
  emit(type: string, fields: Map<string, Value>): void;
  /** What a thrown thing means to the program: the limits of the runtime are failures of the evaluation. */
  failure(thrown: unknown): Error;
}

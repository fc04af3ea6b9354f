import { EvaluationError } from './evaluation-error.ts';
import { isArray, isMap, type Value } from './value.ts';

/**
 * How large a value may grow that a program makes. The limits of one arriving event are stricter and stand elsewhere;
 * these keep a loop such as `x := [x, x]` or `s := s + s` from exhausting the stack or the memory.
 */
export const valueLimits = {
  /** UTF-16 code units of a string that a function or an operator makes. */
  textLengthMax: 16_777_216,
  /** Items of an array that a function or an operator makes. */
  arrayItemsMax: 1_000_000,
  /** Nesting of arrays and maps; an array of numbers has depth 1. */
  nestingDepthMax: 128,
  /** Values within one value, counted as often as they are reached. */
  visitedValuesMax: 2_097_152,
} as const;

/** Counts down what a walk over a nested value may still visit. One per walk. */
export interface Visits {
  left: number;
}

export function newVisits(): Visits {
  return { left: valueLimits.visitedValuesMax };
}

/**
 * Called by every recursive walk before it goes into an array or a map.
 * @throws EvaluationError when the value is nested too deeply or holds too many values.
 */
export function enterNested(items: number, depth: number, visits: Visits): void {
  if (depth >= valueLimits.nestingDepthMax) {
    throw new EvaluationError(`a value may be nested at most ${valueLimits.nestingDepthMax} levels deep`);
  }
  visits.left -= items;
  if (visits.left < 0) throw new EvaluationError(`a value may hold at most ${valueLimits.visitedValuesMax} values`);
}

/**
 * Refuses a value that could not be compared, printed or saved later. For the places where a value that a program made
 * is kept: program variables, emitted fields, aggregates.
 * @throws EvaluationError
 */
export function requireBounded(value: Value): void {
  if (isArray(value) || isMap(value)) walk(value, 0, newVisits());
}

/** Characters of a text that take the room of one value. */
const charactersPerValue = 16;

/** How many values are in a bounded value, itself and long texts included, counted as often as they are reached. */
export function sizeOfValue(value: Value): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / charactersPerValue);
  if (!isArray(value) && !isMap(value)) return 1;
  let size = 1;
  for (const item of value.values()) size += sizeOfValue(item);
  return size;
}

function walk(value: Value, depth: number, visits: Visits): void {
  if (isArray(value)) {
    enterNested(value.length, depth, visits);
    for (const item of value) walk(item, depth + 1, visits);
  } else if (isMap(value)) {
    enterNested(value.size, depth, visits);
    for (const item of value.values()) walk(item, depth + 1, visits);
  }
}

/** @throws EvaluationError when a string of this length would be too long. */
export function requireTextLength(length: number): void {
  if (length > valueLimits.textLengthMax) throw new EvaluationError(`a string may have at most ${valueLimits.textLengthMax} characters`);
}

/** @throws EvaluationError when an array of this length would be too long. */
export function requireItems(items: number): void {
  if (items > valueLimits.arrayItemsMax) throw new EvaluationError(`an array may have at most ${valueLimits.arrayItemsMax} items`);
}

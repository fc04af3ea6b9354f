import { invariant } from '../../../shared/errors/error.ts';
import { isArray, isMap, type Value, type ValueArray, type ValueMap } from '../../../shared/events/value.ts';

/*
 * What an operator saved and loads again, looked at before it is believed: a checkpoint comes from outside, and one number of it that
 * nothing ever counted to may keep an operator busy without end. All of them throw where the value is another.
 */

export function numberIn(saved: Value | undefined): number {
  invariant(typeof saved === 'number' && !Number.isNaN(saved), 'saved: a number');
  return saved;
}

/** Times, lengths and weights of what was seen: finite, none below 0. */
export function amountIn(saved: Value | undefined): number {
  invariant(typeof saved === 'number' && saved >= 0 && Number.isFinite(saved), 'saved: an amount');
  return saved;
}

/** A whole number from 0 on, below `end`. */
export function countIn(saved: Value | undefined, end = Number.MAX_SAFE_INTEGER): number {
  invariant(typeof saved === 'number' && Number.isSafeInteger(saved) && saved >= 0 && saved < end, `saved: a whole number below ${end}`);
  return saved;
}

export function flagIn(saved: Value | undefined): boolean {
  invariant(typeof saved === 'boolean', 'saved: true or false');
  return saved;
}

/** `length`: of all lists that are saved here. */
export function listIn(saved: Value | undefined, length?: number): ValueArray {
  invariant(saved !== undefined && isArray(saved) && (length === undefined || saved.length === length), 'saved: a list');
  return saved;
}

export function mapIn(saved: Value | undefined): ValueMap {
  invariant(saved !== undefined && isMap(saved), 'saved: a map');
  return saved;
}

import { CepError } from '../shared/errors/error.ts';

/** The value of an option that takes a whole number. @throws CepError `usage_error` */
export function wholeNumber(option: string, text: string, min: number): number {
  const value = numberOf(text);
  if (value < min) throw new CepError('usage_error', `${option}: expected a whole number, at least ${min}, found '${text}'`);
  return value;
}

/** The same for one that has an upper bound too. @throws CepError `usage_error` */
export function wholeNumberIn(option: string, text: string, [min, max]: readonly [min: number, max: number]): number {
  const value = numberOf(text);
  if (value >= min && value <= max) return value;
  throw new CepError('usage_error', `${option}: expected a whole number from ${min} to ${max}, found '${text}'`);
}

/** Below 0 when it is none. */
function numberOf(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}

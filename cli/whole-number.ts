import { CepError } from '../shared/errors/error.ts';

/** The value of an option that takes a whole number. @throws CepError `usage_error` */
export function wholeNumber(option: string, text: string, min: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value < min) throw new CepError('usage_error', `${option}: expected a whole number, at least ${min}, found '${text}'`);
  return value;
}

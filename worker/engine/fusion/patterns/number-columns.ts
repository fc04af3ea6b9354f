import type { Representation } from '../typed.ts';

/** Whether values that stand so in generated code are numbers in a column. */
export function isNumeric(as: Representation): boolean {
  return as === 'number' || as === 'timestamp' || as === 'duration';
}

/** A number as it stands in a column. */
export function nanIfNull(value: number | null): number {
  return value === null ? Number.NaN : value;
}

/** The number that stands so in a column. */
export function nullIfNaN(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

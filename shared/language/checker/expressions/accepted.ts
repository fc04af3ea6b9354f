import type { Parameter } from '../../functions/descriptor.ts';
import { FLOAT, isNumeric, printType } from '../../plan/types.ts';

/** The types that a parameter takes, as they are written: `str or [any]`; numbers are `float`, which takes ints too. */
export function acceptedTypes({ types }: Parameter): string {
  const mixes = types.filter(isNumeric).length > 1;
  const written = types.map((type) => printType(mixes && isNumeric(type) ? FLOAT : type));
  return [...new Set(written)].join(' or ');
}

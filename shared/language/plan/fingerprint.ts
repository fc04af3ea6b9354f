/** What indexes in a plan stand for, by identity of meaning instead of position. */
export interface FingerprintNames {
  function(index: number): string;
  global(index: number): string;
  stream(index: number): string;
}

/** Identity of a piece of a plan: 26 hex digits, equal for equal meaning. */
export function fingerprint(_value: unknown, _names?: FingerprintNames): string {
  throw new Error('not built');
}

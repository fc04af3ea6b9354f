import type { StoredValue } from '../../../shared/events/stored-value.ts';

/** A snapshot whose state is made when it is first read. */
export function encodedLater(encode: () => StoredValue): { readonly version: 1; readonly state: StoredValue } {
  let later: (() => StoredValue) | null = encode;
  let state: StoredValue = null;
  return {
    version: 1,
    get state() {
      if (later !== null) state = later();
      later = null;
      return state;
    },
  };
}

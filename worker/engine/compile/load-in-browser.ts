/** Stands in for `load.ts` in the bundle for browsers, whose pages must allow `unsafe-eval`. */
export function loadGenerated(text: string, parameters: readonly string[]): (...args: unknown[]) => unknown {
  return new Function(...parameters, text) as (...args: unknown[]) => unknown;
}

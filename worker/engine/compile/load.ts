import { compileFunction } from 'node:vm';

/**
 * Turns generated text into a function. The one place where text becomes code: it works where `eval` and `new Function`
 * are forbidden (`--disallow-code-generation-from-strings`). Callers verify the text first (`verify.ts`).
 */
export function loadGenerated(text: string, parameters: readonly string[], filename: string): (...args: unknown[]) => unknown {
  return compileFunction(text, [...parameters], { filename }) as (...args: unknown[]) => unknown;
}

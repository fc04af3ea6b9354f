import { RE2JS, RE2JSException } from 're2js';
import { BoundedCache } from './bounded-cache.ts';
import { EvaluationError } from './descriptor.ts';

/** Compiled expressions kept for reuse; programs with more patterns than this stay correct and get slower. */
const COMPILED_MAX = 512;

/** Code units of a pattern. Matching costs time in proportion to pattern times text, so a pattern is not endless either. */
const PATTERN_LENGTH_MAX = 4096;

type Compiled = { readonly expression: RE2JS } | { readonly problem: string };

const cache = new BoundedCache<Compiled>(COMPILED_MAX, compile);

function compile(pattern: string): Compiled {
  if (pattern.length > PATTERN_LENGTH_MAX) return { problem: `longer than ${PATTERN_LENGTH_MAX} characters` };
  try {
    return { expression: RE2JS.compile(pattern) };
  } catch (error) {
    if (error instanceof RE2JSException) return { problem: error.message.replace(/^error parsing regexp: /, '') };
    throw error;
  }
}

/** What is wrong with a regular expression, or undefined when nothing is. */
export function patternProblem(pattern: string): string | undefined {
  const compiled = cache.get(pattern);
  return 'problem' in compiled ? `invalid regular expression: ${compiled.problem}` : undefined;
}

/** Whether the text contains a match. Linear in the length of the text, whatever the pattern. */
export function containsMatch(text: string, pattern: string): boolean {
  return expression(pattern).test(text);
}

/** The first match: its group 1 if the pattern has groups, else all of it; null when there is none. */
export function firstMatch(text: string, pattern: string): string | null {
  const matcher = expression(pattern).matcher(text);
  if (!matcher.find()) return null;
  return matcher.group(matcher.groupCount() > 0 ? 1 : 0);
}

function expression(pattern: string): RE2JS {
  const compiled = cache.get(pattern);
  if ('problem' in compiled) throw new EvaluationError(`invalid regular expression: ${compiled.problem}`);
  return compiled.expression;
}

import type { Value } from '../../events/value.ts';
import type { Argument, Expression } from '../ast/nodes.ts';
import type { CheckContext } from './context.ts';

/** The value of an expression that is known before the program runs, else undefined. Reports nothing. */
export function constantValue(_node: Expression, _context: CheckContext): Value | undefined {
  throw new Error('not built');
}

/**
 * As `constantValue`, but reports what is wrong in the expression, or, when it is right but not constant, `code` with
 * "must be known before the program runs". A plain name that is no value of the program counts as its own text when
 * `words` holds it (`align: first`).
 */
export function requireConstant(
  _node: Expression,
  _context: CheckContext,
  _expected: { readonly code: 'E061' | 'E062' | 'E081'; readonly what: string; readonly words?: readonly string[] },
): Value | undefined {
  throw new Error('not built');
}

/** A duration known before the program runs, in ms; else E061 (a plain number gets the hint to write a unit) and undefined. */
export function constantDurationMs(_node: Expression, _context: CheckContext): number | undefined {
  throw new Error('not built');
}

/** Named arguments as constant values (connector, context and `.from` parameters): E081 for what is not constant, E082 without a name. */
export function constantParameters(_args: readonly Argument[], _context: CheckContext): Map<string, Value> {
  throw new Error('not built');
}

import { Duration, type Value } from '../../events/value.ts';
import type { Argument, Expression } from '../ast/nodes.ts';
import type { CheckContext } from './context.ts';
import { isResolved } from './expressions/fold.ts';
import { expressionOf, lowerExpression, reportNoDuration } from './lower.ts';
import type { NameScope } from './scope.ts';
import { programScope } from './scopes.ts';
import { unwrapped, walk } from './walk.ts';

/** What a constant is for, and how to say that it is wrong. */
export interface ConstantExpectation {
  readonly code: 'E061' | 'E062' | 'E081';
  /** "`size` of a window". */
  readonly what: string;
  /** Plain names that count as their own text: `align: first`. */
  readonly words?: readonly string[] | undefined;
  /** What bare names mean in expressions that stand here and are evaluated for each row. */
  readonly rows?: (() => NameScope) | undefined;
}

/**
 * The value of an expression that is known before the program runs. Else undefined, and a report of what is wrong in it, or,
 * when it is right but not constant, of `code` with "must be known before the program runs".
 */
export function requireConstant(node: Expression, context: CheckContext, expected: ConstantExpectation): Value | undefined {
  const word = wordOf(node, expected.words, context);
  if (word !== undefined) return word;
  if (!readsRow(node, expected.rows, context)) {
    const lowered = lowerExpression(node, programScope(), context);
    if (!isResolved(lowered)) return undefined;
    if (lowered.kind === 'constant') return lowered.value;
  }
  context.report(expected.code, node.span, `${expected.what} must be known before the program runs`, 'write a literal or a const');
  return undefined;
}

/**
 * Whether it cannot be known because it reads the row, which is there only when the program runs. What the program itself gives a meaning
 * to is no field: a value, a function that is called, an import, the parameter of a lambda.
 */
function readsRow(node: Expression, rows: (() => NameScope) | undefined, context: CheckContext): boolean {
  if (rows === undefined || !namesField(node, rows, context)) return false;
  return !isResolved(lowerExpression(node, programScope(), context.quietly()));
}

function namesField(node: Expression, rows: () => NameScope, context: CheckContext): boolean {
  const isField = (name: string): boolean => {
    if (context.symbols.find('value', name) || context.symbols.isNamespace(name)) return false;
    const scope = rows();
    return scope.meaning(name) !== undefined || scope.openField(name) !== null;
  };
  const callees = new Set<Expression>();
  let found = false;
  walk(node, (part) => {
    if (part.kind === 'Call') callees.add(part.callee);
    else if (part.kind === 'Name' && !callees.has(part)) found ||= isField(part.name);
    return !found;
  });
  return found;
}

/** The word that stands bare, also one that reads like something else (`scram-sha-256`), or that is none and names nothing else either. */
function wordOf(node: Expression, words: readonly string[] | undefined, context: CheckContext): string | undefined {
  if (words === undefined) return undefined;
  const text = context.text(node.span);
  if (words.includes(text)) return text;
  const name = unwrapped(node);
  return name.kind === 'Name' && !context.symbols.find('value', name.name) ? name.name : undefined;
}

/** A duration known before the program runs, in ms; else E061 (a plain number gets the hint to write a unit) and undefined. */
export function constantDurationMs(node: Expression, context: CheckContext, rows?: () => NameScope): number | undefined {
  if (readsRow(node, rows, context)) {
    reportUnknownDuration(node, context);
    return undefined;
  }
  const lowered = lowerExpression(node, programScope(), context);
  if (!isResolved(lowered)) return undefined;
  if (lowered.kind === 'constant' && lowered.value instanceof Duration) return lowered.value.ms;
  const isDuration = lowered.type.kind === 'duration' || lowered.type.kind === 'any';
  if (isDuration && lowered.kind !== 'constant') reportUnknownDuration(node, context);
  else reportNoDuration(node, lowered, context);
  return undefined;
}

function reportUnknownDuration(node: Expression, context: CheckContext): void {
  context.report('E061', node.span, 'a duration that is known before the program runs is needed here', 'write a literal or a const');
}

/**
 * Named arguments as constant values (connector, context and `.from` parameters): E081 for what is not constant, E082 without a name.
 * `wordsOf`: what a parameter with a fixed set of words may be, which is taken bare too.
 */
export function constantParameters(
  args: readonly Argument[],
  context: CheckContext,
  wordsOf: (name: string) => readonly string[] | undefined | null = () => undefined,
): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const argument of args) {
    const node = expressionOf(argument, context);
    const name = argument.name?.text;
    if (!node) continue;
    if (name === undefined) {
      context.report('E082', argument.span, 'this parameter needs a name', `write name: ${context.text(argument.span)}`);
      continue;
    }
    if (values.has(name)) context.report('E081', argument.span, `\`${name}\` is given twice`);
    const value = requireConstant(node, context, { code: 'E081', what: `\`${name}\``, words: wordsOf(name) ?? undefined });
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

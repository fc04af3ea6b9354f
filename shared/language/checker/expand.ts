import { isArray, type Value } from '../../events/value.ts';
import { limits } from '../../limits.ts';
import type { Expression, ForDeclaration, IfDeclaration, ImportDeclaration, Statement } from '../ast/nodes.ts';
import type { PlanExpression } from '../plan/plan.ts';
import { ANY } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import { constant, isResolved } from './expressions/fold.ts';
import { holedStatement } from './holes.ts';
import { lowerExpression } from './lower.ts';
import type { NameScope } from './scope.ts';
import { programScope } from './scopes.ts';
import type { Module } from './symbols.ts';
import { unwrapped } from './walk.ts';

interface Expansion {
  readonly context: CheckContext;
  readonly scope: NameScope;
  readonly statements: Statement[];
  isTooLong: boolean;
}

/**
 * The statements of a file with every compile-time `for` repeated and every `if` decided, holes filled in. Bounds and
 * conditions read literals and the constants of the file's top level and of its imports. Too much of it is E095.
 */
export function expandStatements(
  statements: readonly Statement[],
  imports: readonly (readonly [ImportDeclaration, Module])[],
  context: CheckContext,
): Statement[] {
  const expansion: Expansion = { context, scope: constantScope(statements, imports, context), statements: [], isTooLong: false };
  expandInto(statements, expansion, true);
  return expansion.statements;
}

function expandInto(statements: readonly Statement[], expansion: Expansion, isTop = false): void {
  for (const statement of statements) {
    if (expansion.isTooLong) return;
    if (statement.kind === 'ForDeclaration') expandFor(statement, expansion);
    else if (statement.kind === 'IfDeclaration') expandIf(statement, expansion);
    else if (statement.kind === 'ImportDeclaration' && !isTop) refuseImport(statement, expansion);
    else addStatement(statement, expansion);
  }
}

function refuseImport(node: ImportDeclaration, { context }: Expansion): void {
  context.report('E000', node.span, 'an import stands at the top level of a file');
}

function addStatement(statement: Statement, expansion: Expansion): void {
  if (expansion.statements.length >= limits.programStatementsMax) {
    expansion.isTooLong = true;
    expansion.context.report('E095', statement.span, `the program has more than ${limits.programStatementsMax} statements after expansion`);
  } else expansion.statements.push(statement);
}

function expandFor(node: ForDeclaration, expansion: Expansion): void {
  const values = loopValues(node, expansion);
  if (!values) return;
  const body = values.length === 0 ? [] : node.body.map((written) => ({ written, ...holedStatement(written, node.variable.text) }));
  const { spend, repetitions } = expansion.context;
  const filled = node.body.slice();
  const isSpent = spendAtOnce(node, values.length, body, expansion);
  for (const value of values) {
    if (expansion.isTooLong) return;
    if (!isSpent) spend('repetitions', 1, node.span);
    for (let at = 0; at < body.length; at++) {
      const repeated = body[at] as (typeof body)[number];
      const statement = repeated.fill(value);
      if (!isSpent) spend('repetitions', repeated.parts, repeated.written.span);
      if (statement !== repeated.written) repetitions.note(statement, repeated, value);
      filled[at] = statement;
    }
    expandInto(filled, expansion);
  }
}

/** Counts all that a loop repeats. False where something in it counts too, or there is too much: then it is counted one by one, to say where. */
function spendAtOnce(
  { span }: ForDeclaration,
  times: number,
  body: readonly { readonly written: Statement; readonly parts: number }[],
  { context }: Expansion,
): boolean {
  const isPlain = body.every(({ written }) => written.kind !== 'ForDeclaration' && written.kind !== 'IfDeclaration');
  const parts = times * body.reduce((sum, one) => sum + one.parts, 1);
  if (!isPlain || parts > context.left('repetitions')) return false;
  context.spend('repetitions', parts, span);
  return true;
}

/** The integers that the loop goes over; undefined when they are not known, which is reported. */
function loopValues(node: ForDeclaration, expansion: Expansion): number[] | undefined {
  const range = unwrapped(node.range);
  const bounds = range.kind === 'Range' ? boundsOf(range, expansion) : countedBounds(node.range, expansion);
  if (!bounds) return undefined;
  if (Array.isArray(bounds)) return bounds;
  const length = Math.max(0, bounds.to - bounds.from + (bounds.inclusive ? 1 : 0));
  if (length <= limits.compileTimeForStepsMax) return Array.from({ length }, (_, step) => bounds.from + step);
  const message = `a compile-time \`for\` goes over at most ${limits.compileTimeForStepsMax} values, not ${length}`;
  expansion.context.report('E095', node.range.span, message);
  return undefined;
}

interface Bounds {
  readonly from: number;
  readonly to: number;
  readonly inclusive: boolean;
}

function boundsOf(range: Extract<Expression, { kind: 'Range' }>, expansion: Expansion): Bounds | undefined {
  const from = known(range.from, expansion);
  const to = known(range.to, expansion);
  if (from === undefined || to === undefined) return undefined;
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to)) return { from, to, inclusive: range.inclusive } as Bounds;
  expansion.context.report('E062', range.span, 'the bounds of a compile-time `for` are ints');
  return undefined;
}

function countedBounds(node: Expression, expansion: Expansion): Bounds | number[] | undefined {
  const value = known(node, expansion);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { from: 0, to: value, inclusive: false };
  if (value !== null && isArray(value) && value.every((item) => Number.isSafeInteger(item))) return value as number[];
  expansion.context.report('E062', node.span, 'a compile-time `for` goes over ints: `0..4`, `[1, 3, 5]`');
  return undefined;
}

function expandIf(node: IfDeclaration, expansion: Expansion): void {
  for (const { condition, body } of node.branches) {
    const value = known(condition, expansion);
    if (value === undefined) return;
    if (typeof value !== 'boolean') {
      expansion.context.report('E060', condition.span, 'the condition of a compile-time `if` is a bool');
      return;
    }
    if (value) {
      expandInto(body, expansion);
      return;
    }
  }
  expandInto(node.otherwise, expansion);
}

/** The value of a constant expression; undefined when it is none, which is reported. */
function known(node: Expression, { scope, context }: Expansion): Value | undefined {
  const lowered = lowerExpression(node, scope, context);
  if (!isResolved(lowered)) return undefined;
  if (lowered.kind === 'constant') return lowered.value;
  context.report('E062', node.span, 'this must be known before the program runs', 'write a literal or a const');
  return undefined;
}

/** Stands for a value that only the running program knows. */
const UNKNOWN: PlanExpression = { kind: 'global', global: -1, type: ANY };

/**
 * The constants of a file by name, evaluated when they are asked for. Mistakes in them are told when the values of the
 * program are checked, so here they are only unknown; so is what functions of the file give.
 */
function constantScope(
  statements: readonly Statement[],
  imports: readonly (readonly [ImportDeclaration, Module])[],
  context: CheckContext,
): NameScope {
  const written = new Map<string, Expression>();
  const functions = new Set<string>();
  for (const statement of statements) {
    if (statement.kind === 'FunctionDeclaration') functions.add(statement.name.text);
    if (statement.kind === 'BindingDeclaration' && statement.binding !== 'var' && !written.has(statement.name.text)) {
      written.set(statement.name.text, statement.value);
    }
  }
  const found = new Map<string, PlanExpression>();
  const scope: NameScope = {
    ...programScope(),
    meaning: (name) => {
      const expression = found.get(name) ?? evaluate(name) ?? importedConstant(name, imports);
      return expression && { kind: 'value', expression, bare: false };
    },
    names: () => [...written.keys()],
    intercept: (node) => (node.kind === 'Call' && node.callee.kind === 'Name' && functions.has(node.callee.name) ? UNKNOWN : undefined),
  };
  const evaluate = (name: string): PlanExpression | undefined => {
    const node = written.get(name);
    if (!node) return undefined;
    found.set(name, UNKNOWN);
    const lowered = lowerExpression(node, scope, context.quietly());
    const expression = lowered.kind === 'constant' && isResolved(lowered) ? lowered : UNKNOWN;
    found.set(name, expression);
    return expression;
  };
  return scope;
}

/** A constant of a file that is imported without `as`; the others are found as `common.X`. */
function importedConstant(name: string, imports: readonly (readonly [ImportDeclaration, Module])[]): PlanExpression | undefined {
  for (const [node, module] of imports) {
    const symbol = node.alias ? undefined : module.symbols.find('value', name);
    if (!symbol) continue;
    symbol.used = true;
    symbol.prepare();
    return symbol.constant === undefined ? UNKNOWN : constant(symbol.constant, symbol.type);
  }
  return undefined;
}

import type {
  AssignmentStatement,
  BindingDeclaration,
  EmitStatement,
  ForStatement,
  FunctionStatement,
  IfStatement,
  ReturnStatement,
  Span,
  WhileStatement,
} from '../../ast/nodes.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import type { LocalExpression, PlanExpression, PlanStatement } from '../../plan/plan.ts';
import { ANY, alwaysFits, arrayOf, INT, isAssignable, isNumeric, NULL, printType, type Type } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import type { NameScope } from '../scope.ts';
import { resolveType } from '../type-expressions.ts';
import { lowerEmission } from './emissions.ts';
import type { Lowering } from './lowering.ts';
import { didYouMean } from './names.ts';

/** A value that a body gives back, by `return` or as its last statement. */
export interface Returned {
  readonly type: Type;
  readonly span: Span;
}

export interface LoweredBody {
  readonly body: readonly PlanStatement[];
  readonly returns: readonly Returned[];
}

/** The body of a function or of a lambda's block. Its last statement's value is returned where nothing else is. */
export function lowerBody(statements: readonly FunctionStatement[], scope: NameScope, lowering: Lowering): LoweredBody {
  const returns: Returned[] = [];
  const body = lowerStatements(withImplicitReturn(statements), { ...lowering, scope: blockScope(scope), loops: 0, returns });
  return { body, returns };
}

/** The last statement gives the value: an expression, or the branches of an `if`. */
function withImplicitReturn(statements: readonly FunctionStatement[]): FunctionStatement[] {
  const last = statements.at(-1);
  return last ? [...statements.slice(0, -1), asReturn(last)] : [];
}

function asReturn(statement: FunctionStatement): FunctionStatement {
  if (statement.kind === 'ExpressionStatement') return { kind: 'ReturnStatement', span: statement.span, value: statement.expression };
  if (statement.kind !== 'IfStatement') return statement;
  const branches = statement.branches.map((branch) => ({ ...branch, body: withImplicitReturn(branch.body) }));
  return { ...statement, branches, otherwise: statement.otherwise && withImplicitReturn(statement.otherwise) };
}

interface Local {
  readonly expression: LocalExpression;
  readonly mutable: boolean;
}

interface BlockScope extends NameScope {
  /** The locals of this block alone, filled as they are declared. */
  readonly locals: Map<string, Local>;
}

interface Block extends Lowering {
  readonly scope: BlockScope;
  /** How many loops stand around. */
  readonly loops: number;
  readonly returns: Returned[];
}

function blockScope(outer: NameScope): BlockScope {
  const locals = new Map<string, Local>();
  return {
    ...outer,
    locals,
    meaning: (name) => {
      const local = locals.get(name);
      return local ? { kind: 'value', bare: false, ...local } : outer.meaning(name);
    },
    names: () => [...locals.keys(), ...outer.names()],
  };
}

function inner(block: Block): Block {
  return { ...block, scope: blockScope(block.scope) };
}

function lowerStatements(statements: readonly FunctionStatement[], block: Block): PlanStatement[] {
  return statements.flatMap((statement) => lowerStatement(statement, block) ?? []);
}

function lowerStatement(statement: FunctionStatement, block: Block): PlanStatement | undefined {
  switch (statement.kind) {
    case 'BindingDeclaration':
      return lowerBinding(statement, block);
    case 'AssignmentStatement':
      return lowerAssignment(statement, block);
    case 'IfStatement':
      return lowerIf(statement, block);
    case 'ForStatement':
      return lowerFor(statement, block);
    case 'WhileStatement':
      return lowerWhile(statement, block);
    case 'BreakStatement':
    case 'ContinueStatement':
      return lowerJump(statement, block);
    case 'ReturnStatement':
      return lowerReturn(statement, block);
    case 'EmitStatement':
      return lowerEmit(statement, block);
    case 'ExpressionStatement':
      return { kind: 'expression', value: block.lower(statement.expression, block.scope) };
  }
}

function lowerBinding(node: BindingDeclaration, block: Block): PlanStatement {
  const { scope, context } = block;
  const { text, span } = node.name;
  const value = block.lower(node.value, scope);
  const declared = node.type && resolveType(node.type, context).type;
  if (declared) requireFit(value, declared, { block, span: node.value.span, target: `\`${text}\`` });
  if (scope.locals.has(text)) context.report('E007', span, `\`${text}\` is declared twice`);
  const type = declared ?? (node.binding === 'var' ? variableType(value.type) : value.type);
  const expression: LocalExpression = { kind: 'local', slot: scope.frame.allocate(), type };
  scope.locals.set(text, { expression, mutable: node.binding === 'var' });
  return { kind: 'set_local', slot: expression.slot, value };
}

/** What a `var` without a type may hold later: its first value's kind, of any items. */
export function variableType(type: Type): Type {
  if (type.kind === 'null') return ANY;
  if (type.kind === 'array') return arrayOf(ANY);
  return type.kind === 'map' ? { kind: 'map', value: ANY } : type;
}

interface AssignmentTarget {
  readonly context: CheckContext;
  readonly span: Span;
  readonly target: string;
}

function requireAssignable(value: PlanExpression, type: Type, { context, span, target }: AssignmentTarget): void {
  if (isAssignable(value.type, type)) return;
  context.report('E062', span, `${target} is ${printType(type)} and cannot hold ${printType(value.type)}`);
}

/** A local, of which nothing is looked at when the program runs. */
function requireFit(value: PlanExpression, type: Type, { block, span, target }: { block: Block; span: Span; target: string }): void {
  requireAssignable(value, type, { context: block.context, span, target });
  if (!alwaysFits(value.type, type)) block.scope.frame.doubts++;
}

function lowerAssignment(node: AssignmentStatement, block: Block): PlanStatement | undefined {
  const { scope, context } = block;
  const { text } = node.target;
  const value = block.lower(node.value, scope);
  const meaning = scope.meaning(text);
  if (!meaning || (meaning.kind === 'value' && meaning.bare)) return assignGlobal(node, value, block);
  const isLocal = meaning.kind === 'value' && meaning.expression.kind === 'local';
  if (!isLocal || !meaning.mutable) {
    context.report(
      'E040',
      node.target.span,
      `\`${text}\` cannot be assigned`,
      isLocal ? `declare it with var: \`var ${text} = ..\`` : undefined,
    );
    return undefined;
  }
  requireFit(value, meaning.expression.type, { block, span: node.value.span, target: `\`${text}\`` });
  return { kind: 'set_local', slot: (meaning.expression as LocalExpression).slot, value };
}

function assignGlobal(node: AssignmentStatement, value: PlanExpression, { context, scope }: Block): PlanStatement | undefined {
  const { text } = node.target;
  const symbol = context.symbols.find('value', text);
  if (!symbol) {
    const nearest = nearestName(text, [...scope.names(), ...context.symbols.names('value')]);
    context.report(
      'E034',
      node.target.span,
      `unknown variable \`${text}\``,
      nearest ? didYouMean(nearest) : `declare it: \`var ${text} = ..\``,
    );
    return undefined;
  }
  symbol.used = true;
  symbol.prepare();
  if (symbol.binding !== 'var' || symbol.index === null) {
    context.report(
      'E040',
      node.target.span,
      `\`${text}\` is declared with ${symbol.binding} and cannot be assigned`,
      'declare it with var',
    );
    return undefined;
  }
  requireAssignable(value, symbol.type, { context, span: node.value.span, target: `\`${text}\`` });
  return { kind: 'set_global', global: symbol.index, value };
}

function lowerIf(node: IfStatement, block: Block): PlanStatement {
  const branches = node.branches.map((branch) => ({
    condition: block.lowerBool(branch.condition, block.scope),
    body: lowerStatements(branch.body, inner(block)),
  }));
  return { kind: 'if', branches, otherwise: node.otherwise ? lowerStatements(node.otherwise, inner(block)) : [] };
}

function lowerFor(node: ForStatement, block: Block): PlanStatement {
  const iterable = block.lower(node.iterable, block.scope);
  const item = itemType(iterable.type);
  if (!item) {
    const found = printType(iterable.type);
    block.context.report('E062', node.iterable.span, `\`for\` goes over a range, an array, a map or an int, not ${found}`);
  }
  const body = inner({ ...block, loops: block.loops + 1 });
  const slot = block.scope.frame.allocate();
  body.scope.locals.set(node.variable.text, { expression: { kind: 'local', slot, type: item ?? ANY }, mutable: false });
  return { kind: 'for', slot, iterable, body: lowerStatements(node.body, body) };
}

function itemType(iterable: Type): Type | undefined {
  if (iterable.kind === 'any' || iterable.kind === 'null') return ANY;
  if (isNumeric(iterable)) return INT;
  if (iterable.kind === 'array') return iterable.item;
  return iterable.kind === 'map' || iterable.kind === 'record' ? arrayOf(ANY) : undefined;
}

function lowerWhile(node: WhileStatement, block: Block): PlanStatement {
  const condition = block.lowerBool(node.condition, block.scope);
  return { kind: 'while', condition, body: lowerStatements(node.body, inner({ ...block, loops: block.loops + 1 })) };
}

function lowerJump(
  node: { readonly kind: 'BreakStatement' | 'ContinueStatement'; readonly span: Span },
  block: Block,
): PlanStatement | undefined {
  const word = node.kind === 'BreakStatement' ? 'break' : 'continue';
  if (block.loops > 0) return { kind: word };
  block.context.report('E000', node.span, `\`${word}\` stands outside of a loop`);
  return undefined;
}

function lowerReturn(node: ReturnStatement, block: Block): PlanStatement {
  const value = node.value && block.lower(node.value, block.scope);
  block.returns.push({ type: value?.type ?? NULL, span: node.value?.span ?? node.span });
  return { kind: 'return', value };
}

function lowerEmit(node: EmitStatement, block: Block): PlanStatement | undefined {
  const { scope, context } = block;
  if (scope.emits) return lowerEmission(node, scope.emits, block);
  context.report('E096', node.span, '`emit` stands only in functions that `.process` calls');
  return undefined;
}

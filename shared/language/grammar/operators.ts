/** Folds the flat lists that the grammar reads into trees: operators by precedence, postfix chains, lambdas, conditionals. */
import type { Argument, BinaryOperator, Conditional, Expression, Identifier, Lambda, Span, UnaryOperator } from '../ast/nodes.ts';
import type { Problems } from './notes.ts';

/** Low to high; `is null` and `is not null` stand with the comparisons. */
export const precedence = {
  '..': 1,
  '..=': 1,
  '??': 2,
  or: 3,
  and: 4,
  not: 5,
  '==': 6,
  '!=': 6,
  '<': 6,
  '<=': 6,
  '>': 6,
  '>=': 6,
  in: 6,
  'not in': 6,
  'is null': 6,
  'is not null': 6,
  '|': 7,
  '^': 8,
  '&': 9,
  '<<': 10,
  '>>': 10,
  '+': 11,
  '-': 11,
  '*': 12,
  '/': 12,
  '%': 12,
  unary: 13,
  '**': 14,
} as const;

export const comparisonPrecedence = precedence['=='];
const rangePrecedence = precedence['..'];

type InfixOperator = BinaryOperator | '..' | '..=';
type NullTest = 'is null' | 'is not null';

interface PrefixMark {
  readonly operator: UnaryOperator;
  readonly start: number;
}
export type Operand = Expression | { readonly prefixes: readonly PrefixMark[]; readonly operand: Expression };
export type OperationTail =
  | { readonly operator: InfixOperator; readonly operand: Operand; readonly start: number }
  | { readonly operator: NullTest; readonly operand: null; readonly span: Span };

type Pending =
  | { readonly form: 'prefix'; readonly level: number; readonly mark: PrefixMark }
  | { readonly form: 'infix'; readonly level: number; readonly operator: InfixOperator }
  | { readonly form: 'test'; readonly level: number; readonly operator: NullTest; readonly end: number };

/** Two stacks: values read, and operators that wait for their right side. No recursion, so a chain may be any length. */
export function foldOperation(head: Operand, tail: readonly OperationTail[], problems: Problems): Expression {
  const alike = foldAlike(head, tail);
  if (alike) return alike;
  const folding = new Folding(problems);
  folding.operand(head);
  for (const item of tail) folding.tail(item);
  return folding.result();
}

/** One operator, or the same `and` or `or` throughout: nothing has to wait for what binds tighter. */
function foldAlike(head: Operand, tail: readonly OperationTail[]): Expression | undefined {
  const shared = tail[0]?.operator;
  if (!('kind' in head) || (tail.length > 1 && shared !== 'or' && shared !== 'and')) return undefined;
  let folded: Expression = head;
  for (const { operator, operand } of tail) {
    if (operator !== shared || operand === null || !('kind' in operand)) return undefined;
    folded = infix(operator as InfixOperator, folded, operand);
  }
  return folded;
}

class Folding {
  readonly #values: Expression[] = [];
  readonly #pending: Pending[] = [];
  readonly #problems: Problems;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  operand(operand: Operand): void {
    if ('kind' in operand) {
      this.#values.push(operand);
      return;
    }
    for (const mark of operand.prefixes) this.#prefix(mark);
    this.#values.push(operand.operand);
  }

  tail(item: OperationTail): void {
    const level = precedence[item.operator];
    this.#reduce(level, item.operator === '**');
    this.#refuseChain(level, item);
    if (item.operand === null) {
      this.#pending.push({ form: 'test', level, operator: item.operator, end: item.span.end });
      return;
    }
    this.#pending.push({ form: 'infix', level, operator: item.operator });
    this.operand(item.operand);
  }

  result(): Expression {
    this.#reduce(0, false);
    return this.#values[0] as Expression;
  }

  #prefix(mark: PrefixMark): void {
    const before = this.#pending.at(-1);
    const level = mark.operator === 'not' ? precedence.not : precedence.unary;
    if (before && before.level > level && mark.operator === 'not') {
      this.#problems.report(
        { start: mark.start, end: mark.start + 1 },
        '`not` binds less than the operator before it',
        'put the `not ..` in parentheses',
      );
    }
    this.#pending.push({ form: 'prefix', level, mark });
  }

  /** Completes what binds tighter than `level`, or as tight when it groups to the left. */
  #reduce(level: number, toTheRight: boolean): void {
    for (let top = this.#pending.at(-1); top; top = this.#pending.at(-1)) {
      const stays = top.level < level || (top.level === level && (toTheRight || isUnchained(level)));
      if (stays) return;
      this.#pending.pop();
      this.#complete(top);
    }
  }

  #refuseChain(level: number, item: OperationTail): void {
    if (!isUnchained(level) || this.#pending.at(-1)?.level !== level) return;
    const span = item.operand === null ? item.span : { start: item.start, end: startOf(item.operand) };
    if (level === rangePrecedence) this.#problems.report(span, 'ranges do not chain', 'put one of them in parentheses');
    else this.#problems.report(span, 'comparisons do not chain', chainHint(this.#values.at(-1)));
    const top = this.#pending.pop();
    if (top) this.#complete(top);
    // What was refused fits everything, so that one mistake is one error.
    const refused = this.#values.pop() as Expression;
    this.#values.push({ kind: 'NullLiteral', span: refused.span });
  }

  #complete(pending: Pending): void {
    const right = this.#values.pop() as Expression;
    if (pending.form === 'prefix') this.#values.push(unary(pending.mark, right));
    else if (pending.form === 'test') this.#values.push(nullTest(pending, right));
    else this.#values.push(infix(pending.operator, this.#values.pop() as Expression, right));
  }
}

/** `a == 1 & b == 2` reads as `a == (1 & b) == 2`. */
function chainHint(between: Expression | undefined): string {
  const operator = between?.kind === 'Binary' ? between.operator : undefined;
  if (operator === '&') return '`&` works on the bits of ints: write `and`';
  return operator === '|' ? '`|` works on the bits of ints: write `or`' : 'join them: `a < b and b < c`';
}

function isUnchained(level: number): boolean {
  return level === comparisonPrecedence || level === rangePrecedence;
}

function startOf(operand: Operand): number {
  return 'kind' in operand ? operand.span.start : (operand.prefixes[0] as PrefixMark).start;
}

function unary(mark: PrefixMark, operand: Expression): Expression {
  return { kind: 'Unary', span: { start: mark.start, end: operand.span.end }, operator: mark.operator, operand };
}

function nullTest(pending: { readonly operator: NullTest; readonly end: number }, operand: Expression): Expression {
  return { kind: 'IsNull', span: { start: operand.span.start, end: pending.end }, operand, negated: pending.operator === 'is not null' };
}

function infix(operator: InfixOperator, left: Expression, right: Expression): Expression {
  const span = { start: left.span.start, end: right.span.end };
  if (operator === '..' || operator === '..=') return { kind: 'Range', span, from: left, to: right, inclusive: operator === '..=' };
  return { kind: 'Binary', span, operator, left, right };
}

// ------------------------------------------------------------------------------------------------ chains

export type PostfixTail =
  | { readonly form: 'call'; readonly end: number; readonly arguments: readonly Argument[] }
  | { readonly form: 'index'; readonly end: number; readonly index: Expression }
  | { readonly form: 'slice'; readonly end: number; readonly from: Expression | null; readonly to: Expression | null }
  | { readonly form: 'member'; readonly end: number; readonly name: Identifier; readonly optional: boolean };

export function foldPostfix(head: Expression, tail: readonly PostfixTail[]): Expression {
  return tail.reduce(postfix, head);
}

export function postfix(object: Expression, tail: PostfixTail): Expression {
  const span = { start: object.span.start, end: tail.end };
  switch (tail.form) {
    case 'call':
      return { kind: 'Call', span, callee: object, arguments: tail.arguments };
    case 'index':
      return { kind: 'Index', span, object, index: tail.index };
    case 'slice':
      return { kind: 'Slice', span, object, from: tail.from, to: tail.to };
    case 'member':
      return { kind: 'Member', span, object, name: tail.name, optional: tail.optional };
  }
}

export interface LambdaHead {
  readonly start: number;
  readonly parameters: readonly Identifier[];
}

export function foldLambda(heads: readonly LambdaHead[], body: Lambda['body']): Expression {
  return heads.reduceRight<Expression>(
    (inner, { start, parameters }) => ({ kind: 'Lambda', span: { start, end: body.span.end }, parameters, body: inner }),
    body,
  );
}

export type ConditionalHead = Pick<Conditional, 'condition' | 'then'> & { readonly start: number };

export function foldConditional(heads: readonly ConditionalHead[], otherwise: Expression): Expression {
  return heads.reduceRight<Expression>(
    (inner, { start, condition, then }) => ({
      kind: 'Conditional',
      span: { start, end: otherwise.span.end },
      condition,
      then,
      otherwise: inner,
    }),
    otherwise,
  );
}

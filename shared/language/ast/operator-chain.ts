import type { Binary, Conditional, Expression } from './nodes.ts';

/** Operands of a chain, and cases of a conditional, that a plan nests in one another; longer ones are planned flat. */
export const nestedOperandsMax = 128;

/** `a - b + c` as it is read, from left to right: `first`, and each operator with what stands behind it. */
export interface OperatorChain {
  readonly first: Expression;
  /** The last one is the whole expression; `right` of each is its operand. */
  readonly links: readonly [Binary, ...Binary[]];
}

/** Takes apart what a tree of operators has nested to the left, without recursion: a chain may be any length. */
export function chainOf(node: Binary): OperatorChain {
  const links: [Binary, ...Binary[]] = [node];
  let first = node.left;
  for (; first.kind === 'Binary'; first = first.left) links.push(first);
  return { first, links: links.reverse() as [Binary, ...Binary[]] };
}

/** `a or b or c`: the operands of the operator of a node, without recursion; what binds tighter is one operand. */
export function operandsOf(node: Binary): readonly Expression[] {
  const operands = [node.right];
  let { left } = node;
  for (; left.kind === 'Binary' && left.operator === node.operator; left = left.left) operands.push(left.right);
  return [...operands, left].reverse();
}

/** `if a then b else if c then d else e`: the conditions with their values, and the last `else`, without recursion. */
export function casesOf(node: Conditional): { readonly cases: readonly Conditional[]; readonly otherwise: Expression } {
  const cases = [node];
  let { otherwise } = node;
  for (; otherwise.kind === 'Conditional'; otherwise = otherwise.otherwise) cases.push(otherwise);
  return { cases, otherwise };
}

/** A chain with its operands rewritten, from the first on; parts in which nothing changes stay the same objects. */
export function withOperands(node: Binary, rewrite: (operand: Expression) => Expression): Expression {
  const { first, links } = chainOf(node);
  return links.reduce((left, link) => {
    const right = rewrite(link.right);
    return left === link.left && right === link.right ? link : { ...link, left, right };
  }, rewrite(first));
}

/** The same of a conditional, from its last `else` on. */
export function withCases(node: Conditional, rewrite: (part: Expression) => Expression): Expression {
  const { cases, otherwise } = casesOf(node);
  return cases.reduceRight((rest, one) => {
    const condition = rewrite(one.condition);
    const then = rewrite(one.then);
    const isSame = condition === one.condition && then === one.then && rest === one.otherwise;
    return isSame ? one : { ...one, condition, then, otherwise: rest };
  }, rewrite(otherwise));
}

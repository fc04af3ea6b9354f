import { limits } from '../../limits.ts';
import type { Expression, Span } from '../ast/nodes.ts';
import { casesOf, chainOf, nestedOperandsMax } from '../ast/operator-chain.ts';

interface Waiting {
  readonly value: object;
  readonly depth: number;
}

/** How deep a long chain is planned: halves of a list that fits into a program, or the steps between two locals. */
const flatChainDepth = 20;

/**
 * The span of a node that has `limits.programTreeDepthMax` nodes around it, or undefined when there is none. Chains of operators
 * that are planned flat count as flat. Walks without recursion.
 */
export function tooDeepAt(root: unknown): Span | undefined {
  const waiting: Waiting[] = [];
  push(root, 0, waiting);
  for (let item = waiting.pop(); item; item = waiting.pop()) {
    const { value, depth } = item;
    if (depth > limits.programTreeDepthMax && 'span' in value) return value.span as Span;
    const flat = flatParts(value as { readonly kind?: unknown });
    if (flat) for (const part of flat) push(part, depth + flatChainDepth, waiting);
    else pushParts(value, depth, waiting);
  }
  return undefined;
}

function pushParts(value: object, depth: number, waiting: Waiting[]): void {
  const inner = Array.isArray(value) ? depth : depth + 1;
  for (const child of Object.values(value)) push(child, inner, waiting);
}

/** Only what can have parts, which spans have not. */
function push(value: unknown, depth: number, waiting: Waiting[]): void {
  if (typeof value === 'object' && value !== null && !('start' in value)) waiting.push({ value, depth });
}

/** The operands of a long chain, the parts of a long conditional. */
function flatParts(node: { readonly kind?: unknown }): readonly Expression[] | undefined {
  if (node.kind === 'Binary') {
    const { first, links } = chainOf(node as Extract<Expression, { kind: 'Binary' }>);
    return links.length > nestedOperandsMax ? [first, ...links.map(({ right }) => right)] : undefined;
  }
  if (node.kind !== 'Conditional') return undefined;
  const { cases, otherwise } = casesOf(node as Extract<Expression, { kind: 'Conditional' }>);
  return cases.length > nestedOperandsMax ? [...cases.flatMap(({ condition, then }) => [condition, then]), otherwise] : undefined;
}

import type { AnyNode } from '../ast/nodes.ts';
import type { FunctionSymbol, ValueSymbol } from './symbols.ts';
import { walk } from './walk.ts';

/** What reads values and calls functions of the program. */
export type Needing = ValueSymbol | FunctionSymbol;

/** What is done with each symbol of a walk over needs. */
export interface NeedsVisitor {
  /** Neither it nor what it needs is visited. */
  isKnown(symbol: Needing): boolean;
  /** What it needs comes next. */
  enter(symbol: Needing): void;
  /** What it needs is through. */
  leave(symbol: Needing): void;
}

/**
 * Visits a value or function and what it needs, deepest first, as a recursion would, without one. A name counts wherever
 * it stands, unless the declaration also has a parameter or local of that name.
 */
export function visitNeeds(first: Needing, visitor: NeedsVisitor): void {
  const open: { readonly symbol: Needing; readonly needs: Needing[] }[] = [];
  const seen = new Set<Needing>();
  const enter = (symbol: Needing): void => {
    if (seen.has(symbol) || (symbol !== first && visitor.isKnown(symbol))) return;
    seen.add(symbol);
    visitor.enter(symbol);
    open.push({ symbol, needs: namedIn(symbol) });
  };
  enter(first);
  for (let top = open.at(-1); top; top = open.at(-1)) {
    const next = top.needs.pop();
    if (next) enter(next);
    else {
      open.pop();
      visitor.leave(top.symbol);
    }
  }
}

/** The last named first. */
function namedIn({ node, module }: Needing): Needing[] {
  const names = new Set<string>();
  const bound = new Set<string>();
  walk(node, (part) => {
    const name = dottedName(part);
    if (name !== undefined) names.add(name);
    if (part !== node) for (const local of boundBy(part)) bound.add(local);
    return undefined;
  });
  if (node.kind === 'FunctionDeclaration') for (const { name } of node.parameters) bound.add(name.text);
  return [...names]
    .filter((name) => !bound.has(name))
    .flatMap((name) => (['value', 'function'] as const).flatMap((kind) => module.symbols.find(kind, name) ?? []))
    .reverse();
}

/** The names that a lambda, a `let`, a `var` or a loop introduces. */
function boundBy(node: AnyNode): readonly string[] {
  if (node.kind === 'Lambda') return node.parameters.map(({ text }) => text);
  if (node.kind === 'ForStatement') return [node.variable.text];
  return node.kind === 'BindingDeclaration' ? [node.name.text] : [];
}

/** `x` and `common.x`. */
function dottedName(node: AnyNode): string | undefined {
  if (node.kind === 'Name') return node.name;
  if (node.kind !== 'Member') return undefined;
  const parts = [node.name.text];
  let object = node.object;
  for (; object.kind === 'Member' && parts.length < 32; object = object.object) parts.push(object.name.text);
  return object.kind === 'Name' ? [...parts, object.name].reverse().join('.') : undefined;
}

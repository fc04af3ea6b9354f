import { limits } from '../../limits.ts';
import type { AnyNode } from '../ast/nodes.ts';
import { sizeOfType } from '../plan/type-size.ts';
import type { Type } from '../plan/types.ts';
import { ProgramTooLarge } from './budget.ts';
import type { CheckContext } from './context.ts';
import type { TypeSymbol } from './symbols.ts';
import { walk } from './walk.ts';

/** A type on the way through the types that it needs. */
interface Open {
  readonly symbol: TypeSymbol;
  readonly needs: TypeSymbol[];
  longest: number;
}

/**
 * Refuses types that stand in too long a row, each needing the next: by `extends`, as an alias or as a field. Walks without
 * recursion, so that preparing them may recurse.
 * @throws ProgramTooLarge which is E095
 */
export function refuseLongTypeChains(symbols: readonly TypeSymbol[], context: CheckContext): void {
  const lengths = new Map<TypeSymbol, number>();
  const open: Open[] = [];
  const enter = (symbol: TypeSymbol): void => {
    lengths.set(symbol, 0); // In a cycle, which is another mistake, it counts as the end.
    open.push({ symbol, needs: neededBy(symbol), longest: 0 });
  };
  for (const first of symbols) {
    if (!lengths.has(first)) enter(first);
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const next = top.needs.at(-1);
      if (next && !lengths.has(next)) enter(next);
      else if (next) {
        top.needs.pop();
        top.longest = Math.max(top.longest, lengths.get(next) as number);
      } else {
        open.pop();
        lengths.set(top.symbol, top.longest + 1);
        if (top.longest >= limits.typeChainMax) refuseLength(top.symbol, context);
      }
    }
  }
}

function refuseLength({ node, name, module }: TypeSymbol, context: CheckContext): never {
  const message = `\`${name}\` is the end of more than ${limits.typeChainMax} types in a row, each made of the next`;
  context.in(module).report('E095', node.name.span, message, 'declare its fields in it');
  throw new ProgramTooLarge('types');
}

/** The declared types that a type names. */
function neededBy({ node, module }: TypeSymbol): TypeSymbol[] {
  const names = new Set<string>();
  walk(node as AnyNode, (part) => {
    if (part.kind === 'NamedType') names.add(part.name);
    return undefined;
  });
  if (node.kind === 'EventDeclaration' && node.parent) names.add(node.parent.text);
  return [...names].flatMap((name) => module.symbols.find('type', name) ?? []);
}

/** @throws ProgramTooLarge for a declared type that is too deep or, written out, too large, which is E095 */
export function refuseLargeType(symbol: TypeSymbol, context: CheckContext): void {
  const { depth, parts } = sizeOfType(symbol.type);
  if (depth <= limits.typeDepthMax && parts <= limits.typePartsMax) return;
  const found =
    depth > limits.typeDepthMax
      ? `is ${depth} levels deep, and values have at most ${limits.typeDepthMax}`
      : `has ${parts} parts when written out, and at most ${limits.typePartsMax} can be checked`;
  context.report('E095', symbol.node.name.span, `the type \`${symbol.name}\` ${found}`, 'declare its inner parts as `any`');
  throw new ProgramTooLarge('types');
}

/** Whether a type that was found, not written, is better taken for `any` than carried along. */
export function isTooLargeToTell(type: Type): boolean {
  if (type.kind !== 'array' && type.kind !== 'map' && type.kind !== 'record') return false;
  const { depth, parts } = sizeOfType(type);
  return depth > limits.typeDepthMax || parts > limits.typePartsMax;
}

/** Rewrites the second spelling of operators, parameters and functions to the first. */
import type { AnyNode, Argument, Call, Expression, OperatorCall, Program } from '../ast/nodes.ts';
import { withCases, withOperands } from '../ast/operator-chain.ts';
import { walk } from '../ast/walk.ts';
import { aggregates, functions } from '../functions/index.ts';
import { findOperator } from '../operators/table.ts';

/**
 * The program with first spellings only; nodes keep their spans. A function's second spelling stays when the program
 * declares a function of that name, or imports names that are not visible here.
 */
export function firstSpellings(program: Program): Program {
  return rewrite(program, ownFunctions(program)) as Program;
}

/** Names of functions that may be the program's own; null when any may be. */
function ownFunctions(program: Program): ReadonlySet<string> | null {
  const names = new Set<string>();
  let imports = false;
  walk(program, (node) => {
    if (node.kind === 'FunctionDeclaration') names.add(node.name.text);
    if (node.kind === 'ImportDeclaration' && node.alias === null) imports = true;
    return node.kind === 'Program' || node.kind === 'ForDeclaration' || node.kind === 'IfDeclaration' ? undefined : 'skip';
  });
  return imports ? null : names;
}

/** Parts in which nothing changes stay the same objects. */
function rewrite(part: unknown, own: ReadonlySet<string> | null): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) {
    const items = part.map((item) => rewrite(item, own));
    return items.every((item, index) => item === part[index]) ? part : items;
  }
  const node = part as AnyNode;
  const operand = (one: Expression): Expression => rewrite(one, own) as Expression;
  if (node.kind === 'Binary') return withOperands(node, operand);
  if (node.kind === 'Conditional') return withCases(node, operand);
  const inner = rewriteProperties(part, own) as AnyNode;
  if (inner.kind === 'OperatorCall') return respellOperator(inner);
  return inner.kind === 'Call' ? respellCall(inner, own) : inner;
}

function rewriteProperties(part: object, own: ReadonlySet<string> | null): object {
  const entries = Object.entries(part).map(([key, value]) => [key, key === 'span' ? value : rewrite(value, own)] as const);
  return entries.every(([key, value]) => value === (part as Record<string, unknown>)[key]) ? part : Object.fromEntries(entries);
}

function respellOperator(call: OperatorCall): OperatorCall {
  const descriptor = findOperator(call.name.text);
  if (!descriptor) return call;
  const args = call.arguments.map((argument): Argument => {
    const { name } = argument;
    const parameter = name && descriptor.parameters.find(({ aliases }) => aliases?.includes(name.text));
    return name && parameter ? { ...argument, name: { ...name, text: parameter.name } } : argument;
  });
  return { ...call, name: { ...call.name, text: descriptor.name }, arguments: args };
}

function respellCall(call: Call, own: ReadonlySet<string> | null): Call {
  const { callee } = call;
  if (callee.kind === 'Name') return { ...call, callee: { ...callee, name: firstSpelling(callee.name, own) } };
  if (callee.kind !== 'Member') return call;
  return { ...call, callee: { ...callee, name: { ...callee.name, text: firstSpelling(callee.name.text, own) } } };
}

function firstSpelling(name: string, own: ReadonlySet<string> | null): string {
  if (own === null || own.has(name)) return name;
  return functions.get(name)?.name ?? aggregates.get(name)?.name ?? name;
}

import { ANY, isAssignable, printType } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import { withoutTypes } from './expressions/emissions.ts';
import { lowerBody, type Returned } from './expressions/statements.ts';
import { lowerBool, lowerExpression } from './lower.ts';
import type { CheckState } from './program-context.ts';
import { functionScope } from './scopes.ts';
import type { EmittedShape, FunctionSymbol } from './symbols.ts';
import { resolveType } from './type-expressions.ts';

const declared = new WeakSet<FunctionSymbol>();
const prepared = new WeakSet<FunctionSymbol>();

/** Types of the parameters and of the result; what has no type is `any`. */
export function declareFunction(symbol: FunctionSymbol, context: CheckContext): void {
  if (declared.has(symbol)) return;
  declared.add(symbol);
  const seen = new Set<string>();
  symbol.parameters = symbol.node.parameters.map(({ name, type }) => {
    if (seen.has(name.text)) context.report('E007', name.span, `the parameter \`${name.text}\` stands twice`);
    seen.add(name.text);
    return { name: name.text, type: type ? resolveType(type, context).type : ANY };
  });
  if (symbol.node.result) symbol.result = resolveType(symbol.node.result, context).type;
}

/** The body, unless that is done or under way. */
export function prepareFunction(symbol: FunctionSymbol, context: CheckContext, state: CheckState): void {
  declareFunction(symbol, context);
  // Within the body of another, its types are enough: its own body is lowered before or behind it.
  if (prepared.has(symbol) || state.nesting > 0) return;
  prepared.add(symbol);
  state.prepareInOrder(symbol, () => lowerFunction(symbol, context, state));
}

function lowerFunction(symbol: FunctionSymbol, context: CheckContext, state: CheckState): void {
  const emits: EmittedShape[] = [];
  state.table.ownEmits.set(symbol, emits);
  const { node } = symbol;
  const types = symbol.parameters.map(({ type }) => type);
  const { scope, frame } = functionScope(node.parameters, types);
  const { body, returns } = lowerBody(
    node.body,
    { ...scope, emits },
    {
      context,
      lower: (part, inner) => lowerExpression(part, inner, context),
      lowerBool: (part, inner) => lowerBool(part, inner, context),
    },
  );
  if (frame.doubts + frame.doubtfulCalls > 0) state.doubtful.add(emits);
  if (node.result) checkReturns(symbol, returns, context);
  const { name, parameters, result } = symbol;
  symbol.plan = { name, parameters, result, locals: frame.size, body, origin: context.origin(node.span) };
}

function checkReturns(symbol: FunctionSymbol, returns: readonly Returned[], context: CheckContext): void {
  for (const { type, span } of returns) {
    if (isAssignable(type, symbol.result)) continue;
    context.report('E062', span, `\`${symbol.name}\` gives ${printType(symbol.result)}, not ${printType(type)}`);
  }
}

/** Once all bodies are lowered: a function emits what the functions emit that it calls. */
export function completeEmits(state: CheckState): void {
  if ([...state.table.ownEmits.values()].every((own) => own.length === 0)) return;
  for (const symbol of state.table.functions) symbol.emits = emitsOf(symbol, state);
}

function emitsOf(first: FunctionSymbol, state: CheckState): EmittedShape[] {
  const called = new Set([first]);
  const found: EmittedShape[] = [];
  let isDoubtful = false;
  // A set goes on over what is added to it meanwhile.
  for (const symbol of called) {
    const own = state.table.ownEmits.get(symbol);
    if (own === undefined) continue;
    found.push(...own);
    isDoubtful ||= state.doubtful.has(own);
    for (const callee of state.calls.get(own) ?? []) called.add(callee);
  }
  return isDoubtful ? withoutTypes(found) : found;
}

/** Functions that emit stand in `.process` alone. */
export function refuseOutsideEmits(state: CheckState): void {
  for (const { callee, span, context } of state.outsideCalls) {
    if (callee.emits.length === 0) continue;
    context.report('E096', span, `\`${callee.name}\` emits events, so only \`.process\` can call it`, `write .process(${callee.name}(..))`);
  }
}

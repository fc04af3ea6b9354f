import type { GlobalPlan, LoadPlan } from '../plan/plan.ts';
import { ANY, isAssignable, printType } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import { failureOf, UNRESOLVED } from './expressions/fold.ts';
import { variableType } from './expressions/statements.ts';
import { lowerExpression } from './lower.ts';
import type { CheckState } from './program-context.ts';
import { programScope } from './scopes.ts';
import type { ValueSymbol } from './symbols.ts';
import { resolveType } from './type-expressions.ts';

const progress = new WeakMap<ValueSymbol, 'under way' | 'done'>();

/**
 * Type and value of a `const`, `let` or `var`. What is foldable becomes a constant, the rest a global, which stands behind
 * the globals it reads. A value that needs itself is E008.
 */
export function prepareValue(symbol: ValueSymbol, context: CheckContext, state: CheckState): void {
  const known = progress.get(symbol);
  if (known === 'under way' || (known === undefined && state.isWaiting(symbol)))
    context.report('E008', symbol.node.name.span, `\`${symbol.name}\` depends on itself`);
  if (known !== undefined || state.isWaiting(symbol)) return;
  if (state.nesting > nestingMax) {
    context.report('E008', symbol.node.name.span, `\`${symbol.name}\` stands in a cycle of values`);
    return;
  }
  state.prepareInOrder(symbol, () => lowerValue(symbol, context, state));
}

/** Values of a cycle wait for each other; a name that is a parameter can make what is none look like one. */
const nestingMax = 32;

function lowerValue(symbol: ValueSymbol, context: CheckContext, state: CheckState): void {
  // Preparing what it needs may have come upon it.
  if (progress.has(symbol)) return;
  progress.set(symbol, 'under way');
  const { node } = symbol;
  const declared = node.type ? resolveType(node.type, context).type : undefined;
  if (declared) symbol.type = declared;
  const value = lowerExpression(node.value, programScope(), context);
  if (declared && !isAssignable(value.type, declared)) {
    const message = `\`${symbol.name}\` is ${printType(declared)} and cannot hold ${printType(value.type)}`;
    context.report('E062', node.value.span, message);
  }
  const failure = failureOf(value);
  if (failure) context.report('E062', node.value.span, `\`${symbol.name}\` cannot be evaluated: ${failure.message}`);
  const isVariable = symbol.binding === 'var';
  symbol.type = declared ?? (isVariable ? variableType(value.type) : value.type.kind === 'null' ? ANY : value.type);
  symbol.value = value;
  if (!isVariable && value.kind === 'constant' && value !== UNRESOLVED) symbol.constant = value.value;
  else symbol.index = state.table.globals.push(globalPlan(symbol, value, context)) - 1;
  progress.set(symbol, 'done');
}

/** A `const` that cannot be folded (it calls a function of the program) is evaluated once at load, as a `let` is. */
function globalPlan(symbol: ValueSymbol, value: GlobalPlan['value'], context: CheckContext): GlobalPlan {
  return {
    name: symbol.name,
    binding: symbol.binding === 'var' ? 'var' : 'let',
    type: symbol.type,
    value,
    origin: context.origin(symbol.node.name.span),
  };
}

/** Top-level assignments, in written order. */
export function checkLoads(state: CheckState, contextIn: (module: ValueSymbol['module']) => CheckContext): LoadPlan[] {
  return state.table.loads.flatMap(({ node, module }) => {
    const context = contextIn(module);
    const { text, span } = node.target;
    const value = lowerExpression(node.value, programScope(), context);
    const symbol = context.symbols.find('value', text);
    if (!symbol) {
      context.report('E034', span, `unknown variable \`${text}\``, `declare it: \`var ${text} = ..\``);
      return [];
    }
    symbol.used = true;
    symbol.prepare();
    if (symbol.binding !== 'var' || symbol.index === null) {
      context.report('E040', span, `\`${text}\` is declared with ${symbol.binding} and cannot be assigned`, 'declare it with var');
      return [];
    }
    if (!isAssignable(value.type, symbol.type)) {
      context.report('E062', node.value.span, `\`${text}\` is ${printType(symbol.type)} and cannot hold ${printType(value.type)}`);
    }
    return [{ global: symbol.index, value, origin: context.origin(span) }];
  });
}

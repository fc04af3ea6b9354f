import type { Expression } from '../ast/nodes.ts';
import { operandsOf } from '../ast/operator-chain.ts';
import type { PlanExpression } from '../plan/plan.ts';
import { BOOL } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import { namedCall } from './expressions/closures.ts';
import { fold } from './expressions/fold.ts';
import { combined } from './expressions/long-chains.ts';
import { lowerBool } from './lower.ts';
import type { Meaning, NameScope, StepNames } from './scope.ts';
import { CURRENT, slotScope } from './scopes.ts';
import { unwrapped, walk } from './walk.ts';

/**
 * The `where` of a pattern step: all conditions joined by `and`, null when there is none. The candidate is the current row;
 * earlier aliases are slots. Inside a closure `b.f` is the previous capture, and a comparison that mentions it becomes an
 * `unless_first` node; in a comparison without any bare field `b.f` is the candidate (W035). E060 for what is no bool.
 *
 * A comparison is what `and`, `or` and `if` combine; a `not` belongs to it. `count(b)`, `sum(b.f)` and what else is defined of
 * no captures does not make a comparison wait for the first one.
 */
export function lowerStepCondition(conditions: readonly Expression[], names: StepNames, context: CheckContext): PlanExpression | null {
  const step = stepScopes(names);
  const lowered = conditions.map((condition) => lowerPart(condition, step, context));
  return lowered.reduce<PlanExpression | null>((all, next) => (all ? logical('and', all, next) : next), null);
}

interface StepScopes {
  /** The own alias of a closure is its previous capture here. */
  readonly previous: NameScope;
  /** The own alias is the candidate here. */
  readonly candidate: NameScope;
  readonly closure: { readonly alias: string; readonly slot: number } | null;
}

function stepScopes({ candidate, own, earlier, unbound }: StepNames): StepScopes {
  const base = slotScope(earlier, candidate, unbound);
  const asCandidate = own ? withAlias(base, own.alias, { kind: 'row', reference: CURRENT, shape: candidate }) : base;
  if (!own?.closure) return { previous: asCandidate, candidate: asCandidate, closure: null };
  const previous = withAlias(base, own.alias, { kind: 'closure', slot: own.slot, shape: candidate, running: true });
  return { previous, candidate: asCandidate, closure: own };
}

function withAlias(base: NameScope, alias: string, meaning: Meaning): NameScope {
  return {
    ...base,
    hasClosures: base.hasClosures === true || meaning.kind === 'closure',
    meaning: (name) => (name === alias ? meaning : base.meaning(name)),
    qualifiers: () => [alias, ...base.qualifiers()],
  };
}

function logical(operator: 'and' | 'or', left: PlanExpression, right: PlanExpression): PlanExpression {
  return fold({ kind: 'logical', operator, left, right, type: BOOL });
}

function lowerPart(node: Expression, step: StepScopes, context: CheckContext): PlanExpression {
  const inner = unwrapped(node);
  if (inner.kind === 'Binary' && (inner.operator === 'and' || inner.operator === 'or')) {
    const { operator } = inner;
    return combined(
      operandsOf(inner).map((operand) => lowerPart(operand, step, context)),
      (left, right) => logical(operator, left, right),
    );
  }
  if (inner.kind === 'Conditional') {
    const [condition, then, otherwise] = [inner.condition, inner.then, inner.otherwise].map((part) => lowerPart(part, step, context));
    return { kind: 'if', condition, then, otherwise, type: BOOL } as PlanExpression;
  }
  return lowerComparison(inner, step, context);
}

function lowerComparison(node: Expression, step: StepScopes, context: CheckContext): PlanExpression {
  const { closure } = step;
  if (!closure || !mentionsCapture(node, closure.alias)) return lowerBool(node, step.previous, context);
  if (!readsBareField(node, step.candidate, context)) {
    const { alias } = closure;
    const message = `without a bare field in this comparison, \`${alias}\` is the event being looked at, not the previous capture`;
    context.report('W035', node.span, message, `write the field bare, without \`${alias}.\``);
    return lowerBool(node, step.candidate, context);
  }
  return { kind: 'unless_first', slot: closure.slot, condition: lowerBool(node, step.previous, context), type: BOOL };
}

/** What these give is defined before the first capture too. */
const DEFINED_OF_NOTHING = new Set(['count', 'len', 'sum', 'collect', 'count_distinct', 'distinct_count']);

function mentionsCapture(node: Expression, alias: string): boolean {
  let found = false;
  walk(node, (part) => {
    if (part.kind === 'Name' && part.name === alias) found = true;
    if (part.kind === 'Member' && part.name.text === 'LEN') return false;
    return !(part.kind === 'Call' && DEFINED_OF_NOTHING.has(namedCall(part)?.name ?? ''));
  });
  return found;
}

function readsBareField(node: Expression, scope: NameScope, context: CheckContext): boolean {
  let found = false;
  const bound = new Set<string>();
  walk(node, (part) => {
    if (part.kind === 'Lambda') for (const parameter of part.parameters) bound.add(parameter.text);
    if (part.kind === 'Call' && part.callee.kind === 'Name') {
      found ||= part.arguments.some(({ value }) => isCondition(value) && readsBareField(value, scope, context));
      return false;
    }
    if (part.kind === 'Name' && !bound.has(part.name)) found ||= isBareField(part.name, scope, context);
    return undefined;
  });
  return found;
}

function isCondition(value: object & { readonly kind: string }): value is Expression {
  return value.kind !== 'Chain' && value.kind !== 'StepArgument' && value.kind !== 'PatternArgument';
}

function isBareField(name: string, scope: NameScope, context: CheckContext): boolean {
  const meaning = scope.meaning(name);
  if (meaning) return meaning.kind === 'value' && meaning.bare;
  return !context.symbols.find('value', name) && !context.symbols.isNamespace(name) && scope.openField(name) !== null;
}

import type {
  AndElement,
  Expression,
  GroupElement,
  NoneElement,
  OperatorCall,
  OrElement,
  Pattern,
  PatternElement,
  SequenceElement,
  StepElement,
} from '../../../ast/nodes.ts';
import { visitPattern } from '../../../ast/nodes.ts';
import { findOperator } from '../../../operators/table.ts';
import type { OperatorPlan, PatternNode, PlanExpression, StepPlan } from '../../../plan/plan.ts';
import { BOOL } from '../../../plan/types.ts';
import { lowerStepCondition } from '../../conditions.ts';
import { constantDurationMs } from '../../constants.ts';
import type { CheckContext } from '../../context.ts';
import type { AliasBinding, NameScope, RowShape, StepNames } from '../../scope.ts';
import { openShape, rowScope } from '../../scopes.ts';
import { fieldNamesOf } from '../../shapes.ts';
import { positionOf, reportUnknownOperator } from '../chain.ts';
import { resolveInput } from '../inputs.ts';
import { lowerLog, lowerPrint, lowerTap } from '../operators/effects.ts';
import type { LowerOperator } from '../operators/position.ts';
import { newPartition, type WrittenKey, writtenKeys } from '../partition.ts';
import type { StreamDraft } from '../program-streams.ts';
import { resultShape, type Stage } from '../stage.ts';

/** One written step with what is known of its events. */
export interface BuiltStep {
  readonly plan: StepPlan;
  readonly node: StepElement;
  readonly shape: RowShape;
  readonly carries: readonly string[];
  /** `.increasing(f)`, `.decreasing(f)` on the step. */
  readonly monotone: readonly OperatorCall[];
}

/** The steps of a pattern in written order and the tree over them. */
export interface BuiltPattern {
  readonly steps: readonly BuiltStep[];
  readonly root: PatternNode;
  /** `partition by` inside of parentheses; a pattern has one partition. */
  readonly innerKeys: readonly WrittenKey[];
  /** Aliases of absences, which nothing else can read. */
  readonly negated: readonly string[];
}

/** Builds the tree of a pattern; `context` looks at the file it stands in. */
export function buildElements(body: PatternElement, draft: StreamDraft, context: CheckContext): BuiltPattern {
  const building: Building = {
    draft,
    context,
    steps: [],
    innerKeys: [],
    aliases: aliasesOf(body),
    negated: negatedAliasesOf(body),
    names: new Set(),
  };
  const { node } = build(body, { building, visible: [], siblings: NO_SIBLINGS, repeated: false });
  return { steps: building.steps, root: node, innerKeys: building.innerKeys, negated: building.negated };
}

interface Building {
  readonly draft: StreamDraft;
  readonly context: CheckContext;
  readonly steps: BuiltStep[];
  readonly innerKeys: WrittenKey[];
  /** All aliases of the pattern, but those of absences. */
  readonly aliases: readonly string[];
  readonly negated: readonly string[];
  /** Aliases met so far. */
  readonly names: Set<string>;
}

/** Where an element stands: which aliases its steps may read, and whether a group around it repeats. */
interface Place {
  readonly building: Building;
  readonly visible: readonly AliasBinding[];
  /** Aliases of the other branches around it, with why they cannot be read. */
  readonly siblings: ReadonlyMap<string, string>;
  readonly repeated: boolean;
}

const NO_SIBLINGS: ReadonlyMap<string, string> = new Map();

interface Built {
  readonly node: PatternNode;
  /** The aliases that what follows may read, those of before included. */
  readonly visible: readonly AliasBinding[];
}

function build(element: PatternElement, place: Place): Built {
  return visitPattern<Built>(element, {
    StepElement: (step) => buildStep(step, place),
    SequenceElement: (sequence) => buildSequence(sequence, place),
    AndElement: (and) => buildBranches(and, 'and', place),
    OrElement: (or) => buildBranches(or, 'or', place),
    GroupElement: (group) => buildGroup(group, place),
    NoneElement: (none) => buildNone(none, place),
  });
}

function buildSequence({ items }: SequenceElement, place: Place): Built {
  const nodes: PatternNode[] = [];
  let { visible } = place;
  for (const item of items) {
    const built = build(item, { ...place, visible });
    nodes.push(...(built.node.kind === 'sequence' ? built.node.items : [built.node]));
    visible = built.visible;
  }
  const [only, second] = nodes;
  return { node: only && !second ? only : { kind: 'sequence', items: nodes }, visible };
}

/** Branches do not read each other: they complete in any order, or not at all. */
function buildBranches({ items }: AndElement | OrElement, kind: 'and' | 'or', place: Place): Built {
  const branches = items.map((item) => {
    refuseLeadingNot(item, { items, kind, context: place.building.context });
    return build(item, { ...place, siblings: siblingsOf(item, { items, kind, around: place.siblings }) });
  });
  const added = branches.flatMap((branch) => branch.visible.slice(place.visible.length));
  return { node: { kind, items: branches.map(({ node }) => node) }, visible: [...place.visible, ...added] };
}

function siblingsOf(
  branch: PatternElement,
  { items, kind, around }: { readonly items: readonly PatternElement[]; readonly kind: 'and' | 'or'; readonly around: Place['siblings'] },
): Place['siblings'] {
  const why =
    kind === 'and'
      ? 'branches complete in any order: compare in `.where` behind the pattern'
      : 'of the branches of `OR` a match has one: none reads another';
  const others = items.flatMap((item) => (item === branch ? [] : aliasesOf(item)));
  return new Map([...around, ...others.map((alias) => [alias, why] as const)]);
}

/** Why the aliases of absences cannot be read. */
export function unreadOf(negated: readonly string[]): ReadonlyMap<string, string> {
  return new Map(negated.map((alias) => [alias, `\`${alias}\` names a \`NOT\`: there is no event of it`]));
}

/** Aliases that a step cannot read, with why. */
function unboundAt({ building, visible, siblings }: Place, own: string | null): ReadonlyMap<string, string> {
  const known = new Set([own, ...visible.map(({ alias }) => alias)]);
  const later = building.aliases.map((alias) => [alias, `\`${alias}\` belongs to a later step, which has not happened yet`] as const);
  return new Map([...unreadOf(building.negated), ...later, ...siblings].filter(([alias]) => !known.has(alias)));
}

function buildGroup({ pattern, quantifier, within }: GroupElement, place: Place): Built {
  const { context } = place.building;
  const min = quantifier?.min ?? 1;
  const max = quantifier?.max ?? 1;
  refuseEmptyRange(quantifier, context);
  place.building.innerKeys.push(...keysOf(pattern, context));
  const { node, visible } = build(pattern.body, { ...place, repeated: place.repeated || max > 1 });
  const bounds = [pattern.within, within].flatMap((expression) => (expression ? [withinOf(expression, context)] : []));
  const withinMs = leastOf(bounds.filter((ms) => ms !== undefined));
  if (min === 1 && max === 1 && withinMs === null) return { node, visible };
  return { node: { kind: 'group', item: node, min, max, withinMs }, visible };
}

/** One absence of the events of several steps, each with a slot of its own; none of them is read later. */
function buildNone({ items, within }: NoneElement, place: Place): Built {
  const [slot = 0, ...others] = items.map((item) => {
    const { length } = place.building.steps;
    buildStep({ ...item, within }, place);
    return length;
  });
  return { node: { kind: 'step', slot, ...(others.length > 0 ? { others } : {}) }, visible: place.visible };
}

/** The duration of a `within` in ms; undefined when it is none. Below 0 (E081) nothing could match. */
export function withinOf(expression: Expression, context: CheckContext, rows?: () => NameScope): number | undefined {
  const ms = constantDurationMs(expression, context, rows);
  if (ms === undefined || ms >= 0) return ms;
  context.report('E081', expression.span, '`within` must be at least 0s');
  return 0;
}

/** The smallest of some bounds that must all hold; null when there is none. */
export function leastOf(bounds: readonly number[]): number | null {
  return bounds.length === 0 ? null : Math.min(...bounds);
}

/** The keys of `partition by k, ..`. */
export function keysOf(pattern: Pattern, context: CheckContext): readonly WrittenKey[] {
  return writtenKeys(
    pattern.partitionBy.map((value) => ({ kind: 'Argument', span: value.span, name: null, value, order: null })),
    context,
  );
}

function buildStep(step: StepElement, place: Place): Built {
  const { building, visible } = place;
  const { context, draft } = building;
  const slot = building.steps.length;
  const input = resolveInput(step.type, draft, context);
  const name = step.type.at(-1)?.text ?? '';
  const shape = input ? resultShape(input.stage) : openShape(name);
  const monotone = step.operators.filter(({ name: { text } }) => text === 'increasing' || text === 'decreasing');
  const { min, max } = bounds(step, monotone.length > 0, context);
  const closure = max > 1 || place.repeated;
  const alias = isAnonymous(step, building) ? null : (step.alias?.text ?? null);
  reportSecondAlias(step, building);
  const own = alias === null ? null : { alias, slot, closure };
  const names = { candidate: shape, own, earlier: visible, unbound: unboundAt(place, alias) };
  const where = lowerConditions(conditionsOf(step), names, { slot, context });
  const unresolved = { name, from: { kind: 'event', type: name, types: [name] }, operators: [] } as const;
  const plan: StepPlan = {
    slot,
    alias,
    fieldNames: alias === null || step.negated ? [] : fieldNamesOf(shape),
    input: input?.plan ?? unresolved,
    negated: step.negated,
    min,
    max,
    closure,
    where,
    withinMs: (step.within && withinOf(step.within, context, () => rowScope(shape, alias === null ? [] : [alias]))) ?? null,
    taps: tapsOf(step, { shape, alias, visible, building }),
    origin: context.origin(step.span),
  };
  building.steps.push({ plan, node: step, shape, carries: input?.stage.carries ?? [], monotone });
  const reads = alias === null || step.negated ? [] : [{ alias, slot, shape, closure, once: isOnce(step) }];
  return { node: { kind: 'step', slot }, visible: [...visible, ...reads] };
}

function bounds(step: StepElement, isMonotone: boolean, context: CheckContext): { readonly min: number; readonly max: number } {
  if (step.negated) return { min: 1, max: 1 };
  refuseEmptyRange(step.quantifier, context);
  if (step.quantifier) return { min: step.quantifier.min, max: step.quantifier.max };
  return { min: 1, max: step.all || isMonotone ? Number.POSITIVE_INFINITY : 1 };
}

/** `{1}` is one event, and no closure. */
export function isOnce({ quantifier }: StepElement): boolean {
  return quantifier?.min === 1 && quantifier.max === 1;
}

function refuseEmptyRange(quantifier: StepElement['quantifier'], context: CheckContext): void {
  if (!quantifier || (quantifier.max >= quantifier.min && quantifier.max > 0)) return;
  const why = quantifier.max === 0 ? 'takes no event at all' : 'has its bounds the wrong way round';
  context.report('E081', quantifier.span, `the quantifier \`${context.text(quantifier.span)}\` ${why}`);
}

/** `_` on several steps names none of them. */
function isAnonymous({ alias, negated }: StepElement, { aliases }: Building): boolean {
  return alias?.text === '_' && (negated || aliases.filter((each) => each === '_').length > 1);
}

function reportSecondAlias(step: StepElement, building: Building): void {
  const { alias } = step;
  const { names, context } = building;
  if (!alias || isAnonymous(step, building)) return;
  if (names.has(alias.text))
    context.report('E035', alias.span, `the alias \`${alias.text}\` names two steps`, 'give each step an alias of its own');
  names.add(alias.text);
}

/** `.filter(e)` on a step is a condition like `.where(e)`, which the parser has sorted already. */
function conditionsOf(step: StepElement): StepElement['where'] {
  const filters = step.operators.filter((operator) => findOperator(operator.name.text)?.name === 'where');
  const conditions = filters.flatMap((operator) => operator.arguments.map(({ value }) => value));
  return [
    ...step.where,
    ...conditions.filter((value) => value.kind !== 'Chain' && value.kind !== 'StepArgument' && value.kind !== 'PatternArgument'),
  ];
}

/** `x => e` is a condition whose `x` is the candidate. */
function lowerConditions(
  conditions: readonly Expression[],
  names: StepNames,
  at: { readonly slot: number; readonly context: CheckContext },
): PlanExpression | null {
  const plain = conditions.filter((condition) => condition.kind !== 'Lambda');
  const lambdas = conditions.flatMap((condition) => (condition.kind === 'Lambda' ? [condition] : []));
  const lowered = [
    lowerStepCondition(plain, names, at.context),
    ...lambdas.map(({ parameters: [parameter], body }) => {
      const own = parameter ? { alias: parameter.text, slot: at.slot, closure: false } : null;
      return lowerStepCondition([body], { ...names, own }, at.context);
    }),
  ];
  return lowered.reduce(
    (left, right) => (left && right ? { kind: 'logical', operator: 'and', left, right, type: BOOL } : (left ?? right)),
    null,
  );
}

const tapLowerings: Readonly<Record<string, LowerOperator>> = { tap: lowerTap, print: lowerPrint, log: lowerLog };
const stepOperators = new Set(['where', 'increasing', 'decreasing']);

interface TapPlace {
  readonly shape: RowShape;
  readonly alias: string | null;
  readonly visible: readonly AliasBinding[];
  readonly building: Building;
}

/** `.print .log .tap` see the step's event; any other operator on a step is E092. */
function tapsOf(step: StepElement, { shape, alias, visible, building: { draft, context } }: TapPlace): readonly OperatorPlan[] {
  const bindings = visible.map((binding) => ({ ...binding }));
  const rows: Stage['rows'] =
    bindings.length === 0
      ? { kind: 'plain', shape, aliases: alias === null ? [] : [alias] }
      : { kind: 'step', bindings, shape, aliases: alias === null ? [] : [alias] };
  const stage: Stage = { rows, window: 'none', aggregated: false, carries: [] };
  return step.operators.flatMap((node) => {
    const descriptor = findOperator(node.name.text);
    const lower = descriptor && tapLowerings[descriptor.name];
    if (!descriptor) reportUnknownOperator(node, context);
    else if (!lower && !stepOperators.has(descriptor.name)) {
      const hint = 'only `.where`, `.within`, `.print`, `.log` and `.tap` stand on a step; write others behind the pattern';
      context.report('E092', node.span, `\`.${descriptor.name}\` cannot stand before a \`->\``, hint);
    } else if (lower) {
      return lower(positionOf(node, descriptor, { context, draft, stage, partition: newPartition([], null) })).plans;
    }
    return [];
  });
}

interface Branches {
  readonly items: readonly PatternElement[];
  readonly kind: 'and' | 'or';
  readonly context: CheckContext;
}

function refuseLeadingNot(element: PatternElement, { items, kind, context }: Branches): void {
  const first = firstStep(element);
  if (!first?.negated) return;
  const absent = typeName(element);
  const [other = '..'] = items.filter((item) => item !== element).map(typeName);
  const hint =
    kind === 'or'
      ? `\`NOT\` is of \`${absent}\` alone: that none of them comes is \`A -> NOT (${items.map(typeName).join(' OR ')}) within 5m\`, ` +
        `one or the other \`(A -> NOT ${absent} within 5m) OR (A -> ${other})\``
      : `\`${other}\` with no \`${absent}\` before it is \`A -> NOT ${absent} -> ${other}\``;
  context.report('E000', first.span, 'a branch cannot begin with `NOT`', hint);
}

function typeName(element: PatternElement): string {
  return firstStep(element)?.type.at(-1)?.text ?? '..';
}

/** The step that the text of an element begins with. */
export function firstStep(element: PatternElement): StepElement | undefined {
  if (element.kind === 'StepElement') return element;
  const [first] = element.kind === 'GroupElement' ? [element.pattern.body] : element.items;
  return first && firstStep(first);
}

function aliasesOf(element: PatternElement): readonly string[] {
  return stepsOf(element).flatMap(({ alias, negated }) => (alias && !negated ? [alias.text] : []));
}

function negatedAliasesOf(element: PatternElement): readonly string[] {
  return stepsOf(element).flatMap(({ alias, negated }) => (alias && negated && alias.text !== '_' ? [alias.text] : []));
}

function stepsOf(element: PatternElement): readonly StepElement[] {
  if (element.kind === 'StepElement') return [element];
  return element.kind === 'GroupElement' ? stepsOf(element.pattern.body) : element.items.flatMap(stepsOf);
}

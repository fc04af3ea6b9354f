import type { PatternNode, PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';

/**
 * A pattern made ready to run: nested sequences are flat, groups that say nothing are gone, and every `NOT` is an item
 * of a sequence. Nodes are static; what a run has done with one of them is a `Residual`.
 */
export type TreeNode = StepNode | SequenceNode | AndNode | OrNode | GroupNode;

interface NodeBase<K extends string> {
  readonly kind: K;
  /** The slots of the steps below: `firstSlot <= slot < endSlot`. */
  readonly firstSlot: number;
  readonly endSlot: number;
  /** Matches zero events too. */
  readonly isNullable: boolean;
}

export interface StepNode extends NodeBase<'step'> {
  readonly slot: number;
  readonly min: number;
  readonly max: number;
  /** Own `within`: the gap to the step before it and between captures; Infinity = any. */
  readonly withinMs: number;
}

/** A `NOT`: no event of its steps while it is in force. */
export interface AbsenceNode extends NodeBase<'absence'> {
  readonly slots: readonly number[];
  /**
   * When it is over. `gap`: `withinMs` after the step before it, and then it has matched. `pattern`: at the deadline of
   * the whole pattern. `next_step`: when the next step that must come begins.
   */
  readonly until: 'gap' | 'pattern' | 'next_step';
  /** Infinity but for `gap`. */
  readonly withinMs: number;
}

export interface SequenceNode extends NodeBase<'sequence'> {
  readonly items: readonly (TreeNode | AbsenceNode)[];
}

export interface AndNode extends NodeBase<'and'> {
  readonly items: readonly TreeNode[];
}

export interface OrNode extends NodeBase<'or'> {
  readonly items: readonly TreeNode[];
}

export interface GroupNode extends NodeBase<'group'> {
  readonly item: TreeNode;
  readonly min: number;
  readonly max: number;
  /** Bounds its first to its last event; Infinity = any. */
  readonly withinMs: number;
  /** A `NOT` may be in force before a round has taken its first event. */
  readonly beginsWithNot: boolean;
}

/** A node that may hold several events, each of them (or each round of them) an element. */
export type ClosureNode = StepNode | GroupNode;

function isClosure(node: TreeNode): boolean {
  return (node.kind === 'step' || node.kind === 'group') && node.max > 1;
}

/** `{n}` is full as soon as it is complete. */
function isOpenWhenComplete(node: ClosureNode): boolean {
  return isClosure(node) && node.min < node.max;
}

export function buildPatternTree(plan: PatternPlan): TreeNode {
  return asOperand(build(plan.root, plan, true));
}

/** The closure written first, an outer one before those within it; null when the pattern has none. */
export function firstClosure(node: TreeNode | AbsenceNode): ClosureNode | null {
  if (node.kind === 'absence') return null;
  if ((node.kind === 'step' || node.kind === 'group') && node.max > 1) return node;
  for (const child of childrenOf(node)) {
    const found = firstClosure(child);
    if (found !== null) return found;
  }
  return null;
}

/**
 * The closure that ends the pattern: nothing that must come stands behind it, and no `NOT`. Of several in
 * branches the one written first, an outer one before those within it; null when none does.
 */
export function endingClosure(node: TreeNode | AbsenceNode): ClosureNode | null {
  switch (node.kind) {
    case 'absence':
      return null;
    case 'step':
      return isClosure(node) ? node : null;
    case 'group':
      return isClosure(node) ? node : endingClosure(node.item);
    case 'and':
    case 'or':
      return node.items.map(endingClosure).find((closure) => closure !== null) ?? null;
    case 'sequence':
      return endingClosureOfSequence(node);
  }
}

function endingClosureOfSequence({ items }: SequenceNode): ClosureNode | null {
  for (const item of items.toReversed()) {
    const found = endingClosure(item);
    if (found !== null || item.kind === 'absence' || !item.isNullable) return found;
  }
  return null;
}

/** The closures that can still take events when everything else of the pattern is through. */
export function closuresAtTheEnd(node: TreeNode | AbsenceNode): readonly ClosureNode[] {
  switch (node.kind) {
    case 'absence':
      return [];
    case 'step':
      return isOpenWhenComplete(node) ? [node] : [];
    case 'group':
      return isOpenWhenComplete(node) ? [node, ...closuresAtTheEnd(node.item)] : closuresAtTheEnd(node.item);
    case 'and':
    case 'or':
      return node.items.flatMap(closuresAtTheEnd);
    case 'sequence':
      return closuresAtTheEndOfSequence(node);
  }
}

function closuresAtTheEndOfSequence({ items }: SequenceNode): readonly ClosureNode[] {
  const found: ClosureNode[] = [];
  for (const item of [...items].reverse()) {
    found.push(...closuresAtTheEnd(item));
    if (!item.isNullable) break;
  }
  return found;
}

/** By slot: whether a match can hold several events there, so that it reads as a list. */
export function listSlots(root: TreeNode, slots: number): readonly boolean[] {
  const isList: boolean[] = new Array(slots).fill(false);
  const visit = (node: TreeNode | AbsenceNode, isRepeated: boolean): void => {
    if (node.kind === 'absence') return;
    const repeats = isRepeated || isClosure(node);
    if (node.kind === 'step') isList[node.slot] = repeats;
    for (const child of childrenOf(node)) visit(child, repeats);
  };
  visit(root, false);
  return isList;
}

/** Whether it has a `within` of its own, or a `NOT` with one. */
export function isTimed(node: TreeNode | AbsenceNode): boolean {
  switch (node.kind) {
    case 'step':
    case 'absence':
      return node.withinMs < Infinity;
    case 'group':
      return node.withinMs < Infinity || isTimed(node.item);
    default:
      return node.items.some(isTimed);
  }
}

export function childrenOf(node: TreeNode): readonly (TreeNode | AbsenceNode)[] {
  if (node.kind === 'step') return [];
  return node.kind === 'group' ? [node.item] : node.items;
}

function build(node: PatternNode, plan: PatternPlan, isLast: boolean): TreeNode | AbsenceNode {
  switch (node.kind) {
    case 'step': {
      const step = plan.steps[node.slot] as StepPlan;
      return step.negated ? buildAbsence(step, node.others ?? [], isLast) : buildStep(step);
    }
    case 'sequence':
      return buildSequence(node.items.map((item, index) => build(item, plan, isLast && index === node.items.length - 1)));
    case 'and':
    case 'or':
      return buildChoice(
        node.kind,
        node.items.map((item) => asOperand(build(item, plan, isLast))),
      );
    case 'group': {
      const isPlain = node.min === 1 && node.max === 1 && node.withinMs === null;
      const item = build(node.item, plan, isLast && node.max === 1);
      return isPlain ? item : buildGroup(asOperand(item), node.min, node.max, node.withinMs);
    }
  }
}

function buildStep({ slot, min, max, withinMs }: StepPlan): StepNode {
  return { kind: 'step', firstSlot: slot, endSlot: slot + 1, isNullable: min === 0, slot, min, max, withinMs: withinMs ?? Infinity };
}

/** The last `NOT` of a pattern waits for its own deadline or else the pattern's; any other one without is held until the next step. */
function buildAbsence({ slot, withinMs }: StepPlan, others: readonly number[], isLast: boolean): AbsenceNode {
  const until = withinMs !== null ? 'gap' : isLast ? 'pattern' : 'next_step';
  return {
    kind: 'absence',
    firstSlot: slot,
    endSlot: slot + 1 + others.length,
    isNullable: until === 'next_step',
    slots: [slot, ...others],
    until,
    withinMs: withinMs ?? Infinity,
  };
}

function buildSequence(items: readonly (TreeNode | AbsenceNode)[]): TreeNode | AbsenceNode {
  const flat = items.flatMap((item) => (item.kind === 'sequence' ? item.items : [item]));
  const only = flat[0];
  if (only !== undefined && flat.length === 1) return only;
  return { kind: 'sequence', ...extentOf(flat), isNullable: flat.every((item) => item.isNullable), items: flat };
}

function buildChoice(kind: 'and' | 'or', items: readonly TreeNode[]): TreeNode {
  const only = items[0];
  if (only !== undefined && items.length === 1) return only;
  const isNullable = kind === 'and' ? items.every((item) => item.isNullable) : items.some((item) => item.isNullable);
  return { kind, ...extentOf(items), isNullable, items };
}

function buildGroup(item: TreeNode, min: number, max: number, withinMs: number | null): GroupNode {
  const isNullable = min === 0 || item.isNullable;
  return {
    ...{ kind: 'group', ...extentOf([item]), isNullable, item, min: isNullable ? 0 : min, max },
    ...{ withinMs: withinMs ?? Infinity, beginsWithNot: beginsWithNot(item) },
  };
}

function beginsWithNot(node: TreeNode | AbsenceNode): boolean {
  switch (node.kind) {
    case 'absence':
      return true;
    case 'step':
      return false;
    case 'group':
      return node.beginsWithNot;
    case 'and':
    case 'or':
      return node.items.some(beginsWithNot);
    case 'sequence': {
      const first = node.items.findIndex((item) => item.kind === 'absence' || !item.isNullable);
      return node.items.some((item, index) => (first === -1 || index <= first) && beginsWithNot(item));
    }
  }
}

/** Behind an operator of two sides, in a group and as a whole pattern a `NOT` stands in a sequence of its own. */
function asOperand(node: TreeNode | AbsenceNode): TreeNode {
  if (node.kind !== 'absence') return node;
  return { kind: 'sequence', firstSlot: node.firstSlot, endSlot: node.endSlot, isNullable: node.isNullable, items: [node] };
}

function extentOf(items: readonly (TreeNode | AbsenceNode)[]): { readonly firstSlot: number; readonly endSlot: number } {
  return { firstSlot: items[0]?.firstSlot ?? 0, endSlot: items.at(-1)?.endSlot ?? 0 };
}

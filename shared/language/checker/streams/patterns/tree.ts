import type { PatternNode, StepPlan } from '../../../plan/plan.ts';

type Steps = readonly StepPlan[];

const stepAt = (steps: Steps, slot: number): StepPlan => steps[slot] as StepPlan;

/** The slots whose event can be the last of a match. */
export function lastSlots(node: PatternNode, steps: Steps): readonly number[] {
  switch (node.kind) {
    case 'step':
      return stepAt(steps, node.slot).negated ? [] : [node.slot];
    case 'sequence':
      return lastOfSequence(node.items, steps);
    case 'group':
      return lastSlots(node.item, steps);
    default:
      return node.items.flatMap((item) => lastSlots(item, steps));
  }
}

function lastOfSequence(items: readonly PatternNode[], steps: Steps): readonly number[] {
  const slots: number[] = [];
  for (const item of items.toReversed()) {
    slots.push(...lastSlots(item, steps));
    if (!canBeEmpty(item, steps)) break;
  }
  return slots;
}

/** Whether a node can be passed without an event of its own: optional steps, `NOT`. */
function canBeEmpty(node: PatternNode, steps: Steps): boolean {
  switch (node.kind) {
    case 'step':
      return stepAt(steps, node.slot).negated || stepAt(steps, node.slot).min === 0;
    case 'group':
      return node.min === 0 || canBeEmpty(node.item, steps);
    case 'or':
      return node.items.some((item) => canBeEmpty(item, steps));
    default:
      return node.items.every((item) => canBeEmpty(item, steps));
  }
}

/** A closure ends the pattern: nothing that must come stands behind it. An absence does. */
export function endsInClosure(node: PatternNode, steps: Steps): boolean {
  switch (node.kind) {
    case 'step':
      return hasClosure(node, steps);
    case 'group':
      return node.max > 1 || endsInClosure(node.item, steps);
    case 'sequence':
      return sequenceEndsInClosure(node.items, steps);
    default:
      return node.items.some((item) => endsInClosure(item, steps));
  }
}

/** Whether anything in the pattern may come several times. */
export function hasClosure(node: PatternNode, steps: Steps): boolean {
  switch (node.kind) {
    case 'step':
      return !stepAt(steps, node.slot).negated && stepAt(steps, node.slot).max > 1;
    case 'group':
      return node.max > 1 || hasClosure(node.item, steps);
    default:
      return node.items.some((item) => hasClosure(item, steps));
  }
}

function sequenceEndsInClosure(items: readonly PatternNode[], steps: Steps): boolean {
  for (const item of items.toReversed()) {
    if (endsInClosure(item, steps)) return true;
    if (isAbsence(item, steps) || !canBeEmpty(item, steps)) return false;
  }
  return false;
}

function isAbsence(node: PatternNode, steps: Steps): boolean {
  return node.kind === 'step' && stepAt(steps, node.slot).negated;
}

/** The steps at the end of the pattern that are absences, last first, and what stands before them. */
export function trailingAbsences(root: PatternNode, steps: Steps): { readonly absences: Steps; readonly before: PatternNode | undefined } {
  const items = root.kind === 'sequence' ? root.items : [root];
  const end = items.findLastIndex((item) => !isAbsence(item, steps)) + 1;
  const absences = items.slice(end).flatMap((item) => (item.kind === 'step' ? [stepAt(steps, item.slot)] : []));
  return { absences: absences.toReversed(), before: items[end - 1] };
}

/** A trailing `X?`: the match is complete without it, so it never captures. */
export function trailingOptional(root: PatternNode, steps: Steps): StepPlan | undefined {
  const last = root.kind === 'sequence' ? root.items.at(-1) : root;
  if (last?.kind === 'group' && last.max === 1) return trailingOptional(last.item, steps);
  if (last?.kind !== 'step') return undefined;
  const step = stepAt(steps, last.slot);
  return step.min === 0 && step.max === 1 && !step.negated ? step : undefined;
}

/** Every step but the first has a bound of its own on the gap before it, so no run can wait for ever. */
export function everyGapIsBounded(root: PatternNode, steps: Steps): boolean {
  if (root.kind === 'group') return root.withinMs !== null || (root.max === 1 && everyGapIsBounded(root.item, steps));
  if (root.kind === 'step') return stepAt(steps, root.slot).max === 1;
  if (root.kind !== 'sequence') return false;
  return root.items.every((item, index) => {
    if (item.kind === 'step') return stepAt(steps, item.slot).withinMs !== null || (index === 0 && stepAt(steps, item.slot).max === 1);
    return item.kind === 'group' && item.withinMs !== null && index === 0;
  });
}

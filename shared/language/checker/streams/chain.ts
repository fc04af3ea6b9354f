import type { OperatorCall } from '../../ast/nodes.ts';
import { foreignOperator } from '../../diagnostics/foreign-words.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import type { OperatorDescriptor } from '../../operators/descriptor.ts';
import { findOperator, operatorNames, refusedOperators } from '../../operators/table.ts';
import type { OperatorPlan } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import { bindArguments } from './operator-arguments.ts';
import { lowerEnrich, lowerScore } from './operators/analytics.ts';
import { lowerAlert, lowerLog, lowerPrint, lowerProcess, lowerTap, lowerTo } from './operators/effects.ts';
import { lowerFork } from './operators/fork.ts';
import type { ChainStart, LowerOperator, Position } from './operators/position.ts';
import { lowerEmit, lowerHaving, lowerMap, lowerSelect, lowerWhere } from './operators/rows.ts';
import { lowerConcurrent, lowerContext } from './operators/structure.ts';
import {
  lowerAggregate,
  lowerDedupe,
  lowerDistinct,
  lowerFirst,
  lowerLast,
  lowerLimit,
  lowerOrderBy,
  lowerThrottle,
  lowerWindow,
  lowerWindowPattern,
} from './operators/windows.ts';
import type { Lowered } from './program-streams.ts';
import { isSetting } from './settings.ts';
import { type Stage, scopeOf, withAdded } from './stage.ts';

/** Operators that act on rows, by name. Those of sources, patterns and whole streams are taken out before. */
const lowerings: Readonly<Record<string, LowerOperator>> = {
  where: lowerWhere,
  having: lowerHaving,
  select: lowerSelect,
  map: lowerMap,
  emit: lowerEmit,
  window: lowerWindow,
  aggregate: lowerAggregate,
  pattern: lowerWindowPattern,
  order_by: lowerOrderBy,
  limit: lowerLimit,
  first: lowerFirst,
  last: lowerLast,
  distinct: lowerDistinct,
  dedupe: lowerDedupe,
  throttle: lowerThrottle,
  process: lowerProcess,
  tap: lowerTap,
  print: lowerPrint,
  log: lowerLog,
  alert: lowerAlert,
  to: lowerTo,
  fork: lowerFork,
  concurrent: lowerConcurrent,
  context: lowerContext,
  enrich: lowerEnrich,
  score: lowerScore,
};

/**
 * Lowers the operators of a chain in written order; each sees the rows that the one before it gives. What an operator that is refused
 * would have given is not known, so nothing is said about fields behind it.
 */
export function lowerChain({ calls, stage: start, partition, draft, context, inBranch }: ChainStart): Lowered<Stage> {
  const plans: OperatorPlan[] = [];
  let stage = start;
  calls.forEach((node, index) => {
    context.spend('parts', 1, node.span);
    const descriptor = findOperator(node.name.text);
    const lower = descriptor && lowerings[descriptor.name];
    if (!descriptor) {
      reportUnknownOperator(node, context);
      stage = withAdded(stage, { open: true });
    } else if (isSetting(node)) refuseSettingInBranch(node, { inBranch, context });
    else if (!lower) {
      refusePlace(node, descriptor, context);
      stage = withAdded(stage, { open: true });
    } else {
      const reached = stage;
      const call = { ...bindArguments(node, descriptor, context), rows: () => scopeOf(reached) };
      const lowered = lower({ call, context, draft, stage, partition, before: plans, behind: calls.slice(index + 1), lowerChain });
      if (lowered.absorbsLast) plans.pop();
      plans.push(...lowered.plans);
      stage = lowered.stage;
    }
  });
  return { plans, stage };
}

/** E091, with the nearest name or what to write for an operator of other languages. */
export function reportUnknownOperator(node: OperatorCall, context: CheckContext): void {
  const name = node.name.text;
  const refused = refusedOperators.find((each) => each.name === name);
  const nearest = nearestName(name, operatorNames);
  context.report(
    'E091',
    node.name.span,
    `there is no operator \`.${name}\``,
    refused?.hint ?? foreignOperator(name) ?? (nearest ? `did you mean \`.${nearest}\`?` : undefined),
  );
}

function refuseSettingInBranch(
  node: OperatorCall,
  { inBranch, context }: { readonly inBranch: boolean; readonly context: CheckContext },
): void {
  if (!inBranch || node.name.text === 'partition_by') return;
  context.report(
    'E092',
    node.span,
    `\`.${node.name.text}\` applies to the whole stream and cannot stand in a branch`,
    'write it before `.fork`',
  );
}

/** E020 for operators of patterns, E092 for others, at a place where they mean nothing. */
export function refusePlace(node: OperatorCall, descriptor: OperatorDescriptor, context: CheckContext): void {
  const name = descriptor.name;
  if (descriptor.family === 'patterns') {
    context.report('E020', node.span, `\`.${name}\` needs a pattern, and this source is none`, patternHint(name));
    return;
  }
  context.report('E092', node.span, `\`.${name}\` cannot stand here`, placeHint(descriptor));
}

function patternHint(name: string): string {
  return name === 'within' ? 'write a pattern (`A as a -> B as b .within(10s)`), or `.window(10s)`' : 'write a pattern: `A as a -> B as b`';
}

function placeHint({ name, places }: OperatorDescriptor): string | undefined {
  if (places.includes('pattern')) return `write it right behind a pattern: \`A+ as a .${name}(..)\``;
  if (places.includes('join')) return 'it belongs to a join: `join(A, B).on(A.k == B.k)`';
  return places.includes('source') ? `write it right behind an event type: \`X.${name}(..)\`` : undefined;
}

/** For operators that other modules lower at a place of their own. */
export function positionOf(node: OperatorCall, descriptor: OperatorDescriptor, start: Omit<ChainStart, 'calls' | 'inBranch'>): Position {
  const call = bindArguments(node, descriptor, start.context);
  return {
    call,
    context: start.context,
    draft: start.draft,
    stage: start.stage,
    partition: start.partition,
    before: [],
    behind: [],
    lowerChain,
  };
}

import type { Argument } from '../../../ast/nodes.ts';
import type { ForkPlan } from '../../../plan/plan.ts';
import { unionShape } from '../../scopes.ts';
import { resolvePartition } from '../partition.ts';
import { branchPartition } from '../settings.ts';
import { givenShape, plainStage, resultShape, type Stage, scopeOf } from '../stage.ts';
import { type LowerOperator, type Position, planOf } from './position.ts';

/** `.fork(name: .op().op(), ..)`: what follows sees the rows of every branch. */
export const lowerFork: LowerOperator = (at) => {
  const branches: { readonly plan: ForkPlan['branches'][number]; readonly stage: Stage }[] = [];
  for (const argument of at.call.rest) {
    const name = argument.name?.text ?? '';
    if (isFree(name, argument, at)) branches.push(...lowerBranch(argument, name, at));
  }
  const plan = planOf(at, 'fork', { branches: branches.map((branch) => branch.plan) });
  return { plans: [plan], stage: branches.length > 0 ? joinBranches(branches.map((branch) => branch.stage)) : at.stage };
};

/** Whether a branch can have the name; else says why not. */
function isFree(name: string, { span }: Argument, { draft, context }: Position): boolean {
  if (name === 'late')
    context.report('E081', span, `a branch cannot be called \`late\`: \`${draft.symbol.name}.late\` is what comes too late`);
  else if (draft.branchNames.has(name)) context.report('E081', span, `branch \`${name}\` is given twice`);
  else return true;
  return false;
}

function lowerBranch(
  { value, span }: Argument,
  name: string,
  at: Position,
): { readonly plan: ForkPlan['branches'][number]; readonly stage: Stage }[] {
  const { context, draft } = at;
  draft.branchNames.add(name);
  if (value.kind !== 'Chain') {
    context.report('E081', span, 'a branch is a chain of operators', `write \`${name}: .where(..).emit(..)\``);
    return [];
  }
  const partition = branchPartition(at.partition, value.operators, context);
  const { plans, stage } = at.lowerChain({ calls: value.operators, stage: at.stage, partition, draft, context, inBranch: true });
  if (partition.isOwn) resolvePartition(partition, () => scopeOf(at.stage));
  draft.branches.set(name, { shape: givenShape(stage, span, context), carries: stage.carries });
  return [{ plan: { name, operators: plans }, stage }];
}

function joinBranches(stages: readonly Stage[]): Stage {
  const shape = { ...unionShape(stages.map(resultShape)), description: 'the results of `.fork`' };
  const aliases = stages.flatMap(({ rows }) => (rows.kind === 'plain' ? rows.aliases : []));
  const carries = [...new Set(stages.flatMap((stage) => stage.carries))];
  const windowed = stages.every((stage) => stage.window === stages[0]?.window);
  return {
    ...plainStage(shape, [...new Set(aliases)], carries),
    window: windowed ? (stages[0]?.window ?? 'none') : 'aggregated',
    aggregated: stages.some((stage) => stage.aggregated),
  };
}

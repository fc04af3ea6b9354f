import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';

type Kind = OperatorPlan['kind'];

/** What the engine knows of every operator of a kind. Whoever asks about operators asks here. */
interface OperatorFacts {
  /** May hold a row back where another passes: what a trace calls BLOCK. */
  readonly holdsBack?: true;
  /** May have a deadline. */
  readonly waits?: true;
  /** Keeps nothing and waits for nothing: in generated code it is a few statements that give at most one row for a row. */
  readonly isStatements?: true;
  /** Hands on the row as it came, if at all. */
  readonly keepsRow?: true;
  /** Has state that stands in a kernel, which takes rows by columns or whole. */
  readonly hasKernel?: true;
  /** Follows the runs of the pattern at the head of its stream, not only its matches. */
  readonly followsRuns?: true;
  /** Puts rows together, those of each key by themselves. */
  readonly gathers?: true;
  /** What it hands on may stand for many rows, of whose causes it names the first and the last. */
  readonly standsForMany?: true;
  /** Acts when a window before it ends. */
  readonly actsAtWindowEnd?: true;
}

/** Total: a new kind does not compile until it stands here. */
const facts: { readonly [K in Kind]: OperatorFacts } = {
  filter: { holdsBack: true, isStatements: true, keepsRow: true },
  select: { isStatements: true },
  map: {},
  emit: { isStatements: true },
  window: { waits: true, hasKernel: true, gathers: true },
  aggregate: { waits: true, hasKernel: true, gathers: true, standsForMany: true },
  window_aggregate: { actsAtWindowEnd: true, standsForMany: true },
  order_by: { actsAtWindowEnd: true },
  limit: { holdsBack: true, waits: true },
  last: { actsAtWindowEnd: true },
  distinct: { holdsBack: true, waits: true },
  dedupe: { holdsBack: true, waits: true },
  throttle: { holdsBack: true, waits: true },
  process: {},
  tap: {},
  alert: {},
  to: {},
  fork: { waits: true },
  context: { isStatements: true, keepsRow: true },
  trend_aggregate: { followsRuns: true, standsForMany: true },
  forecast: { waits: true, followsRuns: true },
  enrich: { waits: true, actsAtWindowEnd: true },
  score: { waits: true, actsAtWindowEnd: true },
};

/** Whether an operator may have a deadline. */
export function isWaiting({ kind }: OperatorPlan): boolean {
  return facts[kind].waits === true;
}

/** Whether a row that comes to an operator may end there. */
export function isHoldingBack({ kind }: OperatorPlan): boolean {
  return facts[kind].holdsBack === true;
}

/** Whether generated code has statements for it, and nothing of it is there between two rows. */
export function isStatements({ kind }: OperatorPlan): boolean {
  return facts[kind].isStatements === true;
}

export function isKeepingRow({ kind }: OperatorPlan): boolean {
  return facts[kind].keepsRow === true;
}

export function hasKernel({ kind }: OperatorPlan): boolean {
  return facts[kind].hasKernel === true;
}

export function isGathering({ kind }: OperatorPlan): boolean {
  return facts[kind].gathers === true;
}

/** Whether a row that it hands on may stand for many. */
export function isStandingForMany(operator: OperatorPlan): boolean {
  if (operator.kind === 'window') return operator.aggregate !== null || operator.predicates.length > 0;
  return facts[operator.kind].standsForMany === true;
}

/** Whether it, or an operator inside it, follows the runs of a pattern. */
export function isFollowingRuns(operator: OperatorPlan): boolean {
  if (operator.kind === 'fork') return operator.branches.some((branch) => branch.operators.some(isFollowingRuns));
  return facts[operator.kind].followsRuns === true;
}

/** Whether it, or an operator inside it, does something when a window ends. */
export function isActingAtWindowEnd(operator: OperatorPlan): boolean {
  if (operator.kind === 'fork') return operator.branches.some((branch) => branch.operators.some(isActingAtWindowEnd));
  return facts[operator.kind].actsAtWindowEnd === true || ('extent' in operator && operator.extent === 'window');
}

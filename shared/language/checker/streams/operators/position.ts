import type { OperatorCall } from '../../../ast/nodes.ts';
import type { OperatorPlan } from '../../../plan/plan.ts';
import type { CheckContext } from '../../context.ts';
import type { BoundCall } from '../operator-arguments.ts';
import { type Partition, partitionAt } from '../partition.ts';
import type { Lowered, StreamDraft } from '../program-streams.ts';
import type { Stage } from '../stage.ts';
import { isWrittenPlainly, RowOperator } from './row-operator.ts';

/** One operator in its chain. */
export interface Position {
  readonly call: BoundCall;
  readonly context: CheckContext;
  readonly draft: StreamDraft;
  /** The rows that reach it. */
  readonly stage: Stage;
  readonly partition: Partition;
  /** What stands before it in this chain, lowered. */
  readonly before: readonly OperatorPlan[];
  /** What is written behind it in this chain. */
  readonly behind: readonly OperatorCall[];
  /** Lowers a branch. */
  readonly lowerChain: LowerChain;
}

/** Where a chain stands: what reaches its first operator, and under which key it keeps state. */
export interface ChainStart {
  readonly calls: readonly OperatorCall[];
  readonly stage: Stage;
  readonly partition: Partition;
  readonly draft: StreamDraft;
  readonly context: CheckContext;
  /** Settings of the whole stream have been read; in a branch only `.partition_by` may stand. */
  readonly inBranch: boolean;
}

export type LowerChain = (start: ChainStart) => Lowered<Stage>;

export interface LoweredOperator extends Lowered<Stage> {
  /** The last plan before it is absorbed into `plans`. */
  readonly absorbsLast?: boolean;
}

/** How one operator becomes its plan; what is wrong is reported, and the chain goes on as well as it can. */
export type LowerOperator = (at: Position) => LoweredOperator;

type Parts<K extends OperatorPlan['kind']> = Omit<
  Extract<OperatorPlan, { kind: K }>,
  'kind' | 'text' | 'fingerprint' | 'origin' | 'partition'
>;

/** A plan with its text, fingerprint and origin. */
export function planOf<K extends OperatorPlan['kind']>(at: Position, kind: K, parts: Parts<K>): OperatorPlan {
  const { context, call } = at;
  const fingerprint = context.fingerprint({ kind, ...parts });
  return {
    kind,
    ...parts,
    text: operatorText(call.node, context),
    fingerprint,
    origin: context.origin(call.node.span),
  } as unknown as OperatorPlan;
}

/** As `planOf`, for operators without state: what is only asked for when somebody looks on is made then. */
export function rowPlan<K extends OperatorPlan['kind']>(at: Position, kind: K, parts: Parts<K>): OperatorPlan {
  const { context, call } = at;
  const { functions, globals } = context.table;
  const readsNothing = functions.length === 0 && globals.length === 0;
  if (!readsNothing || !isWrittenPlainly(call.node, context.source)) return planOf(at, kind, parts);
  return new RowOperator(context.origin(call.node.span), { kind, ...parts }) as unknown as OperatorPlan;
}

/** As `planOf`, for operators that keep state under the key of the stream. */
export function keyedPlan<K extends OperatorPlan['kind']>(at: Position, kind: K, parts: Parts<K>): OperatorPlan {
  const partition = partitionAt(at.partition, at.stage);
  const plan = planOf(at, kind, parts);
  return partition ? { ...plan, partition, fingerprint: at.context.fingerprint([plan.fingerprint, partition]) } : plan;
}

/** As written, without the dot before it; `where e` of a source or step as `where(e)`. */
export function operatorText(node: OperatorCall, context: CheckContext): string {
  const written = context.text(node.span);
  const text = written.startsWith('.') ? written.slice(1).trimStart() : written;
  const name = node.name.text;
  if (text.startsWith(name) && (text.startsWith('(', name.length) || text.startsWith(' as ', name.length))) return text;
  return `${name}(${node.arguments.map(({ span }) => context.text(span)).join(', ')})`;
}

/** The operator does nothing to the rows; for what is wrong, or only says something. */
export function passing(at: Position, ...plans: readonly OperatorPlan[]): LoweredOperator {
  return { plans, stage: at.stage };
}

import type { Argument, Expression } from '../../ast/nodes.ts';
import type { NamedExpression, PartitionPlan, PlanExpression } from '../../plan/plan.ts';
import type { FieldType } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import { expressionOf, lowerExpression } from '../lower.ts';
import type { NameScope } from '../scope.ts';
import { CURRENT } from '../scopes.ts';
import { fieldOf } from '../shapes.ts';
import { resultShape, type Stage, scopeOf } from './stage.ts';

/** One part of a key as written. */
export interface WrittenKey {
  /** Under which it stays readable. */
  readonly name: string;
  readonly node: Expression;
  readonly context: CheckContext;
}

/**
 * The key of everything stateful in a chain. It is resolved at the first stateful operator; where later rows cannot give it
 * in the same way (results of an aggregate carry it as a field), the operator gets a partition of its own.
 */
export interface Partition {
  readonly written: readonly WrittenKey[];
  readonly expireMs: number | null;
  /** Differs from that of the stream, as in a branch with keys of its own. */
  readonly isOwn: boolean;
  resolved: readonly NamedExpression[] | null;
}

export function newPartition(written: readonly WrittenKey[], expireMs: number | null, isOwn = false): Partition {
  const keys = written.length === 0 ? written : distinctKeys(written);
  return { written: keys, expireMs, isOwn, resolved: keys.length === 0 ? [] : null };
}

/** A key given twice counts once; a second key of one name is called by its text. */
function distinctKeys(written: readonly WrittenKey[]): readonly WrittenKey[] {
  const byName = new Map<string, WrittenKey>();
  for (const key of written) {
    const text = key.context.text(key.node.span);
    const first = byName.get(key.name);
    if (!first) byName.set(key.name, key);
    else if (first.context.text(first.node.span) !== text) byName.set(text, { ...key, name: text });
  }
  return [...byName.values()];
}

/** Arguments of `.partition_by` as keys: named ones under their name, `f` and `a.f` under their last part, others under their text. */
export function writtenKeys(args: readonly Argument[], context: CheckContext): readonly WrittenKey[] {
  return args.flatMap((argument) => {
    const node = expressionOf(argument, context);
    return node ? [{ name: argument.name?.text ?? keyName(node, context), node, context }] : [];
  });
}

function keyName(node: Expression, context: CheckContext): string {
  if (node.kind === 'Parenthesized') return keyName(node.expression, context);
  if (node.kind === 'Name') return node.name;
  return node.kind === 'Member' ? node.name.text : context.text(node.span);
}

/** Resolves the keys in a scope, unless they are already; reports what is wrong in them. */
export function resolvePartition(partition: Partition, scope: () => NameScope): readonly NamedExpression[] {
  partition.resolved ??= partition.written.map(({ name, node, context }) => ({ name, value: lowerExpression(node, scope(), context) }));
  return partition.resolved;
}

export function partitionPlan(partition: Partition): PartitionPlan {
  return { keys: partition.resolved ?? [], expireMs: partition.expireMs };
}

/** The partition of a stateful operator whose rows are those of `stage`, where it is not simply that of the stream. */
export function partitionAt(partition: Partition, stage: Stage): PartitionPlan | undefined {
  if (partition.written.length === 0) return undefined;
  const isFirst = partition.resolved === null;
  const resolved = resolvePartition(partition, () => scopeOf(stage));
  if (isFirst) return partition.isOwn ? partitionPlan(partition) : undefined;
  const keys = resolved.map((key, index) => ({ name: key.name, value: keyAt(key, partition.written[index], stage) }));
  const [first] = partition.written;
  const same = !partition.isOwn && first && first.context.fingerprint(keys) === first.context.fingerprint(resolved);
  return same ? undefined : { keys, expireMs: partition.expireMs };
}

/** Results of an aggregate carry the keys as fields; other rows evaluate them anew. */
function keyAt(key: NamedExpression, written: WrittenKey | undefined, stage: Stage): PlanExpression {
  const field = stage.aggregated ? fieldOf(resultShape(stage), key.name) : undefined;
  if (field) return { kind: 'field', of: CURRENT, name: key.name, type: field.type };
  return written ? lowerExpression(written.node, scopeOf(stage), written.context) : key.value;
}

/** The keys as fields of an aggregate's result, for `partition` once it is resolved. */
export function keyFields(partition: Partition): readonly FieldType[] {
  return (partition.resolved ?? []).map(({ name, value }) => ({ name, type: value.type, optional: true }));
}

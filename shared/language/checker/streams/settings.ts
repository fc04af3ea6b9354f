import type { OperatorCall, Span } from '../../ast/nodes.ts';
import { findOperator } from '../../operators/table.ts';
import type { StreamPlan, TimePlan } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import { type BoundCall, bindArguments, durationFor, fieldFor, wordFor } from './operator-arguments.ts';
import { newPartition, type Partition, type WrittenKey, writtenKeys } from './partition.ts';

/** What a stream says of itself as a whole; the position of these operators in the chain changes nothing. */
export interface StreamSettings {
  readonly partition: Partition;
  readonly time: TimePlan;
  readonly onError: StreamPlan['onError'];
  /** `.watermark(on: f)` as written. */
  readonly timeField: { readonly name: string; readonly span: Span } | null;
}

const settingNames = new Set(['partition_by', 'watermark', 'allowed_lateness', 'on_error']);

export function isSetting(operator: OperatorCall): boolean {
  return settingNames.has(operator.name.text);
}

/** Operators that keep state under the stream's key. */
const keyedOperators = new Set(['window', 'aggregate', 'limit', 'first', 'distinct', 'dedupe', 'throttle', 'trend_aggregate', 'forecast']);

/** Reads the settings among the operators of a stream. `keys` come from the pattern (`partition by k`). */
export function readSettings(operators: readonly OperatorCall[], keys: readonly WrittenKey[], context: CheckContext): StreamSettings {
  if (!operators.some(isSetting))
    return { timeField: null, partition: newPartition(keys, null), time: readTime(undefined, undefined), onError: 'skip' };
  const calls = operators.filter(isSetting).map((operator) => bind(operator, context));
  const one = (name: string): BoundCall | undefined => only(name, calls);
  reportLatePartition(operators, context);
  const partitions = calls.filter((call) => call.descriptor.name === 'partition_by');
  const watermark = one('watermark');
  const time = readTime(watermark, one('allowed_lateness'));
  const on = watermark?.given.get('on');
  return {
    timeField: on && time.on !== null ? { name: time.on, span: on.value.span } : null,
    partition: newPartition([...keys, ...partitions.flatMap((call) => writtenKeys(call.rest, context))], expiry(partitions)),
    time,
    onError: readOnError(one('on_error')),
  };
}

function bind(operator: OperatorCall, context: CheckContext): BoundCall {
  const descriptor = findOperator(operator.name.text);
  if (!descriptor) throw new Error(`no descriptor for the setting ${operator.name.text}`);
  return bindArguments(operator, descriptor, context);
}

function only(name: string, calls: readonly BoundCall[]): BoundCall | undefined {
  const [first, second] = calls.filter((call) => call.descriptor.name === name);
  if (second)
    second.context.report('E021', second.node.span, `\`.${name}\` stands here twice`, 'it applies to the whole stream: write it once');
  return first;
}

function expiry(partitions: readonly BoundCall[]): number | null {
  const all = partitions.map((call) => durationFor(call, 'expire')).filter((ms) => ms !== undefined);
  return all.length > 0 ? Math.min(...all) : null;
}

function readTime(watermark: BoundCall | undefined, lateness: BoundCall | undefined): TimePlan {
  return {
    on: (watermark && fieldFor(watermark, 'on')) ?? null,
    outOfOrderMs: (watermark && durationFor(watermark, 'out_of_order', 'zero')) ?? 0,
    idleMs: (watermark && durationFor(watermark, 'idle')) ?? null,
    allowedLatenessMs: (lateness && durationFor(lateness, 'duration', 'zero')) ?? 0,
  };
}

function readOnError(call: BoundCall | undefined): StreamPlan['onError'] {
  return ((call && wordFor(call, 'action')) ?? 'skip') as StreamPlan['onError'];
}

function reportLatePartition(operators: readonly OperatorCall[], context: CheckContext): void {
  const first = operators.findIndex((operator) => keyedOperators.has(operator.name.text));
  if (first < 0) return;
  const keyed = operators[first]?.name.text;
  for (const operator of operators.slice(first)) {
    if (operator.name.text !== 'partition_by') continue;
    context.report('W002', operator.span, `\`.partition_by\` stands behind \`.${keyed}\`, which it keys`, `write it before \`.${keyed}\``);
  }
}

/** The keys of a branch of a fork: those of the stream and its own. */
export function branchPartition(outer: Partition, operators: readonly OperatorCall[], context: CheckContext): Partition {
  const calls = operators.filter((operator) => operator.name.text === 'partition_by').map((operator) => bind(operator, context));
  if (calls.length === 0) return outer;
  reportLatePartition(operators, context);
  const keys = calls.flatMap((call) => writtenKeys(call.rest, context));
  return newPartition([...outer.written, ...keys], expiry(calls) ?? outer.expireMs, true);
}

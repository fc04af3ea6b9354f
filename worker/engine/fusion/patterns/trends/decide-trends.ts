import { fingerprint } from '../../../../../shared/language/plan/fingerprint.ts';
import type { PatternPlan, Plan, PlanExpression, StreamPlan, TrendAggregatePlan } from '../../../../../shared/language/plan/plan.ts';
import { slotsRead } from '../../../patterns/expression-reads.ts';
import { buildPatternTree, isTimed } from '../../../patterns/pattern-tree.ts';
import type { Trends } from '../../../patterns/trends/trend-form.ts';
import { TrendNumbers } from '../../../patterns/trends/trend-numbers.ts';
import { TrendStates } from '../../../patterns/trends/trend-states.ts';
import { TrendColumns } from '../../../patterns/trends/trend-totals.ts';
import { inputsOf } from '../../../streams/plan-inputs.ts';
import { originsOf } from '../../../streams/routes.ts';
import { Body } from '../../module-text.ts';
import { typedOf } from '../../print-typed.ts';
import type { ProgramFusion } from '../../program-fusion.ts';
import { type Readable, Refusal, representationOf } from '../../typed.ts';
import { PatternInput } from '../pattern-input.ts';

/** A stream whose trends generated code counts in numbers. */
export interface NumberedTrends extends Trends {
  /** Of the stream in the program. */
  readonly index: number;
  readonly numbers: TrendNumbers;
  /** The origins of its events, all of them declared types. */
  readonly origins: readonly string[];
  /** By slot, the fields that are kept of the last event that a trend took there. */
  readonly held: ReadonlyMap<number, readonly string[]>;
}

/** By stream that counts trends: those whose windows begin and end together, in order of declaration, or why its rows come whole. */
export function decideTrends(plan: Plan, program: ProgramFusion): ReadonlyMap<StreamPlan, readonly NumberedTrends[] | Refusal> {
  const decided = new Map<StreamPlan, readonly NumberedTrends[] | Refusal>();
  const groups = new Map<string, NumberedTrends[]>();
  plan.streams.forEach((stream, index) => {
    const trends = numberedTrends(stream, index, program);
    if (trends === null) return;
    if (typeof trends === 'string') {
      decided.set(stream, new Refusal(trends));
      return;
    }
    const key = mayShare(index, plan) ? fingerprint([trends.plan.windowMs, stream.time, stream.partition]) : `alone ${index}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(trends);
    decided.set(stream, group);
  });
  return decided;
}

/** One clock moves all streams, and nobody sees in which order late events leave them. */
function mayShare(index: number, { sources, streams }: Plan): boolean {
  const late = `late:${index}`;
  return sources.length <= 1 && !streams.some(({ source }) => originsOf(inputsOf(source)).has(late));
}

/** Null: the stream counts no trends. A text: why generated code does not. */
function numberedTrends(stream: StreamPlan, index: number, program: ProgramFusion): NumberedTrends | string | null {
  const [plan] = stream.operators;
  if (stream.source.kind !== 'pattern' || plan?.kind !== 'trend_aggregate') return null;
  const { pattern } = stream.source;
  const columns = new TrendColumns(plan.calls);
  const origins = [...originsOf(pattern.steps.map(({ input }) => input)).keys()];
  const held = heldFields(stream);
  const why = whyNoStates(stream, pattern, plan) ?? whyNoNumbers(plan);
  if (why !== null) return why;
  if (held === null) return 'a result reads whole events of a step';
  const states = new TrendStates(pattern);
  if (states.areTooMany) return 'the trends have too many states';
  if (states.space.usesPatternDeadline) return 'time decides about the trends';
  const numbers = new TrendNumbers(pattern, states, columns);
  const trends = { stream, pattern, plan, columns, space: states.space, index, numbers, origins, held };
  return whyWhole(trends, program) ?? trends;
}

/** Why more than the state of a trend, and whether an event fits by itself, decides about what may follow. */
function whyNoStates({ partition, time }: StreamPlan, pattern: PatternPlan, { windowMs }: TrendAggregatePlan): string | null {
  const read = slotsRead(pattern.steps.map(({ where }) => where));
  if (pattern.monotone !== null || read.size > 0) return 'conditions look at other events of a trend';
  const isBounded = (pattern.withinMs !== null && pattern.withinMs < windowMs) || pattern.steps.some(({ withinMs }) => withinMs !== null);
  if (isBounded || isTimed(buildPatternTree(pattern))) return 'time decides about the trends';
  if (pattern.cancels.length > 0 || pattern.steps.some(({ input }) => input.operators.length > 0))
    return 'more than steps and their conditions decides about the trends';
  if (partition.expireMs !== null) return 'keys expire';
  return time.outOfOrderMs > 0 || time.on !== null ? 'events wait for those that came before them' : null;
}

function whyNoNumbers({ calls }: TrendAggregatePlan): string | null {
  const areNumbers = calls.every(({ function: name, argument }) => {
    const as = argument === null ? 'number' : representationOf(argument.type);
    return as === 'number' || as === 'duration' || (as === 'timestamp' && name !== 'sum_trends' && name !== 'avg_trends');
  });
  return areNumbers ? null : 'an aggregated value is no number';
}

/** Why its rows must come whole: what is read of them is not known, or may fail. */
function whyWhole({ stream, pattern, columns, origins }: Omit<NumberedTrends, 'index'>, program: ProgramFusion): string | null {
  for (const origin of origins) {
    const record = program.declared(origin.slice('event:'.length));
    if (!origin.startsWith('event:') || record === null) return 'the events of a step are not declared';
    const input = new PatternInput(pattern, origin, record, program.module);
    const conditions = input.slots.flatMap((slot) => pattern.steps[slot]?.where ?? []);
    const values = columns.all.flatMap(({ slot, argument }) => (argument !== null && input.slots.includes(slot) ? [argument] : []));
    const why = whyNotRead([...conditions, ...values], input, program) ?? whyNoKey(stream, input, program);
    if (why !== null) return why;
  }
  return null;
}

function whyNoKey({ partition }: StreamPlan, input: PatternInput, program: ProgramFusion): string | null {
  if (partition.keys.some(({ value }) => value.kind !== 'field' || value.of.kind !== 'current')) return 'the key is computed';
  const isPlain = partition.keys.every(({ value }) => {
    const as = value.kind === 'field' ? input.representation(value.name) : undefined;
    return as === 'number' || as === 'string' || as === 'boolean';
  });
  if (!isPlain) return 'the key is neither text nor number nor bool';
  const keys = partition.keys.map(({ value }) => value);
  return whyNotRead(keys, input, program);
}

/** Why generated code does not evaluate some of these; null = it does, and none can fail. */
function whyNotRead(expressions: readonly PlanExpression[], readable: Readable, program: ProgramFusion): string | null {
  const { module } = program;
  for (const expression of expressions) {
    const typed = typedOf(expression, { module, body: new Body(module.names), readable });
    if (typed instanceof Refusal) return typed.why;
    if (typed.canFail) return 'a condition or a value may fail';
  }
  return null;
}

/** Parts of a match that no plain result has. */
const OF_MATCHES: ReadonlySet<unknown> = new Set(['item', 'items', 'closure', 'unless_first', 'slot']);

/** By slot, the fields of its last event that the operators of a stream read; null = they read whole events. */
function heldFields({ operators }: StreamPlan): ReadonlyMap<number, readonly string[]> | null {
  const held = new Map<number, string[]>();
  return noteFields(operators, held) ? held : null;
}

/** False where whole events are read. */
function noteFields(part: unknown, held: Map<number, string[]>): boolean {
  if (typeof part !== 'object' || part === null) return true;
  if (Array.isArray(part)) return part.every((item) => noteFields(item, held));
  const { kind, of, name } = part as { readonly kind?: unknown; readonly of?: unknown; readonly name?: unknown };
  if (OF_MATCHES.has(kind)) return false;
  const slot = slotOf(of);
  if (slot === null || (kind !== 'field' && kind !== 'attribute')) return Object.values(part).every((child) => noteFields(child, held));
  const fields = held.get(slot) ?? [];
  held.set(slot, kind === 'field' && !fields.includes(String(name)) ? [...fields, String(name)] : fields);
  return true;
}

function slotOf(of: unknown): number | null {
  if (typeof of !== 'object' || of === null) return null;
  const { kind, slot } = of as { readonly kind?: unknown; readonly slot?: unknown };
  return kind === 'slot' && typeof slot === 'number' ? slot : null;
}

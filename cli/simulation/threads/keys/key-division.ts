import { modelOf } from '../../../../shared/language/plan/alike.ts';
import type { JoinSourcePlan, OperatorPlan, PatternPlan, Plan, PlanExpression, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { equalityKeyOf } from '../../../../worker/engine/patterns/equality-key.ts';
import { buildPatternTree, closuresAtTheEnd } from '../../../../worker/engine/patterns/pattern-tree.ts';
import type { ShareOptions } from '../../../../worker/engine/sharing/event-share.ts';
import { inputsOf, upstreamFirst } from '../../../../worker/engine/streams/plan-inputs.ts';
import { changesVariables } from '../line-division.ts';
import { eventsBehind, fieldOf, inInput, type KeyOrigin, originsOf } from './key-origin.ts';

/** By event type the field that says whose an event is, as `ShareOptions` has it. */
export type Keys = ShareOptions['keys'];

/** How the state of a program can be kept apart by the values of one field, or why it cannot. */
export type KeyDivision = { readonly keys: Keys; readonly why?: never } | { readonly keys?: never; readonly why: string };

/** Something that remembers events, and every way to tell by a field of theirs which of them it remembers together. */
interface Remembering {
  /** Of its stream. */
  readonly name: string;
  readonly what: string;
  /** By event type, the field. */
  readonly ways: readonly ReadonlyMap<string, string>[];
}

/** `field`: one that events are to be divided by, where they have it. */
export function keyDivision(plan: Plan, field?: string): KeyDivision {
  const remembering: Remembering[] = [];
  const timed = new Set<number>();
  for (const index of upstreamFirst(plan)) {
    const stream = plan.streams[index] as StreamPlan;
    const model = modelOf(stream);
    const why = whyNotStream(model, timed);
    if (why !== null) return { why: `stream ${stream.name} ${why}` };
    if (isTimed(model, timed)) timed.add(index);
    remembering.push(...rememberingOf(model, plan).map((one) => ({ ...one, name: stream.name })));
  }
  if (changesVariables([plan.functions, plan.streams.map(modelOf)])) return { why: 'a function changes a variable of the program' };
  return divided(plan, remembering, field);
}

// ------------------------------------------------------------------------------------------------ what cannot be divided at all

/** `timed`: the streams before it whose rows come with time, not with an event. */
function whyNotStream(stream: StreamPlan, timed: ReadonlySet<number>): string | null {
  const { source, time } = stream;
  if (source.kind === 'timer') return 'is a timer';
  if (time.on !== null || time.outOfOrderMs > 0 || time.idleMs !== null || time.allowedLatenessMs > 0) return 'has a time of its own';
  const inputs = inputsOf(source);
  if (inputs.some(({ from }) => from.kind === 'late')) return 'reads late events';
  if (source.kind === 'join' && source.join !== 'inner') return 'joins with what time leaves alone';
  const pattern = source.kind === 'pattern' ? whyNotPattern(source.pattern) : null;
  if (pattern !== null) return pattern;
  const chain = allOperators(stream.operators);
  const odd = chain.map(whyNotOperator).find((reason) => reason !== null);
  if (odd !== undefined) return odd;
  if (!isBehind(stream, timed)) return null;
  if (source.kind === 'pattern') return 'looks for a pattern in what comes with time';
  const closing = chain.find((operator) => isClosing(operator) || operator.kind === 'aggregate');
  return closing === undefined ? null : `remembers what comes with time: .${closing.text}`;
}

function allOperators(operators: readonly OperatorPlan[]): readonly OperatorPlan[] {
  return operators.flatMap((one) =>
    one.kind === 'fork' ? [one, ...one.branches.flatMap((branch) => allOperators(branch.operators))] : [one],
  );
}

function whyNotOperator(operator: OperatorPlan): string | null {
  const { kind, text } = operator;
  switch (kind) {
    case 'trend_aggregate':
    case 'forecast':
      return `follows what has not matched yet: .${text}`;
    case 'enrich':
    case 'score':
      return `asks others: .${text}`;
    case 'fork':
      return `has branches: .${text}`;
    case 'tap':
      return operator.labels.length > 0 ? `counts by labels: .${text}` : null;
    case 'window': {
      const { window } = operator;
      if (window.kind === 'count') return null;
      if (window.earlyMs !== null) return `gives interim results: .${text}`;
      return window.kind === 'time' && window.slideMs < window.sizeMs ? `has windows that overlap: .${text}` : null;
    }
    default:
      return null;
  }
}

/** Every match must come with an event. */
function whyNotPattern(pattern: PatternPlan): string | null {
  const { steps, root, emission } = pattern;
  const tree = buildPatternTree(pattern);
  const isAny = pattern.selection === 'any';
  if (steps.some(({ taps }) => taps.some((tap) => whyNotOperator(tap) !== null))) return 'counts by labels';
  if (emission === 'subsets') return 'gives a match for every part of a closure';
  if (!isAny && closuresAtTheEnd(tree).length > 0) return 'ends with a closure, which ends with time';
  if (!steps.some(({ negated }) => negated)) return null;
  const last = root.kind === 'sequence' ? root.items.at(-1) : undefined;
  const lastStep = last?.kind === 'step' && last.others === undefined ? steps[last.slot] : undefined;
  const isEnded = lastStep !== undefined && !lastStep.negated && lastStep.min > 0;
  const isPlain = root.kind === 'sequence' && root.items.every(({ kind }) => kind === 'step');
  return isEnded && isPlain ? null : 'waits for what must not come';
}

// ------------------------------------------------------------------------------------------------ what comes with time

/** Hands on what it holds when time has come, or at the end. */
function isClosing(operator: OperatorPlan): boolean {
  return operator.kind === 'window' && (operator.window.kind !== 'count' || operator.window.slide === null);
}

function isTimed(stream: StreamPlan, timed: ReadonlySet<number>): boolean {
  return allOperators(stream.operators).some(isClosing) || isBehind(stream, timed);
}

function isBehind({ source }: StreamPlan, timed: ReadonlySet<number>): boolean {
  return inputsOf(source).some(({ from }) => from.kind !== 'event' && timed.has(from.stream));
}

// ------------------------------------------------------------------------------------------------ what is remembered together

const KEYED: ReadonlySet<OperatorPlan['kind']> = new Set(['window', 'aggregate', 'limit', 'distinct', 'dedupe', 'throttle'] as const);

function rememberingOf(stream: StreamPlan, plan: Plan): readonly Remembering[] {
  const { name, source, operators } = stream;
  const own: Remembering[] = [];
  if (source.kind === 'join') own.push({ name, what: 'joins', ways: waysOfJoin(source, plan) });
  if (source.kind === 'pattern') own.push({ name, what: 'looks for a pattern', ways: waysOfPattern(source.pattern, stream, plan) });
  const inChain = operators.flatMap((operator, at): readonly Remembering[] => {
    const isPerWindow = 'extent' in operator && operator.extent === 'window';
    if (!KEYED.has(operator.kind) || isPerWindow) return [];
    const ways = (operator.partition ?? stream.partition).keys.map(({ value }) => wayOf(value, operators.slice(0, at), stream, plan));
    return [{ name, what: `remembers events: .${operator.text}`, ways: ways.filter((way) => way !== null) }];
  });
  return [...own, ...inChain];
}

function wayOf(key: PlanExpression, passed: readonly OperatorPlan[], stream: StreamPlan, plan: Plan): ReadonlyMap<string, string> | null {
  const field = fieldOf(key);
  return behind(field && originsOf(stream, passed, field), plan);
}

function behind(origins: readonly KeyOrigin[] | null, plan: Plan): ReadonlyMap<string, string> | null {
  return origins && eventsBehind(plan, origins);
}

/** Parts of the key that are a field of every side. */
function waysOfJoin({ sides }: JoinSourcePlan, plan: Plan): readonly ReadonlyMap<string, string>[] {
  const parts = sides[0]?.keys.length ?? 0;
  const ways = Array.from({ length: parts }, (_, part) => {
    return together(
      sides.map(({ input, keys }) => {
        const field = fieldOf(keys[part] as PlanExpression);
        return field?.slot === null ? behind(inInput(input, field.name), plan) : null;
      }),
    );
  });
  return ways.filter((way) => way !== null);
}

function waysOfPattern(pattern: PatternPlan, { partition }: StreamPlan, plan: Plan): readonly ReadonlyMap<string, string>[] {
  if (partition.keys.length === 0) return waysOfEquality(pattern, plan);
  return partition.keys.flatMap(({ value }) => waysOfPartition(value, pattern, plan));
}

function waysOfPartition(key: PlanExpression, { steps, cancels }: PatternPlan, plan: Plan): readonly ReadonlyMap<string, string>[] {
  const field = fieldOf(key);
  if (field?.slot !== null) return [];
  const way = together([...steps, ...cancels].map(({ input }) => behind(inInput(input, field.name), plan)));
  return way === null ? [] : [way];
}

/** Without a partition each step but the first one must equal a step before it, by fields that all have the value of the first one's. */
function waysOfEquality(
  { steps, root, cancels, selection, afterMatch, monotone }: PatternPlan,
  plan: Plan,
): readonly ReadonlyMap<string, string>[] {
  const isPlain = root.kind === 'sequence' && root.items.every(({ kind }) => kind === 'step');
  const areAlike = steps.every(({ negated, min, withinMs }) => !negated && min > 0 && withinMs === null);
  if (!isPlain || !areAlike || cancels.length > 0 || selection !== 'next' || afterMatch !== 'no_skip' || monotone !== null) return [];
  const fields = new Map<number, string>();
  for (const { slot, where } of steps.slice(1)) {
    const equality = equalityKeyOf(where, slot);
    if (equality === null) return [];
    const held = fields.get(equality.heldSlot) ?? (equality.heldSlot === 0 ? equality.heldField : null);
    if (held !== equality.heldField) return [];
    fields.set(equality.heldSlot, held);
    fields.set(slot, equality.field);
  }
  const way = together(steps.map(({ slot, input }) => behind(inInput(input, fields.get(slot) ?? ''), plan)));
  return steps.length < 2 || way === null ? [] : [way];
}

/** All of these; null where they contradict each other. */
function together(ways: readonly (ReadonlyMap<string, string> | null)[]): ReadonlyMap<string, string> | null {
  let all: ReadonlyMap<string, string> | null = new Map();
  for (const way of ways) all = all && way && merged(all, way);
  return all;
}

function merged(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): ReadonlyMap<string, string> | null {
  for (const [type, field] of other) if ((one.get(type) ?? field) !== field) return null;
  return new Map([...one, ...other]);
}

// ------------------------------------------------------------------------------------------------ one way for all

function divided(plan: Plan, remembering: readonly Remembering[], field: string | undefined): KeyDivision {
  const without = remembering.find(({ ways }) => ways.length === 0);
  if (without !== undefined) return { why: `stream ${without.name} ${without.what} of all keys together` };
  const wanted =
    field === undefined ? remembering : remembering.map((one) => ({ ...one, ways: one.ways.filter((way) => hasField(way, field)) }));
  const other = wanted.find(({ ways }) => ways.length === 0);
  if (other !== undefined) return { why: `stream ${other.name} ${other.what}, but not by \`${field}\`` };
  const way = wayForAll(wanted);
  if (way === null) return { why: 'no field tells apart what all streams remember' };
  const keys = new Map<string, string | null>(way);
  for (const { source } of plan.streams) {
    for (const { from } of inputsOf(source))
      if (from.kind === 'event') for (const type of from.types) keys.set(type, keys.get(type) ?? null);
  }
  return { keys };
}

function hasField(way: ReadonlyMap<string, string>, field: string): boolean {
  return [...way.values()].includes(field);
}

/** Ways that are tried at most: a program has few fields that tell its events apart. */
const TRIES_MAX = 10_000;

function wayForAll(remembering: readonly Remembering[]): ReadonlyMap<string, string> | null {
  const left = [...new Map(remembering.map(({ ways }) => [JSON.stringify(ways.map((way) => [...way].sort())), ways])).values()];
  let tries = 0;
  const choose = (at: number, chosen: ReadonlyMap<string, string>): ReadonlyMap<string, string> | null => {
    const ways = left[at];
    if (ways === undefined) return chosen;
    for (const way of ways) {
      const both = ++tries > TRIES_MAX ? null : merged(chosen, way);
      const found = both && choose(at + 1, both);
      if (found !== null) return found;
    }
    return null;
  };
  return choose(0, new Map());
}

import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type {
  CancelPlan,
  InputPlan,
  OperatorPlan,
  PatternNode,
  PatternPlan,
  PlanExpression,
  StepPlan,
} from '../../../../shared/language/plan/plan.ts';
import { ANY, BOOL, INT } from '../../../../shared/language/plan/types.ts';

/** A condition that still names its steps by alias. */
export type Condition = (slotOf: (alias: string) => number) => PlanExpression;

export interface StepOptions {
  /** The further steps of a `NOT (A OR B)`. */
  readonly or?: readonly Draft[];
  readonly as?: string;
  readonly min?: number;
  readonly max?: number;
  readonly where?: Condition;
  readonly withinMs?: number;
  readonly not?: boolean;
  readonly from?: InputPlan['from'];
  readonly taps?: readonly OperatorPlan[];
}

/** A pattern as the tests write it: steps are numbered when it is made into a plan. */
export type Draft =
  | { readonly kind: 'step'; readonly type: string; readonly options: StepOptions }
  | { readonly kind: 'sequence' | 'and' | 'or'; readonly items: readonly Draft[] }
  | { readonly kind: 'group'; readonly item: Draft; readonly min: number; readonly max: number; readonly withinMs: number | null };

export const step = (type: string, options: StepOptions = {}): Draft => ({
  kind: 'step',
  type,
  options: { as: type.toLowerCase(), ...options },
});
export const plus = (type: string, options: StepOptions = {}): Draft => step(type, { min: 1, max: Infinity, ...options });
export const star = (type: string, options: StepOptions = {}): Draft => step(type, { min: 0, max: Infinity, ...options });
export const maybe = (type: string, options: StepOptions = {}): Draft => step(type, { min: 0, max: 1, ...options });
export const not = (type: string, options: StepOptions = {}): Draft => step(type, { not: true, ...options });
export const seq = (...items: readonly Draft[]): Draft => ({ kind: 'sequence', items });
export const and = (...items: readonly Draft[]): Draft => ({ kind: 'and', items });
export const or = (...items: readonly Draft[]): Draft => ({ kind: 'or', items });
export const group = (item: Draft, min: number, max: number, withinMs: number | null = null): Draft => ({
  kind: 'group',
  item,
  min,
  max,
  withinMs,
});

export interface PatternOptions {
  readonly selection?: PatternPlan['selection'];
  readonly emission?: PatternPlan['emission'];
  readonly afterMatch?: PatternPlan['afterMatch'];
  readonly withinMs?: number;
  readonly subsetsMax?: number;
  readonly runsMax?: number;
  readonly closureMax?: number;
  readonly not?: readonly { readonly type: string; readonly where?: Condition }[];
  readonly monotone?: { readonly alias: string; readonly direction: 'increasing' | 'decreasing' };
}

/** The plan of a pattern. Without `emission` it is what the language says: `each` when the only closure ends the pattern. */
export function pattern(draft: Draft, options: PatternOptions = {}): PatternPlan {
  const steps: StepPlan[] = [];
  const pending: (Condition | undefined)[] = [];
  const root = number(draft, steps, pending);
  const slotOf = (alias: string): number => steps.findIndex((one) => one.alias === alias);
  const bind = (where: Condition | undefined): PlanExpression | null => where?.(slotOf) ?? null;
  const bound = steps.map((one, slot) => ({ ...one, where: bind(pending[slot]) }));
  const cancels: readonly CancelPlan[] = (options.not ?? []).map(({ type, where }) => ({ input: inputOf(type), where: bind(where) }));
  return {
    name: null,
    steps: bound,
    root,
    withinMs: options.withinMs ?? null,
    selection: options.selection ?? 'next',
    emission: options.emission ?? (endsWithItsOnlyClosure(draft) ? 'each' : 'longest'),
    subsetsMax: options.subsetsMax ?? 10_000,
    afterMatch: options.afterMatch ?? 'no_skip',
    cancels,
    monotone: options.monotone
      ? { slot: slotOf(options.monotone.alias), value: field('v')(slotOf), direction: options.monotone.direction }
      : null,
    runsMax: options.runsMax ?? 100_000,
    closureMax: options.closureMax ?? 10_000,
    fingerprint: 'test',
  };
}

function number(draft: Draft, steps: StepPlan[], pending: (Condition | undefined)[]): PatternNode {
  switch (draft.kind) {
    case 'step': {
      const slot = steps.length;
      steps.push(stepPlan(draft.type, slot, draft.options));
      pending.push(draft.options.where);
      const { or = [] } = draft.options;
      const others = or.map((other) => (number(other, steps, pending) as Extract<PatternNode, { kind: 'step' }>).slot);
      return { kind: 'step', slot, ...(others.length > 0 ? { others } : {}) };
    }
    case 'group':
      return { kind: 'group', item: number(draft.item, steps, pending), min: draft.min, max: draft.max, withinMs: draft.withinMs };
    default:
      return { kind: draft.kind, items: draft.items.map((item) => number(item, steps, pending)) };
  }
}

export const ORIGIN = { source: new SourceText('test.vpl', ''), span: { start: 0, end: 0 } } as unknown as StepPlan['origin'];

function stepPlan(type: string, slot: number, options: StepOptions): StepPlan {
  const { min = 1, max = 1 } = options;
  return {
    slot,
    alias: options.as ?? null,
    fieldNames: [],
    input: { name: type, from: options.from ?? inputOf(type).from, operators: [] },
    negated: options.not ?? false,
    min,
    max,
    closure: max > 1,
    where: null,
    withinMs: options.withinMs ?? null,
    taps: options.taps ?? [],
    origin: ORIGIN,
  };
}

function inputOf(type: string): InputPlan {
  return { name: type, from: { kind: 'event', type, types: [type] }, operators: [] };
}

function endsWithItsOnlyClosure(draft: Draft): boolean {
  if (draft.kind === 'sequence') {
    const last = draft.items.at(-1);
    return last !== undefined && endsWithItsOnlyClosure(last) && draft.items.slice(0, -1).every((item) => !hasClosure(item));
  }
  return (draft.kind === 'step' && (draft.options.max ?? 1) > 1) || (draft.kind === 'group' && draft.max > 1);
}

function hasClosure(draft: Draft): boolean {
  if (draft.kind === 'step') return (draft.options.max ?? 1) > 1;
  if (draft.kind === 'group') return draft.max > 1 || hasClosure(draft.item);
  return draft.items.some(hasClosure);
}

// ------------------------------------------------------------------------------------------------ conditions

type Binary = Extract<PlanExpression, { kind: 'binary' }>['operator'];

/** A field of the candidate. */
export const field =
  (name: string): Condition =>
  () => ({ kind: 'field', type: ANY, of: { kind: 'current' }, name });
/** A field of another step, of a closure's last capture. */
export const held =
  (alias: string, name: string): Condition =>
  (slotOf) => ({
    kind: 'field',
    type: ANY,
    of: { kind: 'slot', slot: slotOf(alias) },
    name,
  });
export const constant =
  (value: number | string): Condition =>
  () => ({ kind: 'constant', type: ANY, value });
export const binary =
  (operator: Binary, left: Condition, right: Condition): Condition =>
  (slotOf) => ({
    kind: 'binary',
    type: BOOL,
    operator,
    left: left(slotOf),
    right: right(slotOf),
  });
export const both =
  (left: Condition, right: Condition): Condition =>
  (slotOf) => ({
    kind: 'logical',
    type: BOOL,
    operator: 'and',
    left: left(slotOf),
    right: right(slotOf),
  });
/** A comparison with the previous capture of the step's own closure: satisfied at the first capture. */
export const unlessFirst =
  (alias: string, condition: Condition): Condition =>
  (slotOf) => ({
    kind: 'unless_first',
    type: BOOL,
    slot: slotOf(alias),
    condition: condition(slotOf),
  });
export const count =
  (alias: string): Condition =>
  (slotOf) => ({
    kind: 'closure',
    type: INT,
    slot: slotOf(alias),
    function: 'count',
    argument: null,
    constants: [],
  });
export const sameKey = (alias: string): Condition => binary('==', field('k'), held(alias, 'k'));

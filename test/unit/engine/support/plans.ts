import type { Value } from '../../../../shared/events/value.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type {
  AggregatePlan,
  BinaryExpression,
  EventPlan,
  FunctionPlan,
  GlobalPlan,
  InputPlan,
  NamedExpression,
  OperatorPlan,
  Origin,
  PartitionPlan,
  Plan,
  PlanExpression,
  PlanStatement,
  SourceBinding,
  SourcePlan,
  StreamPlan,
  TimePlan,
} from '../../../../shared/language/plan/plan.ts';
import { ANY } from '../../../../shared/language/plan/types.ts';

/** Plans written by hand, for what no program text is needed for. Streams name each other by position. */

const ORIGIN: Origin = { source: new SourceText('test.vpl', 'test'), span: { start: 0, end: 4 } };

export const constant = (value: Value): PlanExpression => ({ kind: 'constant', type: ANY, value });
export const field = (name: string): PlanExpression => ({ kind: 'field', type: ANY, of: { kind: 'current' }, name });
export const local = (slot: number): PlanExpression => ({ kind: 'local', type: ANY, slot });
export const global = (index: number): PlanExpression => ({ kind: 'global', type: ANY, global: index });
export const call = (name: string, ...args: PlanExpression[]): PlanExpression => ({
  kind: 'call',
  type: ANY,
  function: name,
  arguments: args,
});
export const invoke = (index: number, ...args: PlanExpression[]): PlanExpression => ({
  kind: 'invoke',
  type: ANY,
  function: index,
  arguments: args,
});
export const binary = (left: PlanExpression, operator: BinaryExpression['operator'], right: PlanExpression): PlanExpression => ({
  kind: 'binary',
  type: ANY,
  operator,
  left,
  right,
});

export const named = (items: Readonly<Record<string, PlanExpression>>): NamedExpression[] =>
  Object.entries(items).map(([name, value]) => ({ name, value }));

type Unplaced<P> = P extends OperatorPlan ? Omit<P, 'text' | 'fingerprint' | 'origin'> : never;

/** An operator; its fingerprint is its content, so equal operators have equal ones. */
export function operator(plan: Unplaced<OperatorPlan>): OperatorPlan {
  const text = JSON.stringify(plan, (_, value: unknown) => (value instanceof Map ? [...value] : value === Infinity ? 'Infinity' : value));
  return { ...plan, text: plan.kind, fingerprint: text, origin: ORIGIN } as OperatorPlan;
}

export const where = (condition: PlanExpression): OperatorPlan => operator({ kind: 'filter', condition });
export const select = (items: Readonly<Record<string, PlanExpression>>): OperatorPlan => operator({ kind: 'select', items: named(items) });
export const emit = (type: string, items: Readonly<Record<string, PlanExpression>> | null = null): OperatorPlan =>
  operator({ kind: 'emit', type, items: items && named(items) });

/** `.window(size)` with `.aggregate(total: sum(x), n: count())`. */
export const countAndSum = (name: string): AggregatePlan => ({
  calls: [
    { function: 'sum', arguments: [field(name)], constants: [], filter: null },
    { function: 'count', arguments: [], constants: [], filter: null },
  ],
  items: named({ total: { kind: 'aggregate', type: ANY, index: 0 }, n: { kind: 'aggregate', type: ANY, index: 1 } }),
});

export const timeWindow = (sizeMs: number, aggregate: AggregatePlan | null): OperatorPlan =>
  operator({
    kind: 'window',
    window: { kind: 'time', sizeMs, slideMs: sizeMs, offsetMs: 0, align: 'epoch', earlyMs: null },
    aggregate,
    predicates: [],
  });

export const fromEvent = (type: string, ...subtypes: string[]): InputPlan => ({
  name: type,
  from: { kind: 'event', type, types: [type, ...subtypes] },
  operators: [],
});
export const fromStream = (stream: number): InputPlan => ({ name: `s${stream}`, from: { kind: 'stream', stream }, operators: [] });
export const fromLate = (stream: number): InputPlan => ({ name: `s${stream}.late`, from: { kind: 'late', stream }, operators: [] });
export const fromBranch = (stream: number, branch: string): InputPlan => ({
  name: `s${stream}.${branch}`,
  from: { kind: 'branch', stream, branch },
  operators: [],
});

export interface StreamOptions {
  readonly operators?: readonly OperatorPlan[];
  readonly partition?: Partial<PartitionPlan>;
  readonly time?: Partial<TimePlan>;
  readonly onError?: StreamPlan['onError'];
}

export function stream(name: string, source: SourcePlan | readonly InputPlan[], options: StreamOptions = {}): StreamPlan {
  return {
    name,
    source: 'kind' in source ? source : { kind: 'events', inputs: source },
    operators: options.operators ?? [],
    partition: { keys: [], expireMs: null, ...options.partition },
    time: { on: null, outOfOrderMs: 0, idleMs: null, allowedLatenessMs: 0, ...options.time },
    onError: options.onError ?? 'skip',
    resultType: ANY,
    origin: ORIGIN,
  };
}

export function functionPlan(name: string, parameters: number, body: readonly PlanStatement[], locals = parameters): FunctionPlan {
  const names = Array.from({ length: parameters }, (_, i) => ({ name: `p${i}`, type: ANY }));
  return { name, parameters: names, result: ANY, locals, body, origin: ORIGIN };
}

export const returns = (value: PlanExpression): PlanStatement => ({ kind: 'return', value });

export interface PlanOptions {
  readonly streams?: readonly StreamPlan[];
  readonly events?: readonly EventPlan[];
  readonly globals?: readonly GlobalPlan[];
  readonly loads?: Plan['loads'];
  readonly functions?: readonly FunctionPlan[];
  readonly bindings?: readonly SourceBinding[];
}

export function plan(options: PlanOptions): Plan {
  const input: SourceBinding = { id: 'input', connector: null, parameters: new Map(), eventTypes: [] };
  return {
    events: options.events ?? [],
    globals: options.globals ?? [],
    loads: options.loads ?? [],
    functions: options.functions ?? [],
    connectors: [],
    contexts: [],
    sources: [input, ...(options.bindings ?? [])],
    streams: options.streams ?? [],
  };
}

/** `.from(C, topic: ..)` of these types. */
export const binding = (id: string, ...eventTypes: string[]): SourceBinding => ({ id, connector: 'C', parameters: new Map(), eventTypes });

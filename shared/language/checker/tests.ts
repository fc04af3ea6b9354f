import { TIME_FIELDS } from '../../events/event-time.ts';
import type { Value } from '../../events/value.ts';
import type { Identifier, MapEntry, TestDeclaration, TestStep } from '../ast/nodes.ts';
import { nearestName } from '../diagnostics/nearest-name.ts';
import type { NamedExpression, OperatorPlan, Origin, StreamPlan } from '../plan/plan.ts';
import { printType, type Type } from '../plan/types.ts';
import { constantDurationMs, requireConstant } from './constants.ts';
import type { CheckContext } from './context.ts';
import { didYouMean } from './expressions/names.ts';
import { outputTypes, sourceTypes } from './program-names.ts';
import type { WrittenTest } from './program-table.ts';
import { useNamespaceOf } from './type-expressions.ts';

/** A `test` block, ready to run in virtual time. */
export interface TestPlan {
  readonly name: string;
  readonly steps: readonly TestStepPlan[];
  readonly origin: Origin;
}

export type TestStepPlan =
  /** An event of the default input, `atMs` after the start of the test. */
  | {
      readonly kind: 'event';
      readonly atMs: number;
      readonly type: string;
      readonly fields: ReadonlyMap<string, Value>;
      readonly origin: Origin;
    }
  | { readonly kind: 'advance'; readonly byMs: number; readonly origin: Origin }
  /** Outputs of this stream or type with these fields since the last expectation; `count` null = at least one. */
  | {
      readonly kind: 'expect';
      readonly output: string;
      readonly fields: ReadonlyMap<string, Value>;
      readonly count: number | null;
      readonly origin: Origin;
    };

/**
 * The tests of the main file, with what its streams emit. Unknown events and streams are E033, unknown fields E034, values that are not
 * constant or can never be there E062.
 */
export function checkTests(tests: readonly WrittenTest[], streams: readonly StreamPlan[], context: CheckContext): TestPlan[] {
  if (tests.length === 0) return [];
  const names: KnownNames = { inputs: sourceTypes(context.table), outputs: outputTypes(context.table), emitted: emittedFields(streams) };
  refuseSameNames(tests, context);
  return tests.map(({ node, module }) => testPlan(node, names, context.in(module)));
}

function refuseSameNames(tests: readonly WrittenTest[], context: CheckContext): void {
  const lines = new Map<string, number>();
  for (const { node, module } of tests) {
    const { value, span } = node.name;
    const { source } = context.in(module).origin(span);
    const first = lines.get(value);
    if (first !== undefined) context.in(module).report('E007', span, `the test \`${value}\` is declared twice, first in line ${first}`);
    else lines.set(value, source.position(span.start).line);
  }
}

/** Types of the fields of outputs, by stream and by type; null where they are not all known. */
type EmittedFields = ReadonlyMap<string, Map<string, readonly Type[]> | null>;

function emittedFields(streams: readonly StreamPlan[]): EmittedFields {
  const emitted = new Map<string, Map<string, readonly Type[]> | null>();
  const note = (name: string, items: readonly NamedExpression[] | null): void => {
    const known = emitted.get(name);
    if (items === null || known === null) return void emitted.set(name, null);
    const fields = known ?? new Map<string, readonly Type[]>();
    for (const { name: field, value } of items) fields.set(field, [...(fields.get(field) ?? []), value.type]);
    emitted.set(name, fields);
  };
  let hasProcess = false;
  const walk = (stream: string, operators: readonly OperatorPlan[]): void => {
    for (const operator of operators) {
      if (operator.kind === 'fork') for (const branch of operator.branches) walk(stream, branch.operators);
      if (operator.kind === 'process') hasProcess = true;
      if (operator.kind === 'emit') for (const name of new Set([stream, operator.type])) note(name, operator.items);
    }
  };
  for (const { name, operators } of streams) walk(name, operators);
  // Functions emit what they like.
  return hasProcess ? new Map() : emitted;
}

interface KnownNames {
  readonly inputs: ReadonlySet<string>;
  readonly outputs: ReadonlySet<string>;
  readonly emitted: EmittedFields;
}

function testPlan(node: TestDeclaration, names: KnownNames, context: CheckContext): TestPlan {
  const steps = node.steps.flatMap((step) => stepPlan(step, names, context) ?? []);
  return { name: node.name.value, steps, origin: context.origin(node.span) };
}

function stepPlan(step: TestStep, names: KnownNames, context: CheckContext): TestStepPlan | undefined {
  const origin = context.origin(step.span);
  switch (step.kind) {
    case 'TestAdvance': {
      const byMs = constantDurationMs(step.by, context);
      if (byMs !== undefined && byMs < 0) context.report('E081', step.by.span, 'time does not go back: advance by at least 0s');
      return byMs === undefined ? undefined : { kind: 'advance', byMs, origin };
    }
    case 'TestEvent': {
      const type = eventName(step.type, names, context);
      const atMs = constantDurationMs(step.at, context);
      const fields = constantFields(step.fields, context);
      warnUndeclared(step, context);
      return atMs === undefined ? undefined : { kind: 'event', atMs, type, fields, origin };
    }
    case 'TestExpectation': {
      const output = outputName(step.stream, names, context);
      const fields = constantFields(step.fields, context);
      refuseImpossible(step, names.emitted.get(output) ?? null, { fields, output, context });
      return { kind: 'expect', output, fields, count: step.count, origin };
    }
  }
}

/** Extra fields are kept, so one that the event does not declare may be meant. */
function warnUndeclared({ type, fields }: Extract<TestStep, { kind: 'TestEvent' }>, context: CheckContext): void {
  const event = context.symbols.event(type.text);
  if (!event) return;
  const declared = event.type.fields.map(({ name }) => name);
  for (const { key, span } of fields) {
    if (declared.includes(key) || (TIME_FIELDS as readonly string[]).includes(key)) continue;
    const nearest = nearestName(key, declared);
    context.report('W052', span, `event \`${event.name}\` declares no field \`${key}\``, nearest && didYouMean(nearest));
  }
}

interface Expected {
  readonly fields: ReadonlyMap<string, Value>;
  readonly output: string;
  readonly context: CheckContext;
}

/** What no output can have: an expectation of it fails always, or with `no` never. */
function refuseImpossible(
  { fields: entries }: Extract<TestStep, { kind: 'TestExpectation' }>,
  emitted: ReadonlyMap<string, readonly Type[]> | null,
  { fields, output, context }: Expected,
): void {
  if (emitted === null) return;
  for (const { key, span, value: node } of entries) {
    const value = fields.get(key) ?? null;
    const types = emitted.get(key);
    if (types === undefined) {
      const nearest = nearestName(key, [...emitted.keys()]);
      const hint = nearest ? didYouMean(nearest) : `it has ${[...emitted.keys()].map((name) => `\`${name}\``).join(', ')}`;
      context.report('E034', span, `the outputs of \`${output}\` have no field \`${key}\``, hint);
    } else if (!types.some((type) => mayBe(type, value))) {
      context.report('E062', node.span, `\`${key}\` of \`${output}\` is ${types.map(printType).join(' or ')}, never this value`);
    }
  }
}

/** Whether a value of the type may equal this one, which null always may. */
function mayBe({ kind }: Type, value: Value): boolean {
  if (kind === 'str') return value === null || typeof value === 'string';
  if (kind === 'bool') return value === null || typeof value === 'boolean';
  return (kind !== 'int' && kind !== 'float') || (typeof value !== 'string' && typeof value !== 'boolean');
}

function eventName({ text, span }: Identifier, { inputs }: KnownNames, context: CheckContext): string {
  const event = context.symbols.event(text);
  if (event) {
    event.used = true;
    useNamespaceOf(text, context);
    return event.name;
  }
  if (!inputs.has(text)) {
    const nearest = nearestName(text, [...context.symbols.names('type'), ...inputs]);
    context.report('E033', span, `the program knows no event \`${text}\``, nearest && didYouMean(nearest));
  }
  return text;
}

function outputName({ text, span }: Identifier, { outputs }: KnownNames, context: CheckContext): string {
  const stream = context.symbols.find('stream', text);
  if (stream) {
    stream.used = true;
    useNamespaceOf(text, context);
    return stream.name;
  }
  const name = context.symbols.event(text)?.name ?? text;
  if (!outputs.has(name)) {
    const nearest = nearestName(text, [...context.symbols.names('stream'), ...outputs]);
    context.report('E033', span, `the program has no stream \`${text}\``, nearest && didYouMean(nearest));
  }
  return name;
}

function constantFields(entries: readonly MapEntry[], context: CheckContext): Map<string, Value> {
  const fields = new Map<string, Value>();
  for (const { key, value, span } of entries) {
    if (fields.has(key)) context.report('E081', span, `the field \`${key}\` is given twice`);
    fields.set(key, requireConstant(value, context, { code: 'E062', what: `\`${key}\`` }) ?? null);
  }
  return fields;
}

import type { Value } from '../../events/value.ts';
import type { Identifier, MapEntry, TestDeclaration, TestStep } from '../ast/nodes.ts';
import { nearestName } from '../diagnostics/nearest-name.ts';
import type { Origin } from '../plan/plan.ts';
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

/** The tests of the main file. Unknown events and streams are E033, values that are not constant E062. */
export function checkTests(tests: readonly WrittenTest[], context: CheckContext): TestPlan[] {
  if (tests.length === 0) return [];
  const names: KnownNames = { inputs: sourceTypes(context.table), outputs: outputTypes(context.table) };
  return tests.map(({ node, module }) => testPlan(node, names, context.in(module)));
}

interface KnownNames {
  readonly inputs: ReadonlySet<string>;
  readonly outputs: ReadonlySet<string>;
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
      return byMs === undefined ? undefined : { kind: 'advance', byMs, origin };
    }
    case 'TestEvent': {
      const type = eventName(step.type, names, context);
      const atMs = constantDurationMs(step.at, context);
      const fields = constantFields(step.fields, context);
      return atMs === undefined ? undefined : { kind: 'event', atMs, type, fields, origin };
    }
    case 'TestExpectation': {
      const output = outputName(step.stream, names, context);
      return { kind: 'expect', output, fields: constantFields(step.fields, context), count: step.count, origin };
    }
  }
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

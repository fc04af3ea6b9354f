import { modelOf } from '../../../../shared/language/plan/alike.ts';
import type { EmitPlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { isNumeric, type RecordType } from '../../../../shared/language/plan/types.ts';
import { outputTypeOf } from '../../streams/plan-inputs.ts';
import type { Columns } from '../columns.ts';
import { OutputShape } from '../fused-output.ts';
import type { FusionContext } from '../fusion-context.ts';
import type { Body } from '../module-text.ts';
import { withFields } from '../passed-columns.ts';
import { boxed, named, Refusal, type Typed } from '../typed.ts';
import { itemsOf } from './select.ts';

/** Fields of an output that has a class of its own: each is looked for one by one. */
const FIELDS_MAX = 256;

/** `.emit(n: e, ..)`: makes an output event of a class of its own, and hands on a row of the same fields. */
export function fuseEmit(plan: EmitPlan, context: FusionContext): Columns | Refusal {
  const { body, columns, module, stream, index, program } = context;
  const items = plan.items === null ? columns.fields : itemsOf(plan.items, plan, context);
  if (items === null) return new Refusal('it hands on all fields, which are not known here');
  if (items instanceof Refusal) return items;
  if (items.length > FIELDS_MAX) return new Refusal(`it has more than ${FIELDS_MAX} fields`);
  const fields = fitted(items, outputTypeOf(stream) ?? program.declared(plan.type), body);
  const names = fields.map(([name]) => name);
  const { time } = columns;
  const at = stream.operators.indexOf(plan);
  body.add(() => {
    const shape = module.knownOf(index, (other) => outputShape(program.plan.streams[other] as StreamPlan, at, names));
    return `give(new ${outputClass(fields.length, context)}(${[shape, time, ...fields.map(([, value]) => boxed(value))].join(',')}));`;
  });
  return withFields(columns, fields, module, plan.type);
}

function outputShape(stream: StreamPlan, at: number, names: readonly string[]): OutputShape {
  const model = modelOf(stream);
  const { type } = model.operators[at] as EmitPlan;
  return new OutputShape(stream.name, type === model.name ? stream.name : type, names);
}

/** A duration in a field of numbers is its milliseconds. */
function fitted(items: NonNullable<Columns['fields']>, type: RecordType | null, body: Body): NonNullable<Columns['fields']> {
  const numeric = new Set((type?.fields ?? []).filter((field) => isNumeric(field.type)).map(({ name }) => name));
  return items.map(([name, value]) => [name, numeric.has(name) ? numberOf(value, body) : value] as const);
}

function numberOf(value: Typed, body: Body): Typed {
  if (value.as === 'duration') return { ...value, as: 'number' };
  return value.as !== 'value' || value.isNull ? value : named(body.bind(`withoutUnit(${value.text})`), 'value', true);
}

/** The class of all outputs with so many fields: objects of one class have one form in memory. */
function outputClass(fields: number, { module, program }: FusionContext): string {
  return program.once(`output:${fields}`, () => {
    const name = module.names.mint('c');
    const values = Array.from({ length: fields }, (_, i) => `x${i}`);
    const assigned = values.map((value) => `this.${value}=${value};`).join('');
    module.declare(`function ${name}(${['s0', 't0', ...values].join(',')}){this.shape=s0;this.time=t0;${assigned}}`);
    // Statements in a row, as conditions in each other would be as deep as there are fields.
    const choice = (isAsked: (place: number) => string): string =>
      `function(a0){${values.map((value, place) => `if(${isAsked(place)})return this.${value};`).join('')}return undefined;}`;
    const byPlace = choice((place) => `a0===${place}`);
    const byName = choice((place) => `this.shape.x${place}===a0`);
    module.declare(`shapeOutput(${name},${byPlace},${byName});`);
    return name;
  });
}

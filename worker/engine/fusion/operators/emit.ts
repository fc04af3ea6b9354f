import type { EmitPlan } from '../../../../shared/language/plan/plan.ts';
import { isNumeric, type RecordType } from '../../../../shared/language/plan/types.ts';
import type { Columns } from '../columns.ts';
import { OutputShape } from '../fused-output.ts';
import { withFields } from '../passed-columns.ts';
import type { Place } from '../place.ts';
import { boxed, CannotFuse, type Typed } from '../typed.ts';
import { printItems } from './select.ts';

/** Fields of an output that has a class of its own: each is looked for one by one. */
const FIELDS_MAX = 256;

/** `.emit(n: e, ..)`: makes an output event of a class of its own, and hands on a row of the same fields. */
export function fuseEmit(plan: EmitPlan, place: Place): Columns {
  const { body, columns, module, stream, program } = place;
  const items = plan.items === null ? columns.fields : printItems(plan.items, plan, place);
  if (items === null) throw new CannotFuse('it hands on all fields, which are not known here');
  if (items.length > FIELDS_MAX) throw new CannotFuse(`it has more than ${FIELDS_MAX} fields`);
  const fields = fitted(items, stream.resultType.kind === 'record' ? stream.resultType : program.declared(plan.type));
  const shape = module.constant(
    new OutputShape(
      stream.name,
      plan.type,
      fields.map(([name]) => name),
    ),
  );
  body.add(
    `give(new ${outputClass(fields.length, place)}(${[shape, columns.time, ...fields.map(([, value]) => boxed(value))].join(',')}));`,
  );
  return withFields(columns, fields, module, module.constant(plan.type));
}

/** A duration in a field of numbers is its milliseconds. */
function fitted(items: NonNullable<Place['columns']['fields']>, type: RecordType | null): NonNullable<Place['columns']['fields']> {
  const numeric = new Set((type?.fields ?? []).filter((field) => isNumeric(field.type)).map(({ name }) => name));
  return items.map(([name, value]): readonly [string, Typed] => {
    if (!numeric.has(name)) return [name, value];
    if (value.as === 'value' && value.text !== 'null') throw new CannotFuse('a value of any kind goes into a field of numbers');
    return [name, value.as === 'duration' ? { ...value, as: 'number' } : value];
  });
}

/** The class of all outputs with so many fields: objects of one class have one form in memory. */
function outputClass(fields: number, { module, program }: Place): string {
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

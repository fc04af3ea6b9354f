import type { NamedExpression, OperatorPlan, SelectPlan } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import { guarded } from '../guarded.ts';
import { withFields } from '../passed-columns.ts';
import type { Place } from '../place.ts';
import { printTyped } from '../print-typed.ts';
import type { Typed } from '../typed.ts';

/** `.select(f, n: e)`: other fields; those that are only renamed cost nothing. */
export function fuseSelect(plan: SelectPlan, place: Place): Columns {
  return withFields(place.columns, printItems(plan.items, plan, place), place.module);
}

/** The items of a `.select` or `.emit` as simple values, in order. */
export function printItems(items: readonly NamedExpression[], plan: OperatorPlan, place: Place): (readonly [string, Typed])[] {
  const { body, columns, module } = place;
  const values = items.map(({ value }) => keepable(printTyped(value, { module, body, readable: columns })));
  if (values.some((value) => value.canFail)) {
    const texts = guarded(values, plan, place);
    return distinctNames(
      items,
      values.map((value, i) => ({ ...value, text: texts[i] as string, isSimple: true, canFail: false })),
    );
  }
  return distinctNames(
    items,
    values.map((value) => (value.isSimple ? value : { ...value, text: body.bind(value.text), isSimple: true })),
  );
}

/** A value of any kind may have grown too large to be kept. */
function keepable(value: Typed): Typed {
  if (value.as !== 'value' || value.text === 'null' || value.isSimple) return value;
  return { ...value, text: `bounded(${value.text})`, canFail: true };
}

/** A name that is given twice has its last value, at its first place. */
function distinctNames(items: readonly NamedExpression[], values: readonly Typed[]): (readonly [string, Typed])[] {
  return [...new Map(items.map(({ name }, i) => [name, values[i] as Typed]))];
}

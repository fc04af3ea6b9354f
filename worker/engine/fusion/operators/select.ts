import type { NamedExpression, OperatorPlan, SelectPlan } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import type { FusionContext } from '../fusion-context.ts';
import { guarded } from '../guarded.ts';
import { withFields } from '../passed-columns.ts';
import { typedOf } from '../print-typed.ts';
import { lazily, named, Refusal, type Typed } from '../typed.ts';

/** `.select(f, n: e)`: other fields; those that are only renamed cost nothing. */
export function fuseSelect(plan: SelectPlan, context: FusionContext): Columns | Refusal {
  const items = itemsOf(plan.items, plan, context);
  return items instanceof Refusal ? items : withFields(context.columns, items, context.module);
}

/** The items of a `.select` or `.emit` as simple values, in order. */
export function itemsOf(
  items: readonly NamedExpression[],
  plan: OperatorPlan,
  context: FusionContext,
): readonly (readonly [string, Typed])[] | Refusal {
  const { body, columns, module } = context;
  const values: Typed[] = [];
  for (const { value } of items) {
    const typed = typedOf(value, { module, body, readable: columns });
    if (typed instanceof Refusal) return typed;
    values.push(keepable(typed));
  }
  if (!values.some((value) => value.canFail))
    return distinctNames(
      items,
      values.map((value) => simple(value, body)),
    );
  const names = guarded(values, plan, context);
  if (names instanceof Refusal) return names;
  return distinctNames(
    items,
    values.map(({ as, isNullable }, i) => named(names[i] as string, as, isNullable)),
  );
}

/** A value under a name of its own, unless it has one. */
export function simple(value: Typed, body: FusionContext['body']): Typed {
  return value.isSimple
    ? value
    : named(
        body.bind(() => value.text),
        value.as,
        value.isNullable,
      );
}

/** A value of any kind may have grown too large to be kept. */
function keepable(value: Typed): Typed {
  if (value.as !== 'value' || value.isSimple) return value;
  const { as, isNullable, isSimple } = value;
  return lazily({ as, isNullable, isSimple, canFail: true }, () => `bounded(${value.text})`);
}

/** A name that is given twice has its last value, at its first place. */
function distinctNames(items: readonly NamedExpression[], values: readonly Typed[]): (readonly [string, Typed])[] {
  return [...new Map(items.map(({ name }, i) => [name, values[i] as Typed]))];
}

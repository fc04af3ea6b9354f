import { invariant } from '../../../shared/errors/error.ts';
import { isArray, isMap, type Value, type ValueArray, type ValueMap } from '../../../shared/events/value.ts';
import type { AttributeName } from '../../../shared/language/plan/plan.ts';
import { type Binding, lastRow, type Row } from '../operators/row.ts';

/**
 * Rows as values, for `Operator.save`. A row that several operators hold is saved once by each: after a restore nothing
 * depends on two of them being the same object.
 *
 * The values may hold timestamps, durations, maps and infinite numbers; `snapshot` encodes them (shared/events/stored-value.ts).
 */
export function saveRow(row: Row): Value {
  return [
    row.type,
    row.time,
    row.order,
    row.fields,
    row.bound === null ? null : row.bound.map(saveBinding),
    row.attributes as ValueMap | null,
    row.causes,
    row.last !== undefined,
  ];
}

export function loadRow(saved: Value): Row {
  const [type, time, order, fields, bound, attributes, causes, hasLast] = saved as ValueArray;
  const isNumbered = typeof time === 'number' && typeof order === 'number' && isNumbers(causes as Value);
  invariant(
    typeof type === 'string' && isNumbered && isMap(fields as Value),
    'a row is kept with its type, time, order, fields and causes',
  );
  const row: Row = {
    type: type as string,
    time: time as number,
    order: order as number,
    fields: fields as ValueMap,
    bound: bound === null ? null : (bound as ValueArray).map(loadBinding),
    attributes: attributes as ReadonlyMap<AttributeName, Value> | null,
    causes: causes as readonly number[],
  };
  const last = hasLast === true && row.bound !== null ? lastRow(row.bound) : null;
  return last === null ? row : { ...row, last };
}

function isNumbers(value: Value): boolean {
  return isArray(value) && value.every((item) => typeof item === 'number');
}

/** A single row is wrapped in a map, so that it cannot be taken for a closure's array of rows. */
function saveBinding(binding: Binding): Value {
  if (binding === null) return null;
  if (Array.isArray(binding)) return binding.map(saveRow);
  return new Map([['row', saveRow(binding as Row)]]);
}

function loadBinding(saved: Value): Binding {
  if (isMap(saved)) return loadRow(saved.get('row') as Value);
  return isArray(saved) ? saved.map(loadRow) : null;
}

import type { Value, ValueMap } from '../../../shared/events/value.ts';
import { isMap } from '../../../shared/events/value.ts';
import { type Binding, lastRow, type Row } from '../operators/row.ts';
import { type Codec, flag, list, number, orNull, record, text, valueMap } from './codec.ts';

/**
 * Rows as values. A row that several operators hold is saved once by each: after a restore nothing depends on two of them being the
 * same object.
 */
export const savedRow: Codec<Row> = { save: saveRow, load: loadRow };

/** Written out, as there are many of them: what `members` would save. */
export function saveRow(row: Row): Value {
  return [
    row.type,
    row.time,
    row.order,
    row.fields,
    row.bound === null ? null : row.bound.map(savedBinding.save),
    row.attributes as ValueMap | null,
    row.causes,
    row.last !== undefined,
  ];
}

/** @throws DamagedState */
function loadRow(saved: Value | undefined): Row {
  const { type, time, order, fields, bound, attributes, causes, hasLast } = members.load(saved);
  const last = hasLast && bound !== null ? lastRow(bound) : null;
  const row = { type, time, order, fields, bound, attributes: attributes as Row['attributes'], causes };
  return last === null ? row : { ...row, last };
}

/** A single row is wrapped in a map, so that it cannot be taken for a closure's list of rows. */
export const savedBinding: Codec<Binding> = {
  save: (binding) => {
    if (binding === null) return null;
    return Array.isArray(binding) ? binding.map(saveRow) : new Map([['row', saveRow(binding as Row)]]);
  },
  load: (saved) => {
    if (saved === null) return null;
    return saved !== undefined && isMap(saved) ? loadRow(saved.get('row')) : rows.load(saved);
  },
};

const rows = list(savedRow);

const members = record({
  type: text,
  time: number,
  order: number,
  fields: valueMap,
  bound: orNull(list(savedBinding)),
  attributes: orNull(valueMap),
  causes: list(number),
  hasLast: flag,
});

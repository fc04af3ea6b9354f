import type { Value, ValueMap } from '../../../shared/events/value.ts';
import { lastRow, type Row } from '../operators/row.ts';
import { anyValue, DamagedState, flag, list, number, orNull, text, valueMap } from './codec.ts';
import { type Column, column, fewColumn, listColumn, numberColumn, recordColumn, sameColumn } from './columns.ts';
import { savedBinding } from './saved-row.ts';

/** Fields have few lists of names among them; their values stand one behind the other. */
const fields = recordColumn({
  names: fewColumn(list(text), (names) => JSON.stringify(names)),
  values: listColumn(column(anyValue)),
});

const fieldsColumn: Column<ValueMap> = {
  save: (maps) => fields.save(maps.map((map) => ({ names: [...map.keys()], values: [...map.values()] }))),
  load: (saved, length) => {
    const read = fields.readers(saved, length);
    return (at) => {
      const names = read.names(at);
      const values = read.values(at);
      if (names.length !== values.length) throw new DamagedState([...values], `a list of ${names.length}`);
      const map = new Map<string, Value>();
      for (let position = 0; position < names.length; position++) map.set(names[position] as string, values[position] as Value);
      return map;
    };
  },
};

const rows = recordColumn({
  type: fewColumn(text, (type) => type),
  time: numberColumn,
  order: numberColumn,
  fields: fieldsColumn,
  bound: sameColumn(orNull(list(savedBinding))),
  attributes: sameColumn(orNull(valueMap)),
  causes: listColumn(column(number)),
  hasLast: sameColumn(flag),
});

/** Rows, as `savedRow` has each of them. */
export const rowColumn: Column<Row> = {
  save: (all) => rows.save(all.map((row) => ({ ...row, attributes: row.attributes as ValueMap | null, hasLast: row.last !== undefined }))),
  load: (saved, length) => {
    const read = rows.readers(saved, length);
    return (at) => {
      const bound = read.bound(at);
      const last = read.hasLast(at) && bound !== null ? lastRow(bound) : null;
      const row: Row = {
        type: read.type(at),
        time: read.time(at),
        order: read.order(at),
        fields: read.fields(at),
        bound,
        attributes: read.attributes(at) as Row['attributes'],
        causes: read.causes(at),
      };
      return last === null ? row : { ...row, last };
    };
  },
};

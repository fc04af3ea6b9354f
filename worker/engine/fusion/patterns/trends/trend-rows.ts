import type { Value } from '../../../../../shared/events/value.ts';
import type { Row } from '../../../operators/row.ts';
import { asGiven } from '../history.ts';
import type { Given } from '../pattern-input.ts';
import type { TrendForm } from './trend-form.ts';
import type { TrendWindow } from './trend-window.ts';

/** What generated code is given of a row. */
export function givenBy(row: Row, given: Given): unknown {
  if (given.of === 'field') return asGiven(row.fields.get(given.name) ?? null, given.as);
  return given.of === 'type' ? row.type : row;
}

/** An event, as far as a window remembers it: its type and its key. */
export function keyRow(type: string, names: readonly string[], keys: readonly Value[]): Row {
  const fields = new Map(names.map((name, at) => [name, keys[at] ?? null]));
  return { type, time: 0, order: 0, fields, bound: null, attributes: null, causes: [] };
}

/** By slot, the last event that a trend took there, as far as results read it. */
export function boundOf({ held }: TrendWindow, { pattern, held: slots }: TrendForm): readonly (Row | null)[] {
  return pattern.steps.map(({ slot }) => {
    const event = held[slot] ?? null;
    const fields = slots?.find((one) => one.slot === slot)?.fields ?? [];
    if (event === null) return null;
    const { type, time, order, values } = event;
    const named = new Map(fields.map((name, at) => [name, values[at] ?? null]));
    return { type, time, order, fields: named, bound: null, attributes: null, causes: [order] };
  });
}

/** Puts such an event back into a window. */
export function holdAgain(window: TrendWindow, slot: number, { order, time, type, fields }: Row, { held }: TrendForm): void {
  const names = held?.find((one) => one.slot === slot)?.fields;
  if (names !== undefined)
    window.hold(
      slot,
      order,
      time,
      type,
      names.map((name) => fields.get(name) ?? null),
    );
}

import { Timestamp, type Value } from '../../../shared/events/value.ts';
import type { AttributeName } from '../../../shared/language/plan/plan.ts';
import type { Binding, Row } from '../operators/row.ts';

const NONE: readonly Row[] = [];

/** What a slot holds, as a list: the captures of a closure, the one row of a step, or nothing. */
export function capturesOf(binding: Binding | undefined): readonly Row[] {
  if (binding === null || binding === undefined) return NONE;
  return isCaptures(binding) ? binding : [binding];
}

/** The row of a step, the last capture of a closure. */
export function boundRow(binding: Binding | undefined): Row | null {
  if (binding === null || binding === undefined) return null;
  return isCaptures(binding) ? (binding.at(-1) ?? null) : binding;
}

function isCaptures(binding: Row | readonly Row[]): binding is readonly Row[] {
  return Array.isArray(binding);
}

/** A field of a row: its own, else (directly behind a pattern) that of the match's last event. */
export function fieldOf(row: Row, name: string): Value {
  const own = row.fields.get(name);
  if (own !== undefined) return own;
  return row.last?.fields.get(name) ?? null;
}

export function attributeOf(row: Row, name: AttributeName): Value {
  if (name === 'event_type') return row.type;
  if (name === 'timestamp') return new Timestamp(row.time);
  return row.attributes?.get(name) ?? null;
}

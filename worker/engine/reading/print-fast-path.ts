import { Names } from '../compile/names.ts';
import type { EntryField, EventEntry } from '../fusion/event-entry.ts';
import { type ScalarKind, scalarKind } from './fast-path.ts';
import type { PrintedText } from './print-reader.ts';

/**
 * Prints a function for each type, in order, as an array: `(fields, stated, arrival)` enters the event and gives true, or
 * gives false when the event is not plain. `stated`: the time that the envelope states, NaN = none; `arrival`: the time when
 * nothing else says one. Names: `s0` the map of the fields, `u0` and `u1` the two times.
 */
export function printFastPath(entries: readonly EventEntry[]): PrintedText {
  const names = new Names();
  const functions = entries.map((entry) => printEntry(entry, names));
  return { text: `'use strict';\nreturn [\n${functions.join(',\n')}\n];\n`, constants: names.constants };
}

/** Reading a field moves nothing, so everything is checked before anything is entered. */
function printEntry({ enter, fields, timeField }: EventEntry, names: Names): string {
  const values = fields.map(() => names.mint('v'));
  const checks = fields.map((field, at) => printField(field, values[at] as string, names));
  const read = values.filter((_, at) => (fields[at] as EntryField).isRead).map((value) => `,${value}`);
  const call = (time: string, isArrival: boolean): string => `${names.constant(enter)}(${time},${isArrival}${read.join('')});`;
  const otherwise = timeField === null ? call('u1', true) : call(values[timeField] as string, false);
  const take = `if(u0===u0)${call('u0', false)}else ${otherwise}`;
  return `(s0,u0,u1)=>{if(s0.size!==${fields.length})return false;${checks.join('')}${take}return true;}`;
}

function printField({ name, type }: EntryField, value: string, names: Names): string {
  const held = `s0.get(${names.constant(name)})`;
  const kind = scalarKind(type) as ScalarKind;
  const conversion = conversions[kind];
  if (conversion !== undefined) return `const ${value}=${conversion}(${held});if(${value}!==${value})return false;`;
  return `const ${value}=${held};if(!${predicates[kind]}(${value}))return false;`;
}

const predicates: Partial<Record<ScalarKind, string>> = { int: 'isSafeWhole', float: 'isFiniteNumber', str: 'isShortText', bool: 'isBool' };
/** These give NaN for what is not of the kind. */
const conversions: Partial<Record<ScalarKind, string>> = { timestamp: 'timeOf', duration: 'milliseconds' };

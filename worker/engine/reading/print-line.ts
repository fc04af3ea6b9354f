import type { EntryField, EventEntry } from '../fusion/event-entry.ts';
import { scalarKind } from './fast-path.ts';
import { envelopeMembers } from './json-envelope.ts';
import type { Layout } from './layouts.ts';
import { bytesOf, printMatch } from './literal.ts';
import { marks, times } from './marks.ts';
import { printValue, type ValueContext } from './print-value.ts';
import type { Key } from './spacing.ts';

export interface LineContext extends ValueContext {
  /** Names of the constants that a line needs. */
  readonly marks: string;
  readonly times: string;
  /** Only for JSON. */
  readonly envelope: string;
}

/** How a format writes an event, as far as its layout is known beforehand. */
export interface LineNotation {
  /** Text in front of a field's value, without the quote that may open it; the usual one first. `at` is the field's position. */
  readonly leads: (name: string, at: number) => readonly string[];
  /** The field's name as it stands in a line. */
  readonly key: (name: string) => string;
  /** What separates a field from what stands before it; 0 = nothing that `member` would have to find. */
  readonly mark: (at: number) => number;
}

const evtNotation: LineNotation = {
  leads: (name, at) => [`${at === 0 ? ' { ' : ', '}${name}: `],
  key: (name) => name,
  mark: (at) => (at === 0 ? 123 : 44),
};

const jsonNotation: LineNotation = {
  leads: (name, at) => (at === 0 ? [`"${name}":`, `"${name}": `] : [`,"${name}":`, `, "${name}": `]),
  key: (name) => `"${name}"`,
  mark: (at) => (at === 0 ? 0 : 44),
};

/**
 * Prints the function for a line of one type of an `.evt` file: `(b0, w0, p0)` with the line at the type's name gives the
 * position behind the line, and 0 when the line does not have the expected layout.
 */
export function printEvtLine(entry: EventEntry, layout: Layout, context: LineContext): string {
  const name = `if(${printMatch(entry.type)})p0+=${entry.type.length};else return 0;`;
  if (entry.fields.length === 0)
    return `(b0,w0,p0)=>{${name}p0=emptyEvtLine(b0,p0);if(p0===0)return 0;${enter(entry, { values: [], places: [] }, 'false', context)}}`;
  const printed = printFields(entry, layout, evtNotation, context);
  const end = `if(${printMatch(' }\n')})p0+=3;else{p0=evtLineEnd(b0,p0);if(p0===0)return 0;}`;
  return `(b0,w0,p0)=>{${name}${printed.text}${end}${enter(entry, printed, 'false', context)}}`;
}

/** The same for a line of JSON, with `p0` behind the quote that opens the type's name. */
export function printJsonLine(entry: EventEntry, layout: Layout, context: LineContext): string {
  const { envelope } = context;
  const name = `if(${printMatch(`${entry.type}"`)})p0=${envelope}.body(b0,w0,p0+${entry.type.length + 1});else return 0;if(p0===0)return 0;`;
  const canBeFlat = entry.fields.length > 0 && !entry.fields.some((field) => envelopeMembers.has(field.name));
  const place = canBeFlat ? '' : `if(${context.marks}[${marks.isNested}]===0)return 0;`;
  const printed = printFields(entry, layout, jsonNotation, context);
  const end = `p0=${envelope}.end(b0,w0,p0);if(p0===0)return 0;`;
  const stated = `const u0=${context.times}[${times.envelope}];`;
  return `(b0,w0,p0)=>{${name}${place}${printed.text}${end}${stated}${enter(entry, printed, 'u0===u0', context)}}`;
}

/**
 * Prints all fields of a type in the order of `layout`. `values`: names of those that are wanted, in the order of declaration;
 * undefined for others.
 */
function printFields(entry: EventEntry, layout: Layout, notation: LineNotation, context: LineContext): FieldsText {
  const { fields, timeField } = entry;
  const values: (string | undefined)[] = [];
  const places: (string | undefined)[] = [];
  const texts = layout.map((position, at) => {
    const field = fields[position] as EntryField;
    const { text, value, place } = printValue(field, field.isRead || position === timeField, context);
    values[position] = value;
    places[position] = place;
    return printLead(field, at, notation, context) + text;
  });
  return { text: texts.join(''), values, places: places.filter((place) => place !== undefined) };
}

interface FieldsText {
  readonly text: string;
  readonly values: readonly (string | undefined)[];
  /** What tells the places of texts, in the order of declaration. */
  readonly places: readonly string[];
}

function printLead({ name, type }: EntryField, at: number, notation: LineNotation, { define }: LineContext): string {
  const isQuoted = scalarKind(type) === 'str';
  const leads = notation.leads(name, at).map((lead) => lead + (isQuoted ? '"' : ''));
  const key: Key = { bytes: bytesOf(notation.key(name)), isQuoted };
  const expected = leads.map((lead) => `if(${printMatch(lead)})p0+=${bytesOf(lead).length};else `).join('');
  return `${expected}{p0=member(b0,p0,${notation.mark(at)},${define(key)});if(p0===0)return 0;}`;
}

/** Counts the event, hands it in and returns. `isStated`: the envelope says the time, as `u0`. */
function enter(
  { enter: take, fields, timeField }: EventEntry,
  { values, places }: Omit<FieldsText, 'text'>,
  isStated: string,
  context: LineContext,
): string {
  const current = `${context.times}[${times.current}]`;
  const read = [...values.filter((_, at) => (fields[at] as EntryField).isRead), ...places].map((value) => `,${value}`);
  const call = (time: string, isArrival: boolean): string => `${context.define(take)}(${time},${isArrival}${read.join('')});`;
  const count = `${context.marks}[${marks.entered}]++;`;
  const own = timeField === null ? undefined : (values[timeField] as string);
  if (isStated === 'false') return `${count}${own === undefined ? call(current, true) : call(own, false)}return p0;`;
  if (own !== undefined) return `${count}const u1=${isStated}?u0:${own};${current}=u1;${call('u1', false)}return p0;`;
  return `${count}if(${isStated}){${current}=u0;${call('u0', false)}}else ${call(current, true)}return p0;`;
}

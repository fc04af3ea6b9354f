import { ANY, arrayOf, BOOL, FLOAT, INT, mapOf, NULL, printType, STR, TIMESTAMP, type Type } from '../language/plan/types.ts';
import { readEventTime } from './event-time.ts';
import type { ReadEvent, ReadResult } from './reading/read-result.ts';
import { compareText } from './text.ts';
import { areTimes, compareTimeLike } from './time-like.ts';
import { isArray, isMap, type Value } from './value.ts';

/** Declarations guessed from events. */
export interface Inference {
  /** In alphabetical order. */
  readonly types: readonly InferredType[];
  /** The events looked at. */
  readonly events: number;
}

export interface InferredType {
  readonly name: string;
  /** In alphabetical order. */
  readonly fields: readonly InferredField[];
}

export interface InferredField {
  readonly name: string;
  /** `null` when no event had another value. */
  readonly type: Type;
  /** Null or missing in some event of the type. */
  readonly isNullable: boolean;
  /** What its values are although it is not declared so; absent = nothing. */
  readonly remark?: string;
}

export interface InferenceOptions {
  readonly sampleSize: number;
  /** Name of the field that says when an event happened. @default the one that seems to, where no envelope says it */
  readonly timeField?: string | undefined;
}

export interface InferencePrintOptions {
  /** Adds `?` to nullable fields. */
  readonly nullable: boolean;
}

/**
 * Looks at the first `sampleSize` events; what is invalid or unreadable does not count. Results read with `markFloats`
 * tell `7.0`, a float, from `7`. No more results are taken than needed.
 *
 * Fields that hold points in time are timestamps, and the first timestamp of a type is the time of its events. So of several, one
 * that would stand before the field that says when the event happened stays a text or a number, with a remark.
 */
export function inferSchemas(results: Iterable<ReadResult>, { sampleSize, timeField }: InferenceOptions): Inference {
  const observed = new Map<string, ObservedType>();
  let events = 0;
  for (const result of sampleSize > 0 ? results : []) {
    if (result.kind !== 'event') continue;
    observe(observed, result);
    if (++events >= sampleSize) break;
  }
  const types = [...observed].map(([name, type]) => ({ name, fields: withTimes(fieldsOf(type), type, timeField) }));
  return { types: types.sort(byName), events };
}

/** `event` blocks, then a comment line with the counts. What no program can name is said in a comment. */
export function printInference({ types, events }: Inference, { nullable }: InferencePrintOptions): string {
  const blocks = types.map((type) => `${printEvent(type, nullable)}\n\n`);
  return `${blocks.join('')}# Inferred ${counted(types.length, 'event type')} from ${counted(events, 'event')}\n`;
}

interface ObservedType {
  events: number;
  /** Events whose envelope says their time: no field has to. */
  stated: number;
  readonly fields: Map<string, ObservedField>;
}

interface ObservedField {
  type: Type;
  values: number;
  /** All values so far can be read as points in time, and look as though they were ones. */
  isPoint: boolean;
  isTime: boolean;
  /** The first value. */
  readonly example: Value;
}

function observe(observed: Map<string, ObservedType>, { event, wholeFloats }: ReadEvent): void {
  const type = observed.get(event.type) ?? { events: 0, stated: 0, fields: new Map() };
  observed.set(event.type, type);
  type.events++;
  if (event.timestamp !== undefined) type.stated++;
  for (const [name, value] of event.fields) {
    const seen = type.fields.get(name);
    const found = typeOf(value, wholeFloats?.includes(name) ?? false);
    type.fields.set(name, {
      type: seen ? unite(seen.type, found, STR) : found,
      values: (seen?.values ?? 0) + (value === null ? 0 : 1),
      isPoint: (seen?.isPoint ?? true) && (value === null || readEventTime(value) !== undefined),
      isTime: (seen?.isTime ?? true) && (value === null || areTimes(name, [value])),
      example: seen?.example ?? value,
    });
  }
}

function fieldsOf({ events, fields }: ObservedType): InferredField[] {
  return [...fields].map(([name, { type, values }]) => ({ name, type, isNullable: values < events })).sort(byName);
}

/** The fields with those declared as timestamps that hold them, as far as that leaves the event its time. */
function withTimes(fields: readonly InferredField[], type: ObservedType, timeField: string | undefined): InferredField[] {
  const { fields: observed } = type;
  const times = fields.filter(({ name }) => isTime(observed.get(name)));
  const example = ({ name }: InferredField): { name: string; example: Value } => ({ name, example: observed.get(name)?.example ?? null });
  const [likely] = times.toSorted((one, other) => compareTimeLike(example(one), example(other)));
  const named = fields.find(({ name }) => name === timeField && observed.get(name)?.isPoint);
  const own = named ?? likely;
  const needsOwn = named !== undefined || type.stated < type.events;
  return fields.map((field) => {
    if (field !== own && !times.includes(field)) return field;
    if (own === undefined || !needsOwn || compareText(field.name, own.name) >= 0) return { ...field, type: TIMESTAMP };
    return { ...field, remark: `holds times; declared as timestamp it would be the time of the event in place of ${own.name}` };
  });
}

function isTime(field: ObservedField | undefined): boolean {
  return field?.isTime === true && field.values > 0;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareText(a.name, b.name);
}

/** An object is `{str: any}`. An array is `[T]` where its items agree, else `[any]`. */
function typeOf(value: Value, isFloat: boolean): Type {
  if (value === null) return NULL;
  if (typeof value === 'string') return STR;
  if (typeof value === 'boolean') return BOOL;
  if (typeof value === 'number') return isFloat || !Number.isInteger(value) ? FLOAT : INT;
  if (isArray(value)) {
    const item = value.map((one) => typeOf(one, isFloat)).reduce((a, b) => unite(a, b, ANY), NULL);
    return arrayOf(item, value.includes(null));
  }
  return isMap(value) ? mapOf(ANY) : ANY;
}

/** The type of both; scalars of different kinds are `mixed`, a nested value and something else is `any`. */
function unite(a: Type, b: Type, mixed: Type): Type {
  if (a.kind === 'null') return b;
  if (b.kind === 'null') return a;
  if (a.kind === 'array' && b.kind === 'array') return arrayOf(unite(a.item, b.item, ANY), a.areItemsOptional || b.areItemsOptional);
  if (a.kind === b.kind) return a;
  const isNumber = (type: Type): boolean => type.kind === 'int' || type.kind === 'float';
  if (isNumber(a) && isNumber(b)) return FLOAT;
  return isScalar(a) && isScalar(b) ? mixed : ANY;
}

function isScalar({ kind }: Type): boolean {
  return kind === 'int' || kind === 'float' || kind === 'bool' || kind === 'str';
}

function printEvent({ name, fields }: InferredType, nullable: boolean): string {
  if (!canBeDeclared(name)) return `# ${JSON.stringify(name)} is no name that a program can declare`;
  const declared = isIdentifier(name) && !reservedWords.has(name) ? name : `\`${name}\``;
  return [`event ${declared}:`, ...fields.map((field) => `    ${printField(field, nullable)}`)].join('\n');
}

function printField({ remark, ...field }: InferredField, nullable: boolean): string {
  return `${printDeclared(field, nullable)}${remark === undefined ? '' : `  # ${remark}`}`;
}

function printDeclared({ name, type, isNullable }: InferredField, nullable: boolean): string {
  const printed = type.kind === 'null' ? 'str?' : printType(withoutNull(type, nullable)) + (nullable && isNullable ? '?' : '');
  if (isIdentifier(name)) return `${name}: ${printed}`;
  return canBeDeclared(name) ? `\`${name}\`: ${printed}` : `# ${JSON.stringify(name)}: ${printed}`;
}

/** At least in backticks. */
function canBeDeclared(name: string): boolean {
  return name !== '' && !/[`\p{Cc}\u2028\u2029]/u.test(name);
}

/** An array that never held an item may hold any. */
function withoutNull(type: Type, nullable: boolean): Type {
  if (type.kind !== 'array') return type;
  const isUnknown = type.item.kind === 'null';
  return arrayOf(isUnknown ? ANY : withoutNull(type.item, nullable), nullable && type.areItemsOptional);
}

const reservedWords = new Set(['true', 'false', 'null', 'and', 'or', 'not', 'if', 'then', 'else']);

function isIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

import { ANY, arrayOf, BOOL, FLOAT, INT, mapOf, NULL, printType, STR, type Type } from '../language/plan/types.ts';
import type { ReadEvent, ReadResult } from './reading/read-result.ts';
import { compareText } from './text.ts';
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
}

export interface InferencePrintOptions {
  /** Adds `?` to nullable fields. */
  readonly nullable: boolean;
}

/**
 * Looks at the first `sampleSize` events; what is invalid or unreadable does not count. Results read with `markFloats`
 * tell `7.0`, a float, from `7`. No more results are taken than needed.
 */
export function inferSchemas(results: Iterable<ReadResult>, sampleSize: number): Inference {
  const observed = new Map<string, ObservedType>();
  let events = 0;
  for (const result of sampleSize > 0 ? results : []) {
    if (result.kind !== 'event') continue;
    observe(observed, result);
    if (++events >= sampleSize) break;
  }
  const types = [...observed].map(([name, type]) => ({ name, fields: fieldsOf(type) }));
  return { types: types.sort(byName), events };
}

/** `event` blocks, then a comment line with the counts. What no program can name is said in a comment. */
export function printInference({ types, events }: Inference, { nullable }: InferencePrintOptions): string {
  const blocks = types.map((type) => `${printEvent(type, nullable)}\n\n`);
  return `${blocks.join('')}# Inferred ${counted(types.length, 'event type')} from ${counted(events, 'event')}\n`;
}

interface ObservedType {
  events: number;
  readonly fields: Map<string, { type: Type; values: number }>;
}

function observe(observed: Map<string, ObservedType>, { event, wholeFloats }: ReadEvent): void {
  const type = observed.get(event.type) ?? { events: 0, fields: new Map() };
  observed.set(event.type, type);
  type.events++;
  for (const [name, value] of event.fields) {
    const seen = type.fields.get(name);
    const found = typeOf(value, wholeFloats?.includes(name) ?? false);
    type.fields.set(name, {
      type: seen ? unite(seen.type, found, STR) : found,
      values: (seen?.values ?? 0) + (value === null ? 0 : 1),
    });
  }
}

function fieldsOf({ events, fields }: ObservedType): InferredField[] {
  return [...fields].map(([name, { type, values }]) => ({ name, type, isNullable: values < events })).sort(byName);
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
  if (isArray(value)) return arrayOf(value.map((item) => typeOf(item, isFloat)).reduce((a, b) => unite(a, b, ANY), NULL));
  return isMap(value) ? mapOf(ANY) : ANY;
}

/** The type of both; scalars of different kinds are `mixed`, a nested value and something else is `any`. */
function unite(a: Type, b: Type, mixed: Type): Type {
  if (a.kind === 'null') return b;
  if (b.kind === 'null') return a;
  if (a.kind === 'array' && b.kind === 'array') return arrayOf(unite(a.item, b.item, ANY));
  if (a.kind === b.kind) return a;
  const isNumber = (type: Type): boolean => type.kind === 'int' || type.kind === 'float';
  if (isNumber(a) && isNumber(b)) return FLOAT;
  return isScalar(a) && isScalar(b) ? mixed : ANY;
}

function isScalar({ kind }: Type): boolean {
  return kind === 'int' || kind === 'float' || kind === 'bool' || kind === 'str';
}

function printEvent({ name, fields }: InferredType, nullable: boolean): string {
  if (!isIdentifier(name) || reservedWords.has(name)) return `# ${JSON.stringify(name)} is no name that a program can declare`;
  return [`event ${name}:`, ...fields.map((field) => `    ${printField(field, nullable)}`)].join('\n');
}

function printField({ name, type, isNullable }: InferredField, nullable: boolean): string {
  const printed = type.kind === 'null' ? 'str?' : printType(withoutNull(type)) + (nullable && isNullable ? '?' : '');
  if (isIdentifier(name)) return `${name}: ${printed}`;
  return /[`\p{Cc}\u2028\u2029]/u.test(name) || name === '' ? `# ${JSON.stringify(name)}: ${printed}` : `\`${name}\`: ${printed}`;
}

/** An array that never held an item may hold any. */
function withoutNull(type: Type): Type {
  if (type.kind !== 'array') return type;
  return arrayOf(type.item.kind === 'null' ? ANY : withoutNull(type.item));
}

const reservedWords = new Set(['true', 'false', 'null', 'and', 'or', 'not', 'if', 'then', 'else']);

function isIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * The static types of the language. Null belongs to every type: `T?` matters only for the fields of an event and the items of
 * their arrays, where it decides what counts as incomplete, so optionality stands on these and not in the type.
 */
export type Type =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'array'; readonly item: Type /** `[T?]`: items may be null. */; readonly areItemsOptional?: true }
  | { readonly kind: 'map'; readonly value: Type }
  | RecordType;

/** `null` is the type of the literal alone; it fits every other type. */
export type SimpleKind = 'int' | 'float' | 'str' | 'bool' | 'timestamp' | 'duration' | 'any' | 'null';

/** A declared event or record type. Fields of parents come first. */
export interface RecordType {
  readonly kind: 'record';
  readonly name: string;
  readonly fields: readonly FieldType[];
}

export interface FieldType {
  readonly name: string;
  readonly type: Type;
  /** Declared with `?`: may be null or missing without making the event incomplete. */
  readonly optional: boolean;
}

export const INT: Type = { kind: 'int' };
export const FLOAT: Type = { kind: 'float' };
export const STR: Type = { kind: 'str' };
export const BOOL: Type = { kind: 'bool' };
export const TIMESTAMP: Type = { kind: 'timestamp' };
export const DURATION: Type = { kind: 'duration' };
export const ANY: Type = { kind: 'any' };
export const NULL: Type = { kind: 'null' };
export const arrayOf = (item: Type, areItemsOptional = false): Type => ({
  kind: 'array',
  item,
  ...(areItemsOptional && { areItemsOptional }),
});
export const mapOf = (value: Type): Type => ({ kind: 'map', value });

/** The type as a user would write it. */
export function printType(type: Type): string {
  switch (type.kind) {
    case 'array':
      return `[${printType(type.item)}${type.areItemsOptional ? '?' : ''}]`;
    case 'map':
      return `{str: ${printType(type.value)}}`;
    case 'record':
      return type.name;
    default:
      return type.kind;
  }
}

export function isNumeric(type: Type): boolean {
  return type.kind === 'int' || type.kind === 'float';
}

/** Whether a value of type `from` may stand where `to` is asked for; `any` fits both ways and `int`/`float` mix. */
export function isAssignable(from: Type, to: Type): boolean {
  if (to.kind === 'any' || from.kind === 'any' || from.kind === 'null') return true;
  if (isNumeric(from) && isNumeric(to)) return true;
  if (from.kind === 'array' && to.kind === 'array') return isAssignable(from.item, to.item);
  if (from.kind === 'map' && to.kind === 'map') return isAssignable(from.value, to.value);
  if (from.kind === 'record' && to.kind === 'map') return from.fields.every((field) => isAssignable(field.type, to.value));
  if (from.kind === 'map' && to.kind === 'record') return true;
  if (from.kind === 'record' && to.kind === 'record') return from.name === to.name || hasFieldsOf(from, to);
  return from.kind === to.kind;
}

/** As `isAssignable`, of whatever value of type `from` there is: none has to be looked at when the program runs. */
export function alwaysFits(from: Type, to: Type): boolean {
  if (to.kind === 'any' || from.kind === 'null') return true;
  if (from.kind === 'array' && to.kind === 'array') return alwaysFits(from.item, to.item);
  if (from.kind === 'map' && to.kind === 'map') return alwaysFits(from.value, to.value);
  if (from.kind === 'record') return to.kind === 'record' ? alwaysHasFieldsOf(from, to) : to.kind === 'map' && to.value.kind === 'any';
  return from.kind === to.kind || (isNumeric(from) && isNumeric(to));
}

/** Events may have a field of which nothing is known under the name of one that is declared. */
function alwaysHasFieldsOf(from: RecordType, to: RecordType): boolean {
  if (from.fields === to.fields) return true;
  return to.fields.every(({ name, type }) => {
    const found = from.fields.find((field) => field.name === name);
    return found !== undefined && alwaysFits(found.type, type);
  });
}

function hasFieldsOf(from: RecordType, to: RecordType): boolean {
  return to.fields.every((wanted) => {
    const found = from.fields.find((field) => field.name === wanted.name);
    return found ? isAssignable(found.type, wanted.type) : wanted.optional;
  });
}

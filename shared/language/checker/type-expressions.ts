import type { NamedType, TypeExpression } from '../ast/nodes.ts';
import { nearestName } from '../diagnostics/nearest-name.ts';
import { name as printName } from '../format/names.ts';
import { ANY, arrayOf, BOOL, DURATION, FLOAT, INT, mapOf, STR, TIMESTAMP, type Type } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import { didYouMean } from './expressions/names.ts';
import { sourceTypes } from './program-names.ts';

/** A type as written, with the `?` outside of it. */
export interface ResolvedType {
  readonly type: Type;
  readonly optional: boolean;
}

const SIMPLE_TYPES: ReadonlyMap<string, Type> = new Map([
  ['int', INT],
  ['float', FLOAT],
  ['str', STR],
  ['bool', BOOL],
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
  ['any', ANY],
]);

/** What these are called elsewhere. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'str'],
  ['text', 'str'],
  ['integer', 'int'],
  ['long', 'int'],
  ['number', 'float'],
  ['double', 'float'],
  ['decimal', 'float'],
  ['boolean', 'bool'],
  ['datetime', 'timestamp'],
  ['date', 'timestamp'],
  ['time', 'timestamp'],
  ['object', '{str: any}'],
  ['map', '{str: any}'],
  ['list', '[any]'],
  ['array', '[any]'],
]);

/** A type as written. Unknown names are E033, tuples and `Stream<T>` E062; the answer is then `any`. */
export function resolveType(node: TypeExpression, context: CheckContext): ResolvedType {
  switch (node.kind) {
    case 'OptionalType':
      return { type: resolveType(node.of, context).type, optional: true };
    case 'ArrayType': {
      const item = resolveType(node.item, context);
      return { type: arrayOf(item.type, item.optional), optional: false };
    }
    case 'MapType': {
      const key = resolveType(node.key, context).type;
      if (key.kind !== 'str') context.report('E062', node.key.span, 'the keys of a map are str', 'write {str: T}');
      return { type: mapOf(resolveType(node.value, context).type), optional: false };
    }
    case 'NamedType':
      return resolveNamed(node, context);
  }
}

function resolveNamed(node: NamedType, context: CheckContext): ResolvedType {
  if (node.parameters.length > 0) return refused(node, context);
  const simple = SIMPLE_TYPES.get(node.name);
  if (simple) return { type: simple, optional: false };
  const symbol = context.symbols.find('type', node.name);
  if (!symbol) return unknown(node, context);
  symbol.used = true;
  symbol.prepare();
  useNamespaceOf(node.name, context);
  return { type: symbol.type, optional: symbol.kind === 'alias' && symbol.optional };
}

/** Marks the import alias at the front of a dotted name as used. */
export function useNamespaceOf(name: string, context: CheckContext): void {
  const dot = name.indexOf('.');
  if (dot > 0) context.symbols.useNamespace(name.slice(0, dot));
}

function refused(node: NamedType, context: CheckContext): ResolvedType {
  for (const parameter of node.parameters) resolveType(parameter, context.quietly());
  if (node.name === 'tuple')
    context.report('E062', node.span, 'there are no tuples', 'write an array `[any]`, or declare a record with `type T:`');
  else context.report('E062', node.span, `\`${node.name}\` takes no type parameters`, 'write the type of the values alone');
  return { type: ANY, optional: false };
}

function unknown(node: NamedType, context: CheckContext): ResolvedType {
  if (sourceTypes(context.table).has(node.name)) return undeclaredEvent(node, context);
  const known = OTHER_NAMES.get(node.name.toLowerCase());
  const nearest = known ?? nearestName(node.name, [...SIMPLE_TYPES.keys(), ...context.symbols.names('type')]);
  context.report('E033', node.span, `unknown type \`${node.name}\``, nearest && didYouMean(nearest));
  return { type: ANY, optional: false };
}

/** A type that streams read without its being declared: its fields are of any type. */
function undeclaredEvent({ name, span }: NamedType, context: CheckContext): ResolvedType {
  context.reportOnce(
    `undeclared:${name}`,
    'W030',
    span,
    `event type \`${name}\` is not declared`,
    `declare it: \`event ${printName({ text: name, quoted: false })}:\` with its fields`,
  );
  return { type: mapOf(ANY), optional: false };
}

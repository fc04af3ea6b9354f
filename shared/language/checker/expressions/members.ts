import type { Expression, Identifier, Member } from '../../ast/nodes.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import type { PlanExpression, RowReference } from '../../plan/plan.ts';
import { ANY, INT, printType, type RecordType, type Type } from '../../plan/types.ts';
import type { RowShape } from '../scope.ts';
import { readField } from '../scopes.ts';
import { unwrapped } from '../walk.ts';
import { closureItem } from './closures.ts';
import { fold, UNRESOLVED } from './fold.ts';
import { declareHint, didYouMean, isTimeWord, listed, programValue, wholeRow } from './names.ts';
import type { Place } from './place.ts';

/** `object.name` and `object?.name`: both are null on null. */
export function lowerMember(node: Member, place: Place): PlanExpression {
  const row = rowOf(node.object, place);
  if (row) return row.isClosure && isLength(node.name, row.shape) ? lengthOf(row.reference) : fieldOfRow(node, row, place);
  const path = namespacePath(node, place);
  if (path) return namespaced(path, node, place);
  if (isUnknownQualifier(node.object, place)) return unknownQualifier(node.object, place);
  return memberOf(place.lower(node.object), node.name, place);
}

interface RowRead {
  readonly reference: RowReference;
  readonly shape: RowShape;
  /** A closure's alias itself, not one of its captures. */
  readonly isClosure: boolean;
}

/** The row that an expression stands for: an alias, or one capture of a closure. */
function rowOf(node: Expression, place: Place): RowRead | undefined {
  const object = unwrapped(node);
  if (object.kind !== 'Name') {
    const item = closureItem(object, place);
    return item && { ...item, isClosure: false };
  }
  const meaning = place.scope.meaning(object.name);
  if (meaning?.kind === 'row') return { reference: meaning.reference, shape: meaning.shape, isClosure: false };
  if (meaning?.kind === 'closure') return { reference: { kind: 'slot', slot: meaning.slot }, shape: meaning.shape, isClosure: true };
  return undefined;
}

/** `b.LEN`, unless the captured events have such a field. */
function isLength(name: Identifier, shape: RowShape): boolean {
  return name.text === 'LEN' && !shape.fields.some((field) => field.name === 'LEN');
}

function lengthOf(reference: RowReference): PlanExpression {
  if (reference.kind !== 'slot') return UNRESOLVED;
  return { kind: 'closure', slot: reference.slot, function: 'count', argument: null, constants: [], type: INT };
}

function fieldOfRow(node: Member, { reference, shape }: RowRead, place: Place): PlanExpression {
  const name = node.name.text;
  const read = readField(reference, shape, name);
  if (read) return read;
  const known = [...shape.fields.map((field) => field.name), ...shape.attributes, 'timestamp', 'event_type'];
  place.context.report(
    'E034',
    node.name.span,
    `${shape.description} has no field \`${name}\``,
    fieldHint(name, known, shape.event !== null),
  );
  return UNRESOLVED;
}

function fieldHint(name: string, known: readonly string[], isDeclaredEvent: boolean): string | undefined {
  if (isTimeWord(name) && known.includes('timestamp')) return didYouMean('timestamp');
  const nearest = nearestName(name, known);
  if (nearest) return didYouMean(nearest);
  if (isDeclaredEvent) return declareHint(name);
  return known.length > 0 ? `it has ${listed(known)}` : undefined;
}

/** `a.b.c` as one dotted name when `a` is the alias of an import and nothing nearer. */
export function namespacePath(node: Expression, place: Place): string | undefined {
  const names: string[] = [];
  let at = node;
  while (at.kind === 'Member') {
    names.unshift(at.name.text);
    at = at.object;
  }
  if (at.kind !== 'Name' || names.length === 0 || place.scope.meaning(at.name)) return undefined;
  return place.context.symbols.isNamespace(at.name) ? [at.name, ...names].join('.') : undefined;
}

/** The longest value that the front of the path names; what is left of it are members of that value. */
function namespaced(path: string, node: Member, place: Place): PlanExpression {
  const { symbols } = place.context;
  const root = path.split('.')[0] as string;
  symbols.useNamespace(root);
  const value = programValue(path, place);
  if (value) return value;
  const objectPath = namespacePath(node.object, place);
  if (objectPath) return memberOf(namespaced(objectPath, node.object as Member, place), node.name, place);
  const nearest = nearestName(path, symbols.names('value'));
  place.context.report('E033', node.span, `\`${root}\` declares no value \`${node.name.text}\``, nearest && didYouMean(nearest));
  return UNRESOLVED;
}

function isUnknownQualifier(node: Expression, place: Place): node is Extract<Expression, { kind: 'Name' }> {
  if (node.kind !== 'Name' || place.scope.meaning(node.name)) return false;
  if (place.context.symbols.find('value', node.name)) return false;
  return place.scope.unbound?.has(node.name) === true || place.scope.openField(node.name) === null;
}

function unknownQualifier(node: Extract<Expression, { kind: 'Name' }>, place: Place): PlanExpression {
  const { scope, context } = place;
  const refusal = scope.refuse?.(node.name);
  if (refusal) {
    context.report(refusal.code, node.span, refusal.message, refusal.hint);
    return UNRESOLVED;
  }
  const nearest = nearestName(node.name, [...scope.qualifiers(), ...context.symbols.namespaces(), ...scope.names()]);
  const hint = scope.hint?.(node.name) ?? (nearest ? didYouMean(nearest) : aliasesHint(scope.qualifiers(), scope.names()));
  context.report('E035', node.span, `unknown alias \`${node.name}\``, hint);
  return UNRESOLVED;
}

/** Without any alias the fields are read bare. */
function aliasesHint(aliases: readonly string[], names: readonly string[]): string | undefined {
  if (aliases.length > 0) return `the aliases here: ${listed(aliases)}`;
  return names.length > 0 ? 'fields are read without a name before them here, or give the source one: `X as x`' : undefined;
}

/** A member of a value that is a map or a record. */
function memberOf(object: PlanExpression, name: Identifier, { context }: Place): PlanExpression {
  const type = memberType(object.type, name.text);
  if (type === undefined) {
    const { type: found } = object;
    if (found.kind === 'record') reportNoField(found, name, { context });
    else context.report('E062', name.span, `${printType(found)} has no fields, so \`.${name.text}\` cannot be read`);
    return UNRESOLVED;
  }
  return fold({ kind: 'member', object, name: name.text, type });
}

function reportNoField(record: RecordType, name: Identifier, { context }: Pick<Place, 'context'>): void {
  const known = record.fields.map((field) => field.name);
  const isEvent = context.table.events.some((event) => event.name === record.name);
  context.report('E034', name.span, `\`${record.name}\` has no field \`${name.text}\``, fieldHint(name.text, known, isEvent));
}

function memberType(object: Type, name: string): Type | undefined {
  switch (object.kind) {
    case 'any':
    case 'null':
      return ANY;
    case 'map':
      return object.value;
    case 'record':
      return object.fields.find((field) => field.name === name)?.type;
    default:
      return undefined;
  }
}

/** `b[0]`, `first(b)`, `prev(b)` as a map; undefined when the node is no capture of a closure. */
export function lowerClosureItem(node: Expression, place: Place): PlanExpression | undefined {
  const item = closureItem(node, place);
  return item && wholeRow(item.reference, item.shape);
}

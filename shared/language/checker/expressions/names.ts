import type { Name, Span } from '../../ast/nodes.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import type { PlanExpression, RowReference } from '../../plan/plan.ts';
import { ANY, mapOf, type Type } from '../../plan/types.ts';
import type { Meaning, RowShape } from '../scope.ts';
import { isAttribute } from '../shapes.ts';
import type { ValueSymbol } from '../symbols.ts';
import { findAggregate, findFunction } from './builtins.ts';
import { constant, textLengthOf, UNRESOLVED, withTextLength } from './fold.ts';
import type { Place } from './place.ts';

/** A bare name, innermost meaning first. */
export function lowerName(node: Name, place: Place): PlanExpression {
  const meaning = place.scope.meaning(node.name);
  if (meaning) return lowerMeaning(meaning, node, place);
  return programValue(node.name, place) ?? place.scope.openField(node.name) ?? unknownName(node.name, node.span, place);
}

function lowerMeaning(meaning: Meaning, node: Name, place: Place): PlanExpression {
  switch (meaning.kind) {
    case 'value':
      if (meaning.bare) warnShadowing(node, place);
      return meaning.expression;
    case 'row':
      return wholeRow(meaning.reference, meaning.shape);
    case 'closure':
      return wholeRow({ kind: 'slot', slot: meaning.slot }, meaning.shape);
    case 'refused':
      place.context.report(meaning.code, node.span, meaning.message, meaning.hint);
      return UNRESOLVED;
  }
}

/** A row as a map. */
export function wholeRow(of: RowReference, shape: RowShape): PlanExpression {
  return { kind: 'row', of, type: rowType(shape) };
}

export function rowType(shape: RowShape): Type {
  if (shape.event) return shape.event.type;
  return shape.open ? mapOf(ANY) : { kind: 'record', name: shape.description, fields: shape.fields };
}

function warnShadowing(node: Name, { scope, context }: Place): void {
  if (!scope.event || !context.symbols.find('value', node.name)) return;
  const message = `\`${node.name}\` is a field of event \`${scope.event.name}\` here, not the program's value of that name`;
  context.reportOnce(`W034 ${scope.event.name}.${node.name}`, 'W034', node.span, message, 'rename one of the two');
}

/** A `const`, `let` or `var` of the program by its visible (maybe dotted) name. */
export function programValue(name: string, { context }: Place): PlanExpression | undefined {
  const symbol = context.symbols.find('value', name);
  return symbol && readValue(symbol);
}

function readValue(symbol: ValueSymbol): PlanExpression {
  symbol.used = true;
  symbol.prepare();
  if (symbol.constant !== undefined) return constant(symbol.constant, symbol.type);
  if (symbol.index === null) return UNRESOLVED;
  const read: PlanExpression = { kind: 'global', global: symbol.index, type: symbol.type };
  return symbol.binding === 'var' || symbol.value === null ? read : withTextLength(read, textLengthOf(symbol.value));
}

/** E034 with the best hint there is. */
function unknownName(name: string, span: Span, place: Place): PlanExpression {
  const { scope, context } = place;
  const refusal = scope.refuse?.(name);
  if (refusal) context.report(refusal.code, span, refusal.message, refusal.hint);
  else {
    const message = scope.description ? `unknown name \`${name}\`: ${scope.description} has no such field` : `unknown name \`${name}\``;
    context.report('E034', span, message, scope.hint?.(name) ?? bareHint(name, place));
  }
  return UNRESOLVED;
}

function bareHint(name: string, { scope, context }: Place): string | undefined {
  const known = [...scope.names(), ...context.symbols.names('value'), ...scope.qualifiers(), ...context.symbols.namespaces()];
  if (isTimeWord(name) && known.includes('timestamp')) return didYouMean('timestamp');
  const nearest = nearestName(name, known);
  if (nearest) return didYouMean(nearest);
  if (findFunction(name) || context.symbols.find('function', name)) return `\`${name}\` is a function: write ${name}(..)`;
  if (findAggregate(name)) return `\`${name}\` is an aggregate: write ${name}(..)`;
  if (scope.event) return declareHint(name);
  return scope.description === null ? undefined : fieldsHint(scope.names());
}

/** Behind something that made its own fields. */
function fieldsHint(names: readonly string[]): string | undefined {
  const fields = [...new Set(names)].filter((name) => !isAttribute(name));
  return fields.length > 0 ? `it has ${listed(fields)}` : undefined;
}

/** Some names for a hint. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).map((name) => `\`${name}\``);
  return names.length > NAMES_SHOWN ? `${shown.join(', ')} and ${names.length - NAMES_SHOWN} more` : shown.join(', ');
}

const NAMES_SHOWN = 12;

export function didYouMean(name: string): string {
  return `did you mean \`${name}\`?`;
}

/** What is said of an undeclared field of a declared event. */
export function declareHint(name: string): string {
  return `declare it in the event: \`${name}: any?\``;
}

export function isTimeWord(name: string): boolean {
  return ['ts', 'time', 'event_time', 'datetime', 'ts_ms'].includes(name);
}

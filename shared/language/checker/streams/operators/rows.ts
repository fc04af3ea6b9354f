import type { Argument } from '../../../ast/nodes.ts';
import { nearestName } from '../../../diagnostics/nearest-name.ts';
import { name as printName, word } from '../../../format/names.ts';
import type { NamedExpression, OperatorPlan, PlanExpression } from '../../../plan/plan.ts';
import { ANY, type FieldType, isAssignable, isNumeric, printType, type Type } from '../../../plan/types.ts';
import { fitInto } from '../../expressions/fit.ts';
import { lowerExpression, lowerNamed } from '../../lower.ts';
import type { RowShape } from '../../scope.ts';
import { recordShape } from '../../scopes.ts';
import type { EventSymbol } from '../../symbols.ts';
import { unwrapped } from '../../walk.ts';
import { dottedName } from '../dotted-name.ts';
import { expressionFor } from '../operator-arguments.ts';
import { lowerCondition, lowerRowLambda } from '../row-lambda.ts';
import { givenShape, scopeOf, withFields } from '../stage.ts';
import { warnNeverZero } from './never-zero.ts';
import { type LowerOperator, type Position, passing, planOf, rowPlan } from './position.ts';

/** `.where(e)`, `.filter(x => e)`. */
export const lowerWhere: LowerOperator = (at) => {
  const node = expressionFor(at.call, 'condition');
  if (!node) return passing(at);
  const condition = lowerCondition(node, at.stage, at.context);
  warnNeverZero(condition, at);
  return passing(at, rowPlan(at, 'filter', { condition }));
};

/** `.having(e)`: behind an aggregate; E010 before one, `.where` (W043) without one. */
export const lowerHaving: LowerOperator = (at) => {
  const { stage, behind, context, call } = at;
  if (!stage.aggregated) {
    if (behind.some((operator) => operator.name.text === 'aggregate' || operator.name.text === 'trend_aggregate')) {
      context.report(
        'E010',
        call.node.span,
        '`.having` stands before the `.aggregate` whose results it reads',
        'write it behind `.aggregate`, or write `.where`',
      );
      return passing(at);
    }
    context.report('W043', call.node.span, 'there is no aggregate here, so `.having` means `.where`', 'write `.where`');
  }
  return lowerWhere(at);
};

/** `.select(f, n: e)`. */
export const lowerSelect: LowerOperator = (at) => {
  const items = lowerNamed(at.call.rest, scopeOf(at.stage), at.context);
  return {
    plans: [rowPlan(at, 'select', { items })],
    stage: withFields(at.stage, recordShape('the result of `.select`', fieldsOf(items))),
  };
};

/** `.map(x => {..})`. */
export const lowerMap: LowerOperator = (at) => {
  const written = expressionFor(at.call, 'function');
  if (!written) return passing(at);
  const node = unwrapped(written);
  const value =
    node.kind === 'Lambda' ? lowerRowLambda(node, at.stage, at.context) : lowerExpression(written, scopeOf(at.stage), at.context);
  const kind = value.type.kind;
  if (kind !== 'map' && kind !== 'record' && kind !== 'any') {
    at.context.report('E062', written.span, `\`.map\` needs a map, not ${printType(value.type)}`, 'write `x => {name: value}`');
  }
  return { plans: [rowPlan(at, 'map', { value })], stage: withFields(at.stage, mapShape(value)) };
};

function mapShape(value: PlanExpression): RowShape {
  if (value.kind === 'map') {
    const fields = value.entries.map(({ key, value: entry }) => ({ name: key, type: entry.type, optional: true }));
    return recordShape('the result of `.map`', fields);
  }
  if (value.type.kind === 'record') return recordShape('the result of `.map`', value.type.fields);
  return recordShape('the result of `.map`', [], { open: true });
}

/** `.emit(..)`, `.emit as T (..)`, `.emit()`. */
export const lowerEmit: LowerOperator = (at) => {
  const { call, context, stage } = at;
  const followers = followersContext(at);
  const args = followers ? call.rest : [...emittedContextField(at), ...call.rest];
  const type = call.node.as?.text ?? at.draft.symbol.name;
  const event = call.node.as ? targetEvent(call.node.as.text, at) : undefined;
  const items = args.length === 0 ? null : fitItems(lowerNamed(args, scopeOf(stage), context), args, { event, at });
  const shape = items ? recordShape('the result of `.emit`', fieldsOf(items)) : givenShape(stage, call.node.span, context);
  if (!items && event) checkFields(shape, event, at);
  const next = withFields(stage, event ? asEvent(shape, event) : shape);
  const plans: OperatorPlan[] = [rowPlan(at, 'emit', { type: event?.name ?? type, items })];
  if (followers) plans.push(planOf(at, 'context', { context: followers, parameters: new Map([['followers', true]]) }));
  return { plans, stage: { ...next, carries: [type] } };
};

/** `context: c` of an emit where `c` is a declared context. */
function followersContext({ call, context }: Position): string | undefined {
  const node = expressionFor(call, 'context');
  const name = node && dottedName(node);
  const symbol = name === undefined || node?.kind === 'StringLiteral' ? undefined : context.symbols.find('context', name);
  if (symbol) symbol.used = true;
  return symbol?.name;
}

/** Else it is a field named `context`. */
function emittedContextField({ call }: Position): readonly Argument[] {
  const argument = call.given.get('context');
  return argument ? [argument] : [];
}

function targetEvent(name: string, { call, context }: Position): EventSymbol | undefined {
  const event = context.symbols.event(name);
  if (event) {
    event.used = true;
    return event;
  }
  const nearest = nearestName(
    name,
    context.table.events.map((each) => each.name),
  );
  const hint = nearest
    ? `did you mean \`${nearest}\`?`
    : `declare it: \`event ${printName({ text: name, quoted: false })}:\` with these fields`;
  context.report('W031', call.node.as?.span ?? call.node.span, `event type \`${name}\` is not declared`, hint);
  return undefined;
}

interface Fitting {
  readonly event: EventSymbol | undefined;
  readonly at: Position;
}

/** Checks emitted values against the fields of a declared event; a duration becomes milliseconds in a declared int. */
function fitItems(items: readonly NamedExpression[], args: readonly Argument[], { event, at }: Fitting): readonly NamedExpression[] {
  if (!event) return items;
  return items.map((item) => {
    const span = args.find((argument) => argument.name?.text === item.name)?.span ?? at.call.node.span;
    const field = event.type.fields.find((each) => each.name === item.name);
    if (!field) {
      const nearest = nearestName(
        item.name,
        event.type.fields.map((each) => each.name),
      );
      at.context.report(
        'E034',
        span,
        `event \`${event.name}\` has no field \`${item.name}\``,
        nearest ? `did you mean \`${nearest}\`?` : `declare it: \`${word({ text: item.name, quoted: false })}: any?\``,
      );
      return item;
    }
    const value = fitInto(item.value, field.type);
    if (!value)
      at.context.report(
        'E062',
        span,
        `field \`${item.name}\` of \`${event.name}\` is ${printType(field.type)}, not ${printType(item.value.type)}`,
      );
    return { name: item.name, value: value ?? item.value };
  });
}

/** `.emit as T ()`: the fields there are must fit those that T declares. */
function checkFields(shape: RowShape, event: EventSymbol, { call, context }: Position): void {
  for (const { name, type } of event.type.fields) {
    const found = shape.fields.find((field) => field.name === name);
    if (!found || canFit(found.type, type)) continue;
    context.report(
      'E062',
      call.node.span,
      `field \`${name}\` of \`${event.name}\` is ${printType(type)}, the rows have ${printType(found.type)}`,
    );
  }
}

/** As a value goes into a field: a duration becomes milliseconds in a number. */
export function canFit(from: Type, to: Type): boolean {
  return isAssignable(from, to) || (from.kind === 'duration' && isNumeric(to));
}

/** What `.emit as T` gives: the emitted fields and the others that T declares. */
function asEvent(shape: RowShape, event: EventSymbol): RowShape {
  const others = event.type.fields.filter((field) => !shape.fields.some(({ name }) => name === field.name));
  // What an open row has under these names need not be of the type that T declares.
  const fields = [...shape.fields, ...others.map(({ name, type }) => ({ name, type: shape.open ? ANY : type, optional: true }))];
  return { ...recordShape(`event \`${event.name}\``, fields, { open: shape.open }), event };
}

export function fieldsOf(items: readonly NamedExpression[]): readonly FieldType[] {
  return items.map(({ name, value }) => ({ name, type: value.type.kind === 'null' ? ANY : value.type, optional: true }));
}

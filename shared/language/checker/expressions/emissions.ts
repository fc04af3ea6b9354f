import type { Argument, EmitStatement } from '../../ast/nodes.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import type { NamedExpression, PlanExpression, PlanStatement } from '../../plan/plan.ts';
import { ANY, printType } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import type { NameScope } from '../scope.ts';
import type { EmittedShape, EventSymbol } from '../symbols.ts';
import { isExpression } from './closures.ts';
import { fitInto } from './fit.ts';
import type { Lowering } from './lowering.ts';
import { declareHint, didYouMean } from './names.ts';

/** `emit T(a: e, ..)`. When T is declared its fields are checked, else W031. */
export function lowerEmission(node: EmitStatement, emits: EmittedShape[], block: Lowering & { readonly scope: NameScope }): PlanStatement {
  const { context } = block;
  const event = context.symbols.event(node.type.text);
  if (event) event.used = true;
  else reportUndeclared(node, context);
  const type = event?.name ?? node.type.text;
  const items = node.fields.flatMap((argument) => emittedField(argument, event, block) ?? []);
  emits.push({ type, fields: items.map(({ name, value }) => ({ name, type: value.type })) });
  return { kind: 'emit', type, items };
}

/** The same where a local or a parameter may hold a value of another type than it declares: nothing is looked at when it is emitted. */
export function withoutTypes(emits: readonly EmittedShape[]): EmittedShape[] {
  return emits.map(({ type, fields }) => ({ type, fields: fields.map(({ name }) => ({ name, type: ANY })) }));
}

function reportUndeclared(node: EmitStatement, context: CheckContext): void {
  const nearest = nearestName(node.type.text, context.symbols.names('type'));
  const message = `event \`${node.type.text}\` is not declared, so its fields cannot be checked`;
  context.reportOnce(`W031 ${node.type.text}`, 'W031', node.type.span, message, nearest && didYouMean(nearest));
}

function emittedField(
  argument: Argument,
  event: EventSymbol | undefined,
  { context, lower, scope }: Lowering & { readonly scope: NameScope },
): NamedExpression | undefined {
  if (!isExpression(argument.value)) {
    context.report('E062', argument.span, 'an expression is needed here');
    return undefined;
  }
  const value = lower(argument.value, scope);
  const name = argument.name?.text ?? (argument.value.kind === 'Name' ? argument.value.name : undefined);
  if (name === undefined) {
    context.report('E082', argument.span, 'this value needs a name', `write name: ${context.text(argument.span)}`);
    return undefined;
  }
  return { name, value: event ? fitField({ name, argument, event }, value, context) : value };
}

interface EmittedField {
  readonly name: string;
  readonly argument: Argument;
  readonly event: EventSymbol;
}

function fitField({ name, argument, event }: EmittedField, value: PlanExpression, context: CheckContext): PlanExpression {
  const field = event.type.fields.find((candidate) => candidate.name === name);
  if (!field) {
    const nearest = nearestName(
      name,
      event.type.fields.map((candidate) => candidate.name),
    );
    const hint = nearest ? didYouMean(nearest) : declareHint(name);
    context.report('E034', argument.name?.span ?? argument.span, `event \`${event.name}\` has no field \`${name}\``, hint);
    return value;
  }
  const fitted = fitInto(value, field.type);
  if (fitted) return fitted;
  const message = `field \`${name}\` of event \`${event.name}\` is ${printType(field.type)}, not ${printType(value.type)}`;
  context.report('E062', argument.value.span, message);
  return value;
}

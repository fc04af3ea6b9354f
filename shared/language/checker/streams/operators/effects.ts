import type { Value } from '../../../../events/value.ts';
import type { Argument, Expression } from '../../../ast/nodes.ts';
import type { InvokeExpression, PlanExpression } from '../../../plan/plan.ts';
import { STR } from '../../../plan/types.ts';
import type { CheckContext } from '../../context.ts';
import { alwaysFitParameters } from '../../expressions/calls.ts';
import { withoutTypes } from '../../expressions/emissions.ts';
import { expressionOf, lowerExpression, lowerNamed, lowerProcessCall } from '../../lower.ts';
import { recordShape, unionShape } from '../../scopes.ts';
import type { EmittedShape } from '../../symbols.ts';
import { connectorFor, declaredTopic, sinkParametersFor, topicIn, type UsedConnector } from '../connector-uses.ts';
import { messageTemplate } from '../message-template.ts';
import { expressionFor, itemsFor, textFor } from '../operator-arguments.ts';
import { scopeOf, withFields } from '../stage.ts';
import { type LowerOperator, type Position, passing, planOf } from './position.ts';

const noTap = { values: [], level: null, message: null, data: null, counter: null, labels: [] } as const;

const levels = ['debug', 'info', 'warn', 'error'];

/** `.process(f(..))`: the rows are what the function emits. */
export const lowerProcess: LowerOperator = (at) => {
  const node = expressionFor(at.call, 'call');
  const call = node && lowerProcessCall(node, scopeOf(at.stage), at.context);
  if (!call) return { plans: [], stage: withFields(at.stage, recordShape('what `.process` emits', [], { open: true })) };
  const emits = emitsOf(call, at.context);
  const shapes = emits.map(({ type, fields }) =>
    recordShape(
      `event \`${type}\``,
      fields.map((field) => ({ ...field, optional: true })),
    ),
  );
  const shape = { ...unionShape(shapes), description: 'what `.process` emits' };
  const plan = planOf(at, 'process', { function: call.function, arguments: call.arguments });
  return { plans: [plan], stage: { ...withFields(at.stage, shape), carries: [...new Set(emits.map(({ type }) => type))] } };
};

function emitsOf({ function: index, arguments: args }: InvokeExpression, { table }: CheckContext): readonly EmittedShape[] {
  const symbol = table.functions[index];
  if (!symbol) return [];
  return alwaysFitParameters(args, symbol) ? symbol.emits : withoutTypes(symbol.emits);
}

/** `.tap(e)`, `.tap(counter: "name", labels: [f])`. */
export const lowerTap: LowerOperator = (at) => {
  const value = expressionFor(at.call, 'value');
  const counter = textFor(at.call, 'counter') ?? null;
  const labels = lowerNamed(itemsFor(at.call, 'labels'), scopeOf(at.stage), at.context);
  const labelled = at.call.given.get('labels');
  if (labelled && !at.call.given.has('counter')) {
    at.context.report('E082', labelled.span, '`labels:` are those of a counter', 'write `counter: "name"` too');
  }
  if (!value && !at.call.given.has('counter')) {
    at.context.report(
      'E082',
      at.call.node.span,
      '`.tap` needs something to look at',
      'write `.tap(expression)` or `.tap(counter: "name")`',
    );
  }
  const values = value ? [lowerExpression(value, scopeOf(at.stage), at.context)] : [];
  return passing(at, planOf(at, 'tap', { ...noTap, tap: 'tap', values, counter, labels }));
};

/** `.print(e, ..)`. */
export const lowerPrint: LowerOperator = (at) =>
  passing(at, planOf(at, 'tap', { ...noTap, tap: 'print', values: lowerAll(at.call.rest, at) }));

/** `.log(level:, message:, data:)`. */
export const lowerLog: LowerOperator = (at) => {
  const message = lowerGiven(at, 'message');
  const data = lowerGiven(at, 'data');
  return passing(at, planOf(at, 'tap', { ...noTap, tap: 'log', level: lowerLevel(at), message, data }));
};

function lowerLevel(at: Position): PlanExpression | null {
  const node = expressionFor(at.call, 'level');
  if (!node) return null;
  const bare = node.kind === 'Name' && levels.includes(node.name) && !scopeOf(at.stage).meaning(node.name) ? node.name : undefined;
  const level: PlanExpression = bare ? { kind: 'constant', value: bare, type: STR } : lowerExpression(node, scopeOf(at.stage), at.context);
  if (level.kind === 'constant' && !levels.includes(String(level.value))) {
    at.context.report('E081', node.span, '`level` must be one of "debug", "info", "warn", "error"');
  }
  return level;
}

/** `.alert(url:, message:)`. */
export const lowerAlert: LowerOperator = (at) => {
  const url = textFor(at.call, 'url') ?? null;
  const node = expressionFor(at.call, 'message');
  return passing(at, planOf(at, 'alert', { url, message: node ? lowerMessage(node, at) : null }));
};

/** A constant text is a template; anything else an expression. */
function lowerMessage(node: Expression, at: Position): PlanExpression {
  const template = node.kind === 'StringLiteral' ? messageTemplate(node, at.context) : undefined;
  return lowerExpression(template ?? node, scopeOf(at.stage), at.context);
}

/** `.to(Conn, topic: ..)`. */
export const lowerTo: LowerOperator = (at) => {
  const connector = connectorFor(at.call, 'sink');
  const given = lowerGiven(at, 'topic');
  if (!connector) return passing(at);
  const parameters = sinkParametersFor(at.call, connector);
  warnOfOwnNames(at, connector, parameters);
  const spelled = topicIn(parameters, connector.descriptor);
  const topic = given ?? (spelled === undefined ? null : { kind: 'constant' as const, value: spelled, type: STR });
  const byName = !topic && !connector.registered && connector.descriptor?.broker === true && declaredTopic(connector) === undefined;
  return passing(at, planOf(at, 'to', { connector: connector.name, topic: byName ? streamTopic(at) : topic, parameters }));
};

/** With `format: flat` a field goes before what the event has of its name. */
function warnOfOwnNames(
  { call, stage, context }: Position,
  { name, descriptor, declared }: UsedConnector,
  used: ReadonlyMap<string, Value>,
): void {
  const own = descriptor?.ownNames ?? [];
  if (stage.rows.kind !== 'plain' || (used.get('format') ?? declared.get('format')) === 'flat') return;
  const taken = stage.rows.shape.fields.flatMap((field) => (own.includes(field.name) ? [field.name] : []));
  const [first] = taken;
  if (first === undefined) return;
  const names = taken.map((each) => `\`${each}\``).join(', ');
  const isOne = taken.length === 1;
  context.report(
    'W054',
    call.node.span,
    `\`${name}\` keeps the event's own ${names} in the ${isOne ? 'column' : 'columns'} of that name, and the ${isOne ? 'field' : 'fields'} in \`data\` alone, if the table has it`,
    `give ${isOne ? 'it' : 'them'} another name, as in \`.emit(own_${first}: ${first})\``,
  );
}

function streamTopic({ call, context, draft }: Position): PlanExpression {
  const { name } = draft.symbol;
  context.report('W041', call.node.span, `no topic is given: the name of the stream, "${name}", is used`, `write \`topic: "${name}"\``);
  return { kind: 'constant', value: name, type: STR };
}

function lowerGiven(at: Position, name: string): PlanExpression | null {
  const node = expressionFor(at.call, name);
  return node ? lowerExpression(node, scopeOf(at.stage), at.context) : null;
}

function lowerAll(args: readonly Argument[], at: Position): readonly PlanExpression[] {
  return args.flatMap((argument) => {
    const node = expressionOf(argument, at.context);
    return node ? [lowerExpression(node, scopeOf(at.stage), at.context)] : [];
  });
}

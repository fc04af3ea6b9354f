import { isArray, kindOf, type Value } from '../../../events/value.ts';
import type { Argument, Expression, Span } from '../../ast/nodes.ts';
import { type ConnectorDescriptor, type ConnectorRole, type ConnectorValueKind, topicKind } from '../../connectors/descriptor.ts';
import { parameterProblem } from '../../connectors/parameter-problem.ts';
import { connectors, findConnector, findConnectorParameter, parametersOf } from '../../connectors/table.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import { constantParameters } from '../constants.ts';
import type { CheckContext } from '../context.ts';
import type { ConnectorSymbol } from '../symbols.ts';
import { dottedName } from './dotted-name.ts';
import { type BoundCall, expressionFor } from './operator-arguments.ts';

/** A connector as a stream uses it. */
export interface UsedConnector {
  /** As it stands in the plan. */
  readonly name: string;
  /** Null when the type is unknown (reported where it is declared). */
  readonly descriptor: ConnectorDescriptor | null;
  /** The type, or another name of it, as the declaration has it. */
  readonly writtenType: string;
  /** Parameters of the declaration; empty for a registered connector. */
  readonly declared: ReadonlyMap<string, Value>;
  /** Registered with the server: its parameters are not known here. */
  readonly registered: boolean;
}

const uses: Readonly<Record<ConnectorRole, string>> = {
  source: 'gives no events (`.from`)',
  sink: 'takes no events (`.to`)',
  enrich: 'cannot look anything up (`.enrich`)',
};

/** The connector that an operator names: E030 when there is none, E032 when its type cannot do this. */
export function connectorFor(call: BoundCall, role: ConnectorRole): UsedConnector | undefined {
  const { context } = call;
  const node = expressionFor(call, 'connector');
  if (!node) return undefined;
  const name = dottedName(node);
  if (name === undefined) {
    context.report('E081', node.span, `\`.${call.descriptor.name}\` takes the name of a connector first`);
    return undefined;
  }
  const used = findUsed(name, context);
  if (!used) return reportUnknown(name, node, context);
  refuseRole(used, role, { node, context });
  if (used.descriptor?.roles.includes(role)) {
    requireFor(role, used, call);
    warnUnlessBuilt(used.descriptor, role, { node, context });
  }
  return used;
}

function findUsed(name: string, context: CheckContext): UsedConnector | undefined {
  const symbol = context.symbols.find('connector', name);
  if (symbol) {
    symbol.used = true;
    const { type, parameters: declared } = symbol.plan;
    return { name: symbol.name, descriptor: findConnector(type) ?? null, writtenType: type, declared, registered: false };
  }
  const registered = context.options.registeredConnectors?.get(name);
  if (registered) {
    const { type } = registered;
    return { name, descriptor: findConnector(type) ?? null, writtenType: type, declared: new Map(), registered: true };
  }
  if (name !== 'console') return undefined;
  return { name, descriptor: findConnector(name) ?? null, writtenType: name, declared: new Map(), registered: false };
}

function reportUnknown(name: string, node: Expression, context: CheckContext): undefined {
  const known = [...context.symbols.names('connector'), ...(context.options.registeredConnectors?.keys() ?? [])];
  const nearest = nearestName(name, known);
  const type = findConnector(name) ? name : 'kafka';
  const hint = nearest ? `did you mean \`${nearest}\`?` : `declare it: \`connector ${name} = ${type} (..)\``;
  context.report('E030', node.span, `no connector \`${name}\` is declared`, hint);
}

function refuseRole(
  { name, descriptor }: UsedConnector,
  role: ConnectorRole,
  at: { readonly node: Expression; readonly context: CheckContext },
): void {
  if (!descriptor || descriptor.roles.includes(role)) return;
  const able = connectors.filter((each) => each.roles.includes(role)).map((each) => each.name);
  at.context.report(
    'E032',
    at.node.span,
    `connector \`${name}\` is of type ${descriptor.name}, which ${uses[role]}`,
    `types that can: ${able.join(', ')}`,
  );
}

const buildLacks: Readonly<Record<ConnectorRole, string>> = {
  source: 'read from',
  sink: 'send to',
  enrich: 'look anything up in',
};

/** The same warning for what `config mqtt` does without being named by a stream: at the entry that asks for it. */
export function warnUnlessBuiltByDefault({ node, plan, module }: ConnectorSymbol, role: 'source' | 'sink', context: CheckContext): void {
  const written = node.kind === 'ConfigDeclaration' ? node.entries : node.parameters;
  const entry = written.find(({ name }) => name?.text === (role === 'source' ? 'input_topic' : 'output_topic'));
  const descriptor = findConnector(plan.type);
  if (entry && descriptor) warnUnlessBuilt(descriptor, role, { node: entry, context: context.in(module) });
}

/** W039 where the language knows the type and this build has not the code for it. */
function warnUnlessBuilt(
  { name }: ConnectorDescriptor,
  role: ConnectorRole,
  { node, context }: { readonly node: { readonly span: Span }; readonly context: CheckContext },
): void {
  const { canConnect } = context.options;
  if (canConnect === undefined || canConnect(name, role)) return;
  const able = connectors.filter((each) => canConnect(each.name, role)).map((each) => each.name);
  const hint =
    able.length > 0 ? `it can for types ${able.join(', ')}` : 'it can for none; simulations and tests connect nothing and run all the same';
  context.report('W039', node.span, `this build cannot ${buildLacks[role]} connectors of type ${name}: a server refuses the program`, hint);
}

/** The constant parameters written at a use of a connector, checked against its type. */
export function parametersFor(call: BoundCall, connector: UsedConnector): ReadonlyMap<string, Value> {
  const { context } = call;
  const { descriptor } = connector;
  const parameters = constantParameters(call.rest, context, (name) => descriptor && findConnectorParameter(descriptor, name)?.words);
  if (connector.descriptor) checkParameters(call.rest, parameters, { descriptor: connector.descriptor, context });
  return parameters;
}

/** The same for `.to`: E080 for what is not of a use but of the connector, whose requests all uses share. */
export function sinkParametersFor(call: BoundCall, connector: UsedConnector): ReadonlyMap<string, Value> {
  const parameters = parametersFor(call, connector);
  const { name: used, descriptor } = connector;
  for (const { name } of descriptor ? call.rest : []) {
    const parameter = name && findConnectorParameter(descriptor as ConnectorDescriptor, name.text);
    if (parameter) refuseOtherKind(name, connector, call.context);
    if (!parameter || parameter.perUse || descriptor?.topics.includes(parameter.name)) continue;
    call.context.report(
      'E080',
      name.span,
      `\`.to\` takes no \`${name.text}\`: it is a parameter of the connector, for all that is sent to it`,
      used === descriptor?.name
        ? `declare a connector with it: \`connector Other = ${descriptor.name} (${name.text}: ..)\``
        : `write it where \`${used}\` is declared, or declare another connector with it`,
    );
  }
  return parameters;
}

/** E080 for a topic of a kind that the connector does not send to. Where a profile or the server may say which one it is, nothing is known. */
function refuseOtherKind(
  { text, span }: { readonly text: string; readonly span: Span },
  { name: used, descriptor, writtenType, declared, registered }: UsedConnector,
  context: CheckContext,
): void {
  const kinds = descriptor?.kinds;
  if (kinds === undefined || (text !== kinds.usual && text !== kinds.other) || registered || declared.has('profile')) return;
  const kind = topicKind(kinds, writtenType, declared);
  if (kind === text) return;
  context.report(
    'E080',
    span,
    `\`.to\` takes no \`${text}\` here: as it is declared, \`${used}\` sends to a ${kind}`,
    `declare another connector with \`${text}: ..\`, or write \`${kind}: ..\` here`,
  );
}

/** E082 when neither the declaration nor the use gives what the connector needs in this role. */
function requireFor(role: ConnectorRole, { name, descriptor, declared, registered }: UsedConnector, call: BoundCall): void {
  const group = descriptor?.needs?.[role];
  if (!descriptor || !group || registered || declared.has('profile')) return;
  const names = group.flatMap((each) => [each, ...(findConnectorParameter(descriptor, each)?.aliases ?? [])]);
  const isGiven = (each: string): boolean =>
    declared.has(each) || call.given.has(each) || call.rest.some((argument) => argument.name?.text === each);
  if (names.some(isGiven)) return;
  const needed = group.map((each) => `\`${each}\``).join(' or ');
  call.context.report(
    'E082',
    call.node.span,
    `connector \`${name}\` of type ${descriptor.name} needs ${needed} for \`.${call.descriptor.name}\``,
  );
}

/** What a declared connector reads or writes by itself: its topic, subject, channel, path. */
export function declaredTopic({ descriptor, declared }: UsedConnector): string | undefined {
  return topicIn(declared, descriptor);
}

/** The topic among these parameters, by whichever of its names. */
export function topicIn(parameters: ReadonlyMap<string, Value>, descriptor: ConnectorDescriptor | null): string | undefined {
  return descriptor?.topics.map((name) => parameters.get(name)).find((value): value is string => typeof value === 'string');
}

/** Checks every `connector` and `config mqtt` of the program: its type (E094), its parameters (E080, E081, E082). */
export function checkConnectors(context: CheckContext): void {
  for (const symbol of context.table.connectors) checkConnector(symbol, context.in(symbol.module));
}

function checkConnector(symbol: ConnectorSymbol, context: CheckContext): void {
  const { node, plan } = symbol;
  const descriptor = findConnector(plan.type);
  if (!descriptor) {
    reportUnknownType(symbol, context);
    return;
  }
  const written = node.kind === 'ConnectorDeclaration' ? node.parameters : node.entries;
  checkParameters(written, plan.parameters, { descriptor, context });
  if (symbol.isDefault) warnUnlessBuiltByDefault(symbol, 'source', context);
  if (plan.parameters.has('profile')) return;
  for (const group of descriptor.oneOf) {
    const names = group.flatMap((name) => [name, ...(findConnectorParameter(descriptor, name)?.aliases ?? [])]);
    if (names.some((name) => written.some((argument) => argument.name?.text === name))) continue;
    const needed = group.map((name) => `\`${name}\``).join(' or ');
    context.report('E082', node.name.span, `connector \`${symbol.name}\` of type ${descriptor.name} needs ${needed}`);
  }
}

function reportUnknownType({ node, plan }: ConnectorSymbol, context: CheckContext): void {
  const span = node.kind === 'ConnectorDeclaration' ? node.type.span : node.name.span;
  const types = connectors.map((each) => each.name);
  const nearest = nearestName(plan.type, types);
  const list = `known types: ${types.join(', ')}`;
  context.report('E094', span, `there is no connector type \`${plan.type}\``, nearest ? `did you mean \`${nearest}\`? ${list}` : list);
}

interface ParameterCheck {
  readonly descriptor: ConnectorDescriptor;
  readonly context: CheckContext;
}

function checkParameters(written: readonly Argument[], values: ReadonlyMap<string, Value>, { descriptor, context }: ParameterCheck): void {
  for (const { name, span } of written) {
    if (!name) continue;
    const parameter = findConnectorParameter(descriptor, name.text);
    const value = values.get(name.text);
    if (!parameter) {
      const known = parametersOf(descriptor).map((each) => each.name);
      const nearest = nearestName(name.text, known);
      const hint = nearest ? `did you mean \`${nearest}\`?` : `it takes ${known.join(', ')}`;
      context.report('E080', name.span, `connector type ${descriptor.name} has no parameter \`${name.text}\``, hint);
    } else if (value !== undefined && !fits(value, parameter.kind)) {
      context.report(parameter.kind === 'duration' ? 'E061' : 'E081', span, `\`${name.text}\` must be ${kindTexts[parameter.kind]}`);
    } else if (parameter.words && typeof value === 'string' && !parameter.words.includes(value)) {
      context.report(
        'E081',
        span,
        `\`${name.text}\` cannot be "${value}"`,
        `it is one of ${parameter.words.map((word) => `"${word}"`).join(', ')}`,
      );
    } else {
      const problem = value === undefined ? undefined : parameterProblem(parameter, value);
      if (problem) context.report('E081', span, `\`${name.text}\`: found ${problem.found}, expected ${problem.expected}`);
    }
  }
}

const kindTexts: Readonly<Record<ConnectorValueKind, string>> = {
  str: 'a text',
  int: 'a whole number',
  number: 'a number',
  bool: 'true or false',
  duration: 'a duration, like `4s`',
  list: 'an array of texts, or one text with commas',
  map: 'a map',
  any: 'a value',
};

function fits(value: Value, kind: ConnectorValueKind): boolean {
  const actual = kindOf(value);
  if (kind === 'any' || actual === kind) return true;
  if (kind === 'number') return actual === 'int' || actual === 'float';
  return kind === 'list' && (actual === 'str' || (isArray(value) && value.every((item) => typeof item === 'string')));
}

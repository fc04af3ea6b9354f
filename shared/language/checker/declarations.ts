import type { ConfigDeclaration, Statement } from '../ast/nodes.ts';
import { ANY } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import type { CheckState } from './program-context.ts';
import { declareFunction, prepareFunction } from './program-functions.ts';
import type { WrittenLoad, WrittenTest } from './program-table.ts';
import { prepareValue } from './program-values.ts';
import type { AliasSymbol, AnySymbol, ConnectorSymbol, EventSymbol, FunctionSymbol, Module, RecordSymbol, ValueSymbol } from './symbols.ts';
import { prepareAlias, prepareEvent, prepareRecord } from './type-declarations.ts';

interface Target {
  readonly module: Module;
  readonly context: CheckContext;
  readonly state: CheckState;
}

/** What a statement adds to the program. Tests of imported files are theirs alone. */
export function declareStatement(node: Statement, target: Target): AnySymbol | WrittenLoad | WrittenTest | undefined {
  const { module, context } = target;
  switch (node.kind) {
    case 'EventDeclaration':
      return eventSymbol(node, target);
    case 'TypeDeclaration':
      return typeSymbol(node, target);
    case 'BindingDeclaration':
      return valueSymbol(node, target);
    case 'FunctionDeclaration':
      return functionSymbol(node, target);
    case 'ConnectorDeclaration':
      return connectorSymbol(node, target);
    case 'ConfigDeclaration':
      return configSymbol(node, target);
    case 'ContextDeclaration': {
      const plan = { name: node.name.text, parameters: new Map() };
      return { kind: 'context', ...declared(node, target), node, plan };
    }
    case 'PatternDeclaration':
      return { kind: 'pattern', ...declared(node, target), node };
    case 'StreamDeclaration':
      // Member by member: streams are made by the thousand, and a spread takes far longer.
      return { kind: 'stream', name: node.name.text, source: module.source, module, used: false, node, index: -1 };
    case 'AssignmentStatement':
      return { kind: 'load', node, module };
    case 'TestDeclaration':
      return module.isMain ? { kind: 'test', node, module } : undefined;
    case 'ImportDeclaration':
    case 'ForDeclaration':
    case 'IfDeclaration':
      context.report('E000', node.span, 'this statement stands at the top level of a file');
      return undefined;
  }
}

function declared(node: { readonly name: { readonly text: string } }, { module }: Target) {
  return { name: node.name.text, source: module.source, module, used: false };
}

function eventSymbol(node: Extract<Statement, { kind: 'EventDeclaration' }>, target: Target): EventSymbol {
  const name = node.name.text;
  const symbol: EventSymbol = {
    kind: 'event',
    ...declared(node, target),
    node,
    type: { kind: 'record', name, fields: [] },
    ancestors: [],
    types: [name],
    timeField: null,
    prepare: () => prepareEvent(symbol, target.context),
  };
  return symbol;
}

function typeSymbol(node: Extract<Statement, { kind: 'TypeDeclaration' }>, target: Target): RecordSymbol | AliasSymbol {
  const base = { ...declared(node, target), node };
  if (node.alias) {
    const alias: AliasSymbol = { kind: 'alias', ...base, type: ANY, optional: false, prepare: () => prepareAlias(alias, target.context) };
    return alias;
  }
  const type = { kind: 'record', name: node.name.text, fields: [] } as const;
  const record: RecordSymbol = { kind: 'record', ...base, type, prepare: () => prepareRecord(record, target.context) };
  return record;
}

function valueSymbol(node: Extract<Statement, { kind: 'BindingDeclaration' }>, target: Target): ValueSymbol {
  const symbol: ValueSymbol = {
    kind: 'value',
    ...declared(node, target),
    node,
    binding: node.binding,
    type: ANY,
    constant: undefined,
    index: null,
    value: null,
    prepare: () => prepareValue(symbol, target.context, target.state),
  };
  return symbol;
}

function functionSymbol(node: Extract<Statement, { kind: 'FunctionDeclaration' }>, target: Target): FunctionSymbol {
  const symbol: FunctionSymbol = {
    kind: 'function',
    ...declared(node, target),
    node,
    index: -1,
    parameters: [],
    result: ANY,
    plan: null,
    emits: [],
    declare: () => declareFunction(symbol, target.context),
    prepare: () => prepareFunction(symbol, target.context, target.state),
  };
  target.state.table.addFunction(symbol);
  return symbol;
}

function connectorSymbol(node: Extract<Statement, { kind: 'ConnectorDeclaration' }>, target: Target): ConnectorSymbol {
  const base = declared(node, target);
  const origin = target.context.origin(node.span);
  return {
    kind: 'connector',
    ...base,
    node,
    plan: { name: base.name, type: node.type.text, parameters: new Map(), origin },
    isDefault: false,
  };
}

/** `config mqtt` declares a connector; any other block is accepted and says nothing. */
function configSymbol(node: ConfigDeclaration, target: Target): ConnectorSymbol | undefined {
  const { context, module } = target;
  const isMqtt = node.name.text === 'mqtt';
  const message = isMqtt ? '`config mqtt` is the older form of a connector' : `\`config ${node.name.text}\` has no effect on the program`;
  const hint = isMqtt ? 'write `connector Mqtt = mqtt (..)` with .from(Mqtt) and .to(Mqtt)' : 'settings stand in the configuration file';
  context.report('W038', node.name.span, message, hint);
  if (!isMqtt) return undefined;
  const plan = { name: 'mqtt_config', type: 'mqtt', parameters: new Map(), origin: context.origin(node.span) };
  return { kind: 'connector', name: plan.name, node, source: module.source, module, used: true, plan, isDefault: true };
}

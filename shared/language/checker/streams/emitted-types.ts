import type { OperatorCall } from '../../ast/nodes.ts';
import type { CheckContext } from '../context.ts';
import type { StreamSymbol } from '../symbols.ts';
import { unwrapped } from '../walk.ts';
import { dottedName } from './dotted-name.ts';

/** Types given by `.emit as T` and by functions under `.process`, with the streams that give them, in order of declaration. */
export function emittedTypes(context: CheckContext): ReadonlyMap<string, readonly string[]> {
  const types = new Map<string, string[]>();
  const plain = new Set<readonly OperatorCall[]>();
  for (const stream of context.table.streams) {
    const written = context.writtenOperators(stream.node);
    if (plain.has(written)) continue;
    if (!written.some(mayGiveTypes)) {
      plain.add(written);
      continue;
    }
    for (const type of typesOf(stream.node.operators, () => context.in(stream.module))) {
      if (type !== stream.name) addTo(types, type, stream);
    }
  }
  return types;
}

function addTo(types: Map<string, string[]>, type: string, { name }: StreamSymbol): void {
  const streams = types.get(type) ?? [];
  if (!streams.includes(name)) streams.push(name);
  types.set(type, streams);
}

function mayGiveTypes({ name, as, arguments: given }: OperatorCall): boolean {
  return as !== null || name.text === 'process' || given.some(({ value }) => value.kind === 'Chain');
}

function typesOf(operators: readonly OperatorCall[], here: () => CheckContext): readonly string[] {
  const types: string[] = [];
  for (const operator of operators) {
    if (operator.name.text === 'process') types.push(...processTypes(operator, here()));
    else if (operator.as) types.push(here().symbols.event(operator.as.text)?.name ?? operator.as.text);
    for (const { value } of operator.arguments) if (value.kind === 'Chain') types.push(...typesOf(value.operators, here));
  }
  return types;
}

function processTypes({ arguments: [argument] }: OperatorCall, context: CheckContext): readonly string[] {
  const value = argument?.value;
  if (!value || value.kind === 'Chain' || value.kind === 'StepArgument' || value.kind === 'PatternArgument') return [];
  const call = unwrapped(value);
  const name = call.kind === 'Call' ? dottedName(unwrapped(call.callee)) : undefined;
  const symbol = name === undefined ? undefined : context.symbols.find('function', name);
  return symbol ? symbol.emits.map(({ type }) => type) : [];
}

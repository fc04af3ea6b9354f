import { dotted, type SymbolTable } from './symbols.ts';
import { walk } from './walk.ts';

const known = new WeakMap<SymbolTable, { readonly streams: number; readonly names: ReadonlySet<string> }>();

/** Names that stand as sources or steps, as they are on the wire. Undeclared ones among them are open event types. */
export function sourceTypes(table: SymbolTable): ReadonlySet<string> {
  const found = known.get(table);
  if (found?.streams === table.streams.length) return found.names;
  const names = readSourceTypes(table);
  known.set(table, { streams: table.streams.length, names });
  return names;
}

function readSourceTypes(table: SymbolTable): Set<string> {
  const names = new Set<string>();
  for (const { node, module } of [...table.streams, ...table.patterns]) {
    const add = (name: string): Set<string> => names.add(module.symbols.event(name)?.name ?? name);
    walk(node, (part) => {
      if (part.kind === 'NamedSource') add(dotted(part.path));
      else if (part.kind === 'StepElement') add(dotted(part.type));
      else if (part.kind === 'StepArgument') add(part.type.text);
      return undefined;
    });
  }
  return names;
}

/** Types of output events: the streams, what `.emit as T` says, and what functions emit. */
export function outputTypes(table: SymbolTable): Set<string> {
  const names = new Set<string>();
  for (const { node, module, name } of table.streams) {
    names.add(name);
    walk(node, (part) => {
      if (part.kind === 'OperatorCall' && part.as) names.add(module.symbols.event(part.as.text)?.name ?? part.as.text);
      return undefined;
    });
  }
  for (const { emits } of table.functions) for (const { type } of emits) names.add(type);
  return names;
}

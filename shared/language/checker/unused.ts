import type { Identifier, OperatorCall, PatternElement, Statement, StreamDeclaration } from '../ast/nodes.ts';
import type { CheckContext } from './context.ts';
import type { Module, PatternSymbol, StreamSymbol } from './symbols.ts';
import type { LoadedModule } from './visible-names.ts';
import { walk } from './walk.ts';

/** Operators that do something beyond the stream, so that nobody need read it. */
const EFFECTS = new Set(['emit', 'to', 'tap', 'print', 'log', 'alert', 'process']);

/** W040: streams without effect that nobody reads, functions, patterns, types and aliases that nothing refers to. Imported files are libraries. */
export function reportUnused(context: CheckContext, main: LoadedModule): void {
  const { table } = context;
  // Streams of a loop share what is written of their operators.
  let effective: readonly OperatorCall[] | null = null;
  for (const symbol of table.streams) {
    if (!isOf(main, symbol) || symbol.used) continue;
    const written = context.writtenOperators(symbol.node);
    if (written === effective) continue;
    if (written.some(({ name }) => EFFECTS.has(name.text))) effective = written;
    else if (!hasEffectInside(symbol.node)) {
      report(symbol.node.name, `nothing reads the stream \`${symbol.name}\``, 'add .emit(..) to make its results output events', context);
    }
  }
  for (const symbol of table.functions) {
    if (isOf(main, symbol) && !symbol.used) report(symbol.node.name, `the function \`${symbol.name}\` is never called`, undefined, context);
  }
  for (const symbol of table.patterns) {
    if (isOf(main, symbol) && !symbol.used) reportPattern(symbol, context);
  }
  for (const symbol of table.types) {
    if (isOf(main, symbol) && symbol.kind === 'alias' && !symbol.used) {
      report(symbol.node.name, `the type \`${symbol.name}\` is never used`, undefined, context);
    }
  }
  for (const { alias } of main.symbols.unusedNamespaces()) {
    if (alias) report(alias, `nothing refers to the import \`${alias.text}\``, 'without `as` its streams run all the same', context);
  }
  for (const symbol of table.streams) if (isOf(main, symbol)) reportAliases(symbol, context);
}

function isOf(main: Module, { module }: { readonly module: Module }): boolean {
  return module === main;
}

function report(name: Identifier, message: string, hint: string | undefined, context: CheckContext): void {
  context.report('W040', name.span, message, hint);
}

function reportPattern({ name, node }: PatternSymbol, context: CheckContext): void {
  const hint =
    context.symbols.event(name) && `\`${name}\` is an event too, and that is what a stream reads by this name: rename the pattern`;
  report(node.name, `nothing uses the pattern \`${name}\``, hint, context);
}

function hasEffectInside(node: StreamDeclaration): boolean {
  let found = false;
  walk(node, (part) => {
    found ||= part.kind === 'OperatorCall' && EFFECTS.has(part.name.text);
    return !found;
  });
  return found;
}

/** Aliases of sources and steps that no expression of the stream reads. A match that goes on whole reads all of them. */
function reportAliases({ node }: StreamSymbol, context: CheckContext): void {
  const aliases = aliasesOf(node);
  if (aliases.length === 0 || (node.source.kind === 'PatternSource' && !isReshaped(node))) return;
  const names = namesIn(node);
  for (const alias of aliases) {
    const prefix = `${alias.text}_`;
    const isRead = names.has(alias.text) || [...names].some((name) => name.startsWith(prefix));
    if (!isRead) report(alias, `nothing reads the alias \`${alias.text}\``, undefined, context);
  }
}

const NONE: readonly Identifier[] = [];

function aliasesOf({ source }: StreamDeclaration): readonly Identifier[] {
  switch (source.kind) {
    case 'NamedSource':
      return source.alias ? [source.alias] : NONE;
    case 'PatternSource':
      return stepAliases(source.pattern.body);
    default:
      return NONE;
  }
}

function stepAliases(element: PatternElement): Identifier[] {
  const aliases: Identifier[] = [];
  walk(element, (part) => {
    if (part.kind === 'StepElement' && part.alias && part.alias.text !== '_') aliases.push(part.alias);
    return undefined;
  });
  return aliases;
}

const RESHAPING = new Set(['emit', 'select', 'map', 'aggregate', 'trend_aggregate', 'process']);

/** Whether some operator gives the match fields of its own, so that `<alias>_<field>` goes no further. */
function isReshaped({ operators }: StreamDeclaration): boolean {
  return operators.some(({ name, arguments: args }) => RESHAPING.has(name.text) && args.length > 0);
}

function namesIn(node: Statement): Set<string> {
  const names = new Set<string>();
  walk(node, (part) => {
    if (part.kind === 'Name') names.add(part.name);
    return undefined;
  });
  return names;
}

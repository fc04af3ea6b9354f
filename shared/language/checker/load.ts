import { limits } from '../../limits.ts';
import type { ImportDeclaration, Statement } from '../ast/nodes.ts';
import type { SourceText } from '../diagnostics/diagnostic.ts';
import { longText, parse } from '../grammar/parse.ts';
import { ProgramTooLarge } from './budget.ts';
import type { CheckContext } from './context.ts';
import { declareStatement } from './declarations.ts';
import { expandStatements } from './expand.ts';
import { type CheckState, contextOf } from './program-context.ts';
import type { WrittenLoad, WrittenTest } from './program-table.ts';
import type { AnySymbol, TypeSymbol } from './symbols.ts';
import { refuseLongTypeChains } from './type-chains.ts';
import { LoadedModule } from './visible-names.ts';

/**
 * Reads a program and everything it imports: parses, expands compile-time `for` and `if`, declares. What was
 * declared stands in the state's table, imported files at their import statement, each once.
 */
export function loadProgram(main: LoadedModule, state: CheckState): void {
  const loader: Loader = { state, modules: new Map(), statements: new Map() };
  loadModule(main, [main.source], loader);
  declareAll(main, loader, new Set());
}

type Declared = AnySymbol | WrittenLoad | WrittenTest | LoadedModule;

interface Loader {
  readonly state: CheckState;
  /** By the name of the source: a pattern of one name may stand for different files, as each file leaves itself out. */
  readonly modules: Map<string, LoadedModule[]>;
  /** In order: what each file declares, and where other files stand in it. */
  readonly statements: Map<LoadedModule, Declared[]>;
}

function loadModule(module: LoadedModule, chain: readonly SourceText[], loader: Loader): LoadedModule {
  const { source } = module;
  loader.modules.set(source.name, [...(loader.modules.get(source.name) ?? []), module]);
  const context = contextOf(loader.state, module);
  refuseLongText(module, context);
  const { program, diagnostics } = parse(source);
  for (const diagnostic of diagnostics) loader.state.add(diagnostic);
  module.statements = program.statements.length;
  const imports = new Map<ImportDeclaration, LoadedModule>();
  for (const statement of program.statements) {
    if (statement.kind !== 'ImportDeclaration') continue;
    const imported = importModule(statement, context, chain, loader);
    if (imported) imports.set(statement, imported);
  }
  importNames(imports, module);
  declareModule(program.statements, imports, { module, context, loader });
  refuseLongTypeChains(typesOf(loader.statements.get(module) ?? []), context);
  return module;
}

function typesOf(declared: readonly Declared[]): TypeSymbol[] {
  return declared.filter(
    (item): item is TypeSymbol =>
      !(item instanceof LoadedModule) && (item.kind === 'event' || item.kind === 'record' || item.kind === 'alias'),
  );
}

/** @throws ProgramTooLarge, which is E095 */
function refuseLongText({ source }: LoadedModule, context: CheckContext): void {
  const problem = longText(source);
  if (!problem) return;
  context.report('E095', problem.span, problem.message, problem.hint);
  throw new ProgramTooLarge('bytes');
}

/** The file of an import, loaded once. */
function importModule(
  node: ImportDeclaration,
  context: CheckContext,
  chain: readonly SourceText[],
  loader: Loader,
): LoadedModule | undefined {
  const path = node.path.value;
  const { span } = node.path;
  if (path.endsWith('.wasm')) {
    context.report('E093', span, 'WebAssembly modules cannot be imported', 'write the function in the language with `fn`');
    return undefined;
  }
  const source = context.options.resolveImport?.(path, context.source);
  if (!source) {
    context.report('E097', span, `the file \`${path}\` cannot be read`, 'the path is relative to the file that the import stands in');
    return undefined;
  }
  const start = chain.findIndex((each) => isSame(each, source));
  if (start >= 0) {
    const cycle = [...chain.slice(start), source].map(({ name }) => name).join(' -> ');
    context.report('E008', node.span, `this import closes a cycle: ${cycle}`);
    return undefined;
  }
  const known = loader.modules.get(source.name)?.find((module) => isSame(module.source, source));
  if (known) return known;
  if (chain.length > limits.importDepthMax) {
    context.report('E095', node.span, `imports stand more than ${limits.importDepthMax} deep in one another`);
    return undefined;
  }
  return loadModule(new LoadedModule(source, false), [...chain, source], loader);
}

function isSame(one: SourceText, other: SourceText): boolean {
  return one.name === other.name && one.text === other.text;
}

/** Names with a namespace are visible from the start, so that compile-time conditions may use them. */
function importNames(imports: ReadonlyMap<ImportDeclaration, LoadedModule>, module: LoadedModule): void {
  for (const [node, imported] of imports) {
    if (node.alias) module.symbols.addNamespace(node.alias.text, node, imported.symbols);
  }
}

interface Target {
  readonly module: LoadedModule;
  readonly context: CheckContext;
  readonly loader: Loader;
}

function declareModule(
  statements: readonly Statement[],
  imports: ReadonlyMap<ImportDeclaration, LoadedModule>,
  { module, context, loader }: Target,
): void {
  const declared: Declared[] = [];
  loader.statements.set(module, declared);
  const aliases = new Set<string>();
  for (const statement of expandStatements(statements, [...imports], context)) {
    if (statement.kind === 'ImportDeclaration') {
      const imported = imports.get(statement);
      if (!imported) continue;
      declared.push(imported);
      if (statement.alias) declareAlias(statement.alias, aliases, context);
      else for (const symbol of imported.symbols.all()) addName(symbol, module, context);
      continue;
    }
    const item = declareStatement(statement, { module, context, state: loader.state });
    if (item && (item.kind === 'load' || item.kind === 'test' || addName(item, module, context))) declared.push(item);
  }
}

function declareAlias(alias: NonNullable<ImportDeclaration['alias']>, aliases: Set<string>, context: CheckContext): void {
  if (aliases.has(alias.text)) context.report('E007', alias.span, `the import alias \`${alias.text}\` is declared twice`);
  aliases.add(alias.text);
}

const DUPLICATES = {
  event: ['E001', 'event or type'],
  record: ['E001', 'event or type'],
  alias: ['E001', 'event or type'],
  stream: ['E002', 'stream'],
  function: ['E003', 'function'],
  connector: ['E004', 'connector'],
  context: ['E005', 'context'],
  pattern: ['E006', 'pattern'],
  value: ['E007', 'constant or variable'],
} as const;

/** False when the name is taken: the first declaration counts, the second is reported. */
function addName(symbol: AnySymbol, module: LoadedModule, context: CheckContext): boolean {
  const first = module.symbols.add(symbol);
  if (!first) return true;
  reportDuplicate(symbol, first, context);
  return false;
}

function reportDuplicate(symbol: AnySymbol, first: AnySymbol, context: CheckContext, hint?: string): void {
  const [code, kind] = DUPLICATES[symbol.kind];
  const { line } = first.source.position(first.node.name.span.start);
  const where = first.source === symbol.source ? `line ${line}` : `${first.source.name}:${line}`;
  context
    .in(symbol.module)
    .report(code, symbol.node.name.span, `the ${kind} \`${symbol.name}\` is declared twice, first in ${where}`, hint);
}

/** The table in order: what a file imports stands at the import. */
function declareAll(module: LoadedModule, loader: Loader, done: Set<LoadedModule>): void {
  done.add(module);
  for (const item of loader.statements.get(module) ?? []) {
    if (!(item instanceof LoadedModule)) loader.state.table.add(item);
    else if (!done.has(item)) declareAll(item, loader, done);
  }
  // In one file each name is taken once. Files, not their names: two may have one.
  if (module.isMain && loader.statements.size > 1) refuseEqualWireNames(module, loader.state);
}

/** Events and streams of different namespaces keep their own names in inputs and outputs, so two cannot be told apart there. */
function refuseEqualWireNames(main: LoadedModule, state: CheckState): void {
  const { events, streams, connectors, contexts } = state.table;
  for (const symbols of [events, streams, connectors, contexts]) {
    const known = new Map<string, AnySymbol>();
    for (const symbol of symbols) {
      const first = known.get(symbol.name);
      const hint = 'imported declarations keep their own names in inputs and outputs: rename one of the two';
      if (first) reportDuplicate(symbol, first, contextOf(state, main), hint);
      else known.set(symbol.name, symbol);
    }
  }
}

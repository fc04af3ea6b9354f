import { isArray, type Value } from '../../events/value.ts';
import type { Argument } from '../ast/nodes.ts';
import { findConnector, findConnectorParameter } from '../connectors/table.ts';
import type { Diagnostic, SourceText } from '../diagnostics/diagnostic.ts';
import type { EventPlan, FunctionPlan, Plan } from '../plan/plan.ts';
import { ProgramTooLarge } from './budget.ts';
import { withoutConsequences } from './consequences.ts';
import { constantParameters } from './constants.ts';
import type { CheckContext } from './context.ts';
import { loadProgram } from './load.ts';
import type { CheckOptions } from './options.ts';
import { CheckState, contextOf } from './program-context.ts';
import { completeEmits, refuseOutsideEmits } from './program-functions.ts';
import { ProgramTable } from './program-table.ts';
import { checkLoads } from './program-values.ts';
import { warnOwnEffects } from './streams/own-effects.ts';
import { checkStreams, type StreamsResult } from './streams/streams.ts';
import type { Module, SymbolTable } from './symbols.ts';
import { checkTests, type TestPlan } from './tests.ts';
import { linkDescendants } from './type-declarations.ts';
import { reportUnused } from './unused.ts';
import { LoadedModule } from './visible-names.ts';

export interface CheckResult {
  /** The main file first, the others by name; in a file by position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null when there is any error. */
  readonly plan: Plan | null;
  /** Statements of the main file as written, before expansion. */
  readonly statements: number;
  /** What the merged program declares after expansion and imports. */
  readonly program: SymbolTable;
  /** The `test` blocks of the main file; empty when there is any error. */
  readonly tests: readonly TestPlan[];
}

/** Checks a program and makes its plan. Total: no text makes it throw. */
export function check(source: SourceText, options: CheckOptions = {}): CheckResult {
  const table = new ProgramTable();
  const state = new CheckState(options, table);
  const main = new LoadedModule(source, true);
  const context = contextOf(state, main);
  const draft: Draft = { state, main, context, loads: [], streams: { streams: [], sources: [] }, tests: [] };
  runPasses(draft);
  const isRight = !state.hasErrors();
  return {
    diagnostics: inOrder(withoutConsequences(state.diagnostics), main),
    plan: isRight ? assemble(draft) : null,
    statements: main.statements,
    program: table,
    tests: isRight ? draft.tests : [],
  };
}

interface Draft {
  readonly state: CheckState;
  readonly main: LoadedModule;
  readonly context: CheckContext;
  loads: Plan['loads'];
  streams: StreamsResult;
  tests: readonly TestPlan[];
}

/** What is done with a program, in this order. */
const PASSES: readonly { readonly name: string; readonly run: (draft: Draft) => void }[] = [
  { name: 'load', run: ({ main, state }) => loadProgram(main, state) },
  { name: 'types', run: checkTypes },
  { name: 'connectors', run: checkParameters },
  { name: 'values', run: checkValues },
  { name: 'functions', run: checkFunctions },
  { name: 'loads', run: checkAssignments },
  { name: 'streams', run: checkAllStreams },
  { name: 'emits', run: ({ state }) => refuseOutsideEmits(state) },
  { name: 'tests', run: checkAllTests },
  { name: 'own effects', run: ({ state, streams }) => !state.hasErrors() && warnOwnEffects(streams.streams, state) },
  // What is wrong may be what would have used it.
  { name: 'unused', run: ({ state, context, main }) => !state.hasErrors() && reportUnused(context, main) },
];

/** Up to the pass that finds the program too large. */
function runPasses(draft: Draft): void {
  try {
    for (const pass of PASSES) pass.run(draft);
  } catch (error) {
    if (!(error instanceof ProgramTooLarge)) throw error;
  }
}

function checkTypes({ state }: Draft): void {
  for (const event of state.table.events) event.prepare();
  for (const type of state.table.types) type.prepare();
  linkDescendants(state.table.events);
}

function checkParameters({ state, context }: Draft): void {
  for (const symbol of state.table.connectors) {
    const args = symbol.node.kind === 'ConfigDeclaration' ? symbol.node.entries : symbol.node.parameters;
    const descriptor = findConnector(symbol.plan.type);
    const wordsOf = (name: string): readonly string[] | undefined => descriptor && findConnectorParameter(descriptor, name)?.words;
    symbol.plan = { ...symbol.plan, parameters: constantParameters(args, context.in(symbol.module), wordsOf) };
  }
  for (const symbol of state.table.contexts) {
    symbol.plan = { ...symbol.plan, parameters: contextParameters(symbol.node.parameters, context.in(symbol.module)) };
  }
}

/** `cores: [0, 1]`, and nothing else. */
function contextParameters(args: readonly Argument[], context: CheckContext): Map<string, Value> {
  const values = constantParameters(args, context);
  for (const { name, value, span } of args) {
    if (name === null) continue;
    const cores = values.get(name.text);
    if (name.text !== 'cores') context.report('E080', span, `a context has no parameter \`${name.text}\``, 'its only one is `cores: [0]`');
    else if (cores !== undefined && !isListOfCores(cores))
      context.report('E081', value.span, '`cores` must be a list of whole numbers from 0 on', 'write `cores: [0, 1]`');
  }
  return values;
}

function isListOfCores(value: Value): boolean {
  return isArray(value) && value.every((core) => Number.isInteger(core) && Number(core) >= 0);
}

function checkValues({ state }: Draft): void {
  for (const symbol of state.table.values) symbol.prepare();
}

function checkFunctions({ state }: Draft): void {
  for (const symbol of state.table.functions) symbol.prepare();
  completeEmits(state);
}

function checkAssignments(draft: Draft): void {
  draft.loads = checkLoads(draft.state, (module) => draft.context.in(module));
}

function checkAllStreams(draft: Draft): void {
  draft.streams = checkStreams(draft.context);
}

function checkAllTests(draft: Draft): void {
  draft.tests = checkTests(draft.state.table.tests, draft.streams.streams, draft.context);
}

function assemble({ state, loads, streams }: Draft): Plan {
  const { table } = state;
  return {
    events: table.events.map((event): EventPlan => {
      const { name, type, ancestors, timeField } = event;
      return { name, fields: type.fields, ancestors, timeField };
    }),
    globals: table.globals,
    loads,
    functions: table.functions.flatMap(({ plan }): FunctionPlan[] => (plan ? [plan] : [])),
    connectors: table.connectors.map(({ plan }) => plan),
    contexts: table.contexts.map(({ plan }) => plan),
    sources: streams.sources,
    streams: streams.streams,
  };
}

/** The main file first, then the others by name; in a file by position, errors before warnings. */
function inOrder(diagnostics: readonly Diagnostic[], main: Module): Diagnostic[] {
  const rank = ({ source }: Diagnostic): string => (source === main.source ? '' : `1${source.name}`);
  return [...diagnostics].sort((a, b) => {
    if (rank(a) !== rank(b)) return rank(a) < rank(b) ? -1 : 1;
    return a.span.start - b.span.start || (a.severity === b.severity ? 0 : a.severity === 'error' ? -1 : 1);
  });
}

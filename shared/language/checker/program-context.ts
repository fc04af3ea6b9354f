import { limits } from '../../limits.ts';
import type { Span } from '../ast/nodes.ts';
import { CODES, type Code } from '../diagnostics/codes.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { fingerprint } from '../plan/fingerprint.ts';
import { CheckBudget, ProgramTooLarge, type ResourceName, resources } from './budget.ts';
import type { CheckContext } from './context.ts';
import { Repetitions } from './holes.ts';
import { type Needing, visitNeeds } from './needs.ts';
import type { CheckOptions } from './options.ts';
import type { ProgramTable } from './program-table.ts';
import type { EmittedShape, FunctionSymbol, Module } from './symbols.ts';
import { onOneLine } from './written-text.ts';

interface Invocation {
  readonly callee: FunctionSymbol;
  readonly span: Span;
  readonly context: CheckContext;
}

/** What all views of one check share. */
export class CheckState {
  readonly options: CheckOptions;
  readonly table: ProgramTable;
  readonly diagnostics: Diagnostic[] = [];
  /** Calls from outside of functions; a callee that emits is refused there. */
  readonly outsideCalls: Invocation[] = [];
  /** Calls from functions, by what their caller emits itself. */
  readonly calls = new Map<EmittedShape[], Set<FunctionSymbol>>();
  /** What functions emit themselves whose locals, or the parameters of what they call, may hold values of other types. */
  readonly doubtful = new Set<EmittedShape[]>();
  readonly budget = new CheckBudget();
  readonly repetitions = new Repetitions();
  /** Views that report what they find, by file. */
  readonly contexts = new Map<Module, CheckContext>();
  readonly #reported = new Set<string>();
  readonly #told = { error: 0, warning: 0 };
  readonly #prepared = new WeakSet<Needing>();
  readonly #waiting = new Set<Needing>();
  #nesting = 0;
  #isOrdering = false;

  constructor(options: CheckOptions, table: ProgramTable) {
    this.options = options;
    this.table = table;
  }

  add(diagnostic: Diagnostic): void {
    const { code, source, span } = diagnostic;
    const identity = `${code} ${span.start}-${span.end} ${source.name}`;
    if (this.#reported.has(identity)) return;
    this.#reported.add(identity);
    if (this.#told[diagnostic.severity]++ < limits.programDiagnosticsMax) this.diagnostics.push(diagnostic);
  }

  /**
   * Lowers a value or function by `lower`, and before it what it needs, deepest first. So no chain of declarations nests
   * calls of the checker, however long it is.
   */
  prepareInOrder(symbol: Needing, lower: () => void): void {
    if (this.#nesting > 0 || this.#isOrdering) {
      this.#prepare(symbol, lower);
      return;
    }
    this.#isOrdering = true;
    visitNeeds(symbol, {
      isKnown: (other) => this.#prepared.has(other),
      enter: (other) => this.#waiting.add(other),
      leave: (other) => {
        this.#waiting.delete(other);
        if (other === symbol) this.#prepare(symbol, lower);
        else other.prepare();
      },
    });
    this.#isOrdering = false;
  }

  #prepare(symbol: Needing, lower: () => void): void {
    this.#prepared.add(symbol);
    this.#nesting++;
    lower();
    this.#nesting--;
  }

  /** Whether what it needs is being prepared: what is found to read it now stands in a cycle. */
  isWaiting(symbol: Needing): boolean {
    return this.#waiting.has(symbol);
  }

  /** How many preparations wait for the one under way. */
  get nesting(): number {
    return this.#nesting;
  }

  /** True the first time it is asked for a key. */
  isFirst(key: string): boolean {
    if (this.#reported.has(key)) return false;
    this.#reported.add(key);
    return true;
  }

  hasErrors(): boolean {
    return this.#told.error > 0;
  }
}

/** A view of the check on the nodes of one file; streams of one file share it. */
export function contextOf(state: CheckState, module: Module): CheckContext {
  const known = state.contexts.get(module);
  if (known) return known;
  const made = makeContext(state, module, false);
  state.contexts.set(module, made);
  return made;
}

function makeContext(state: CheckState, module: Module, isQuiet: boolean): CheckContext {
  const { source } = module;
  const context: CheckContext = {
    module,
    source,
    symbols: module.symbols,
    table: state.table,
    options: state.options,
    diagnostics: state.diagnostics,
    report: (code, span, message, hint) => {
      if (!isQuiet) state.add(diagnosticOf(code, { source, span, message, ...(hint === undefined ? {} : { hint }) }));
    },
    reportOnce: (key, code, span, message, hint) => {
      if (!isQuiet && state.isFirst(`once ${key}`)) context.report(code, span, message, typeof hint === 'function' ? hint() : hint);
    },
    in: (other) => {
      if (other === module) return context;
      return isQuiet ? makeContext(state, other, true) : contextOf(state, other);
    },
    spend: (name, amount, span) => {
      if (!state.budget.take(name, amount)) refuseSize(state, name, { source, span });
    },
    left: (name) => state.budget.left(name),
    spendOnStream: (parts, fields) => state.budget.takeStream(parts, fields),
    hasErrors: () => state.hasErrors(),
    repetitions: state.repetitions,
    writtenOperators: (node) => {
      const written = state.repetitions.writtenOf(node);
      return written?.kind === 'StreamDeclaration' ? written.operators : node.operators;
    },
    quietly: () => (isQuiet ? context : makeContext(state, module, true)),
    origin: (span) => ({ source, span }),
    fingerprint: (value) => fingerprint(value, state.table.identities),
    noteInvocation: (callee, span, caller) => noteInvocation(state, { callee, span, context }, caller),
    text: (span) => onOneLine(source.text.slice(span.start, span.end)),
  };
  return context;
}

function diagnosticOf(code: Code, rest: Omit<Diagnostic, 'code' | 'severity'>): Diagnostic {
  return { severity: CODES[code].severity, code, ...rest };
}

/** Told wherever it is noticed, also where something is only tried. */
function refuseSize(state: CheckState, name: ResourceName, at: Pick<Diagnostic, 'source' | 'span'>): never {
  const { max, what, hint } = resources[name];
  state.add(diagnosticOf('E095', { ...at, message: `the program has more than ${max.toLocaleString('en')} ${what}`, hint }));
  throw new ProgramTooLarge(name);
}

function noteInvocation(state: CheckState, invocation: Invocation, caller: EmittedShape[] | undefined): void {
  const { callee } = invocation;
  if (!caller) {
    callee.used = true;
    state.outsideCalls.push(invocation);
    return;
  }
  if (state.table.ownEmits.get(callee) !== caller) callee.used = true;
  const callees = state.calls.get(caller) ?? new Set();
  callees.add(callee);
  state.calls.set(caller, callees);
}

import type { AssignmentStatement, TestDeclaration } from '../ast/nodes.ts';
import { type FingerprintNames, fingerprint } from '../plan/fingerprint.ts';
import type { GlobalPlan } from '../plan/plan.ts';
import { visitNeeds } from './needs.ts';
import type {
  AliasSymbol,
  AnySymbol,
  ConnectorSymbol,
  ContextSymbol,
  EmittedShape,
  EventSymbol,
  FunctionSymbol,
  Module,
  PatternSymbol,
  RecordSymbol,
  StreamSymbol,
  SymbolTable,
  ValueSymbol,
} from './symbols.ts';

/** A top-level `x := e`. */
export interface WrittenLoad {
  readonly kind: 'load';
  readonly node: AssignmentStatement;
  readonly module: Module;
}

export interface WrittenTest {
  readonly kind: 'test';
  readonly node: TestDeclaration;
  readonly module: Module;
}

/** Everything that the merged program declares, filled while its files are loaded. */
export class ProgramTable implements SymbolTable {
  readonly events: EventSymbol[] = [];
  readonly types: (RecordSymbol | AliasSymbol)[] = [];
  readonly functions: FunctionSymbol[] = [];
  readonly values: ValueSymbol[] = [];
  readonly connectors: ConnectorSymbol[] = [];
  readonly contexts: ContextSymbol[] = [];
  readonly patterns: PatternSymbol[] = [];
  readonly streams: StreamSymbol[] = [];
  readonly loads: WrittenLoad[] = [];
  readonly tests: WrittenTest[] = [];
  /** In the order in which they are evaluated at load. */
  readonly globals: GlobalPlan[] = [];
  /** What the body of each function emits itself. */
  readonly ownEmits = new Map<FunctionSymbol, EmittedShape[]>();
  readonly identities: FingerprintNames;
  readonly #functionIdentities = new Map<number, string>();
  readonly #globalIdentities: string[] = [];
  #nesting = 0;

  constructor() {
    this.identities = {
      function: (index) => this.#functionIdentity(index),
      global: (index) => this.#globalIdentity(index),
      stream: (index) => this.streams[index]?.name ?? `${index}`,
    };
  }

  addFunction(symbol: FunctionSymbol): void {
    symbol.index = this.functions.push(symbol) - 1;
  }

  add(symbol: AnySymbol | WrittenLoad | WrittenTest): void {
    switch (symbol.kind) {
      case 'load':
        this.loads.push(symbol);
        break;
      case 'test':
        this.tests.push(symbol);
        break;
      case 'event':
        this.events.push(symbol);
        break;
      case 'record':
      case 'alias':
        this.types.push(symbol);
        break;
      case 'function':
        // Stands in `functions` since it was made: calls need its index before the order of files is known.
        break;
      case 'value':
        this.values.push(symbol);
        break;
      case 'connector':
        this.connectors.push(symbol);
        break;
      case 'context':
        this.contexts.push(symbol);
        break;
      case 'pattern':
        this.patterns.push(symbol);
        break;
      case 'stream':
        symbol.index = this.streams.push(symbol) - 1;
    }
  }

  /** A function counts with its body; inside of a recursion it is its name. */
  #functionIdentity(index: number): string {
    const known = this.#functionIdentities.get(index);
    if (known !== undefined) return known;
    const symbol = this.functions[index];
    if (!symbol?.plan || this.#nesting > identityNestingMax) return `function ${symbol?.name ?? index}`;
    this.#identifyNeeded(symbol);
    this.#functionIdentities.set(index, `function ${symbol.name}`);
    const { parameters, body } = symbol.plan;
    this.#nesting++;
    const identity = fingerprint({ parameters: parameters.map(({ name }) => name), body }, this.identities);
    this.#nesting--;
    this.#functionIdentities.set(index, identity);
    return identity;
  }

  /** Those that a function calls come first, deepest first, so that a long chain of calls nests nothing here. */
  #identifyNeeded(symbol: FunctionSymbol): void {
    if (this.#nesting > 0) return;
    this.#nesting++;
    visitNeeds(symbol, {
      isKnown: (other) => other.kind === 'function' && this.#functionIdentities.has(other.index),
      enter: () => undefined,
      leave: (needed) => {
        if (needed.kind === 'function' && needed !== symbol) this.#functionIdentity(needed.index);
      },
    });
    this.#nesting--;
  }

  /** A global reads those before it, so their identities come first. */
  #globalIdentity(index: number): string {
    while (this.#globalIdentities.length <= index) {
      const position = this.#globalIdentities.length;
      const plan = this.globals[position];
      if (!plan) return `global ${index}`;
      const head = `${plan.binding} ${plan.name}`;
      this.#globalIdentities.push(head);
      this.#globalIdentities[position] = `${head} ${fingerprint(plan.value, this.identities)}`;
    }
    return this.#globalIdentities[index] as string;
  }
}

/** Deeper than this a recursion of functions counts by its names. */
const identityNestingMax = 32;

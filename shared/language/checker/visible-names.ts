import type { ImportDeclaration } from '../ast/nodes.ts';
import type { SourceText } from '../diagnostics/diagnostic.ts';
import type { AnySymbol, EventSymbol, Module, SymbolKind, SymbolKinds, Symbols } from './symbols.ts';

interface Namespace {
  readonly node: ImportDeclaration;
  readonly names: VisibleNames;
  used: boolean;
}

/** Key of the list of what streams can read, beside those of kinds. */
const SOURCES = 'sources';

/** The names that one file sees, filled while it is loaded. */
class VisibleNames implements Symbols {
  readonly #byKind = new Map<SymbolKind, Map<string, AnySymbol>>();
  readonly #namespaces = new Map<string, Namespace>();
  /** What `names` gave, while nothing is added. */
  readonly #lists = new Map<string, readonly string[]>();

  /** Adds a symbol under its own name. Gives back the one that has the name already, if that is another one. */
  add(symbol: AnySymbol): AnySymbol | undefined {
    const names = this.#namesOf(kindOf(symbol));
    const known = names.get(symbol.name);
    if (known) return known === symbol ? undefined : known;
    names.set(symbol.name, symbol);
    if (this.#lists.size > 0) this.#lists.clear();
    return undefined;
  }

  addNamespace(alias: string, node: ImportDeclaration, names: VisibleNames): void {
    this.#namespaces.set(alias, { node, names, used: false });
    this.#lists.clear();
  }

  find<K extends SymbolKind>(kind: K, name: string): SymbolKinds[K] | undefined {
    const own = this.#byKind.get(kind)?.get(name);
    if (own) return own as SymbolKinds[K];
    const dot = name.indexOf('.');
    return dot > 0 ? this.#namespaces.get(name.slice(0, dot))?.names.find(kind, name.slice(dot + 1)) : undefined;
  }

  event(name: string): EventSymbol | undefined {
    const symbol = this.find('type', name);
    return symbol?.kind === 'event' ? symbol : undefined;
  }

  names(...kinds: readonly SymbolKind[]): readonly string[] {
    const key = kinds.join(' ');
    const known = this.#lists.get(key) ?? this.#listed(kinds);
    this.#lists.set(key, known);
    return known;
  }

  sourceNames(): readonly string[] {
    const known = this.#lists.get(SOURCES) ?? [
      ...this.names('type').filter((name) => this.event(name)),
      ...this.names('stream', 'pattern'),
    ];
    this.#lists.set(SOURCES, known);
    return known;
  }

  #listed(kinds: readonly SymbolKind[]): readonly string[] {
    const own = kinds.flatMap((kind) => [...(this.#byKind.get(kind)?.keys() ?? [])]);
    const imported = [...this.#namespaces].flatMap(([alias, { names }]) => names.names(...kinds).map((name) => `${alias}.${name}`));
    return [...own, ...imported];
  }

  isNamespace(name: string): boolean {
    return this.#namespaces.has(name);
  }

  namespaces(): readonly string[] {
    return [...this.#namespaces.keys()];
  }

  useNamespace(name: string): void {
    const namespace = this.#namespaces.get(name);
    if (namespace) namespace.used = true;
  }

  /** Imports with `as` that nothing refers to. */
  unusedNamespaces(): ImportDeclaration[] {
    return [...this.#namespaces.values()].filter(({ used }) => !used).map(({ node }) => node);
  }

  /** Every symbol under its own name: what an import without `as` hands on. */
  all(): AnySymbol[] {
    return [...this.#byKind.values()].flatMap((names) => [...names.values()]);
  }

  #namesOf(kind: SymbolKind): Map<string, AnySymbol> {
    const known = this.#byKind.get(kind);
    if (known !== undefined) return known;
    const names = new Map<string, AnySymbol>();
    this.#byKind.set(kind, names);
    return names;
  }
}

function kindOf(symbol: AnySymbol): SymbolKind {
  return symbol.kind === 'event' || symbol.kind === 'record' || symbol.kind === 'alias' ? 'type' : symbol.kind;
}

/** One file while it is loaded and after. */
export class LoadedModule implements Module {
  readonly source: SourceText;
  readonly isMain: boolean;
  readonly symbols = new VisibleNames();
  /** Statements as written, before expansion. */
  statements = 0;

  constructor(source: SourceText, isMain: boolean) {
    this.source = source;
    this.isMain = isMain;
  }
}

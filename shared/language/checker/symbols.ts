import type { Value } from '../../events/value.ts';
import type {
  BindingDeclaration,
  ConfigDeclaration,
  ConnectorDeclaration,
  ContextDeclaration,
  EventDeclaration,
  FunctionDeclaration,
  Identifier,
  PatternDeclaration,
  StreamDeclaration,
  TypeDeclaration,
} from '../ast/nodes.ts';
import type { SourceText } from '../diagnostics/diagnostic.ts';
import type { ConnectorPlan, ContextPlan, FunctionPlan, GlobalPlan, PlanExpression } from '../plan/plan.ts';
import type { RecordType, Type } from '../plan/types.ts';

/** One file of the program. A file imported twice is one module. */
export interface Module {
  readonly source: SourceText;
  /** Names visible in this file: its own, those of imports without `as`, and `alias.X` for imports with one. */
  readonly symbols: Symbols;
  /** True for the file that was given to `check`; only its unused declarations are reported. */
  readonly isMain: boolean;
}

interface SymbolBase<K extends string, N> {
  readonly kind: K;
  /** Its own name, as on the wire and in outputs; never with a namespace. */
  readonly name: string;
  /** The declaration, expanded: no holes are left in it. */
  readonly node: N;
  readonly source: SourceText;
  readonly module: Module;
  /** Something refers to it. Looking a symbol up by `Symbols` does not set it; whoever uses the answer does. */
  used: boolean;
}

interface Prepared {
  /** Resolves the types in it; calling it again does nothing. Done for all before expressions are lowered. */
  readonly prepare: () => void;
}

/** `event E`. */
export interface EventSymbol extends SymbolBase<'event', EventDeclaration>, Prepared {
  /** Inherited fields first. */
  type: RecordType;
  /** What it extends, nearest first. */
  ancestors: readonly string[];
  /** The type itself and every declared type that extends it, in order of declaration. */
  types: readonly string[];
  /** The first declared field of type timestamp. */
  timeField: string | null;
}

/** `type T:` with fields. */
export interface RecordSymbol extends SymbolBase<'record', TypeDeclaration>, Prepared {
  type: RecordType;
}

/** `type T = U`. */
export interface AliasSymbol extends SymbolBase<'alias', TypeDeclaration>, Prepared {
  type: Type;
  optional: boolean;
}

export type TypeSymbol = EventSymbol | RecordSymbol | AliasSymbol;

export interface FunctionSymbol extends SymbolBase<'function', FunctionDeclaration> {
  /** Position in `Plan.functions`. */
  index: number;
  parameters: readonly { readonly name: string; readonly type: Type }[];
  /** `any` when it is not declared. */
  result: Type;
  /** Null until the body is lowered. */
  plan: FunctionPlan | null;
  /** What it emits itself or through functions it calls: only `.process` may call such a function. Complete before streams are checked. */
  emits: readonly EmittedShape[];
  /** Makes `parameters` and a declared `result` ready; calling it again does nothing. */
  readonly declare: () => void;
  /** Lowers the body, unless that is done or under way. */
  readonly prepare: () => void;
}

/** One `emit T(a: e, ..)` of a function. */
export interface EmittedShape {
  readonly type: string;
  readonly fields: readonly { readonly name: string; readonly type: Type }[];
}

/** `const`, `let` or `var` of the program. */
export interface ValueSymbol extends SymbolBase<'value', BindingDeclaration> {
  readonly binding: 'const' | 'let' | 'var';
  /** Declared or inferred. */
  type: Type;
  /** Known before the program runs: every foldable `const` and `let`. */
  constant: Value | undefined;
  /** Position in `Plan.globals`; null for what is folded away. */
  index: number | null;
  value: PlanExpression | null;
  /** Makes `type`, `constant`, `index` and `value` ready; calling it again does nothing. A cycle is reported (E008). */
  readonly prepare: () => void;
}

export interface ConnectorSymbol extends SymbolBase<'connector', ConnectorDeclaration | ConfigDeclaration> {
  /** Its parameters are constants; whether its type knows them is checked with the streams. */
  plan: ConnectorPlan;
  /** `config mqtt`: the default input comes from it (`input_topic`), streams without `.to` go to it (`output_topic`). */
  readonly isDefault: boolean;
}

export interface ContextSymbol extends SymbolBase<'context', ContextDeclaration> {
  plan: ContextPlan;
}

export interface PatternSymbol extends SymbolBase<'pattern', PatternDeclaration> {}

export interface StreamSymbol extends SymbolBase<'stream', StreamDeclaration> {
  /** Position in `Plan.streams`, which is the order of declaration. */
  index: number;
}

export interface SymbolKinds {
  type: TypeSymbol;
  function: FunctionSymbol;
  value: ValueSymbol;
  connector: ConnectorSymbol;
  context: ContextSymbol;
  pattern: PatternSymbol;
  stream: StreamSymbol;
}
export type SymbolKind = keyof SymbolKinds;
export type AnySymbol = SymbolKinds[SymbolKind];

/**
 * The names visible in one file. A name may be dotted (`common.X`). Looking up marks nothing as used.
 * Duplicates are reported when the table is built; the first declaration is the one that counts.
 */
export interface Symbols {
  find<K extends SymbolKind>(kind: K, name: string): SymbolKinds[K] | undefined;
  /** The event of that name; undefined for records, aliases and undeclared names. */
  event(name: string): EventSymbol | undefined;
  /** Visible names of these kinds, for did-you-mean. */
  names(...kinds: readonly SymbolKind[]): readonly string[];
  /** Names of all that a stream can read: events, streams and patterns. */
  sourceNames(): readonly string[];
  /** Whether `name` is the alias of an import: `common`. */
  isNamespace(name: string): boolean;
  namespaces(): readonly string[];
  /** Marks the alias of an import as used. */
  useNamespace(name: string): void;
}

/** All declarations of the merged program, in order; imported ones stand at the import statement. */
export interface SymbolTable {
  readonly events: readonly EventSymbol[];
  readonly types: readonly (RecordSymbol | AliasSymbol)[];
  readonly functions: readonly FunctionSymbol[];
  readonly values: readonly ValueSymbol[];
  /** What the program keeps in variables, as far as its values are prepared. */
  readonly globals: readonly GlobalPlan[];
  readonly connectors: readonly ConnectorSymbol[];
  readonly contexts: readonly ContextSymbol[];
  readonly patterns: readonly PatternSymbol[];
  readonly streams: readonly StreamSymbol[];
}

/** A dotted path as one name: `['common', 'X']` is `common.X`. */
export function dotted(path: readonly Identifier[]): string {
  return path.length === 1 ? (path[0] as Identifier).text : path.map((part) => part.text).join('.');
}

import { library } from './library.ts';

/** Words of JavaScript that generated text uses. */
export const keywords: ReadonlySet<string> = new Set([
  'const',
  'let',
  'return',
  'if',
  'else',
  'for',
  'of',
  'while',
  'break',
  'continue',
  'try',
  'catch',
  'throw',
  'true',
  'false',
  'null',
  'undefined',
]);

/** Names of what a program offers to its own code; `programLibrary` has exactly these. */
export const programNames = ['readGlobal', 'writeGlobal', 'invoke', 'lambda', 'activation', 'emit', 'failure'] as const;

/** The parameters of a generated module, in order: the constants table, then everything it may call. */
export const parameters: readonly string[] = ['K', ...programNames, ...Object.keys(library)];

/** Properties that generated text may read, only ever of rows, scopes, functions and activations. */
const properties: ReadonlySet<string> = new Set(['row', 'bound', 'aggregates', 'time', 'loopStep']);

/** What the text of a generated module may contain. */
export interface Vocabulary {
  readonly keywords: ReadonlySet<string>;
  /** Names of what the module is given. */
  readonly names: ReadonlySet<string>;
  readonly properties: ReadonlySet<string>;
  /** Operators besides those of every generated text. */
  readonly operators: ReadonlySet<string>;
  /** Objects may have fields with minted names. */
  readonly hasMintedProperties: boolean;
}

/** That of the expressions and functions of a program. */
export const expressionVocabulary: Vocabulary = {
  keywords,
  names: new Set(parameters),
  properties,
  operators: new Set(),
  hasMintedProperties: false,
};

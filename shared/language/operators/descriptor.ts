/**
 * What parser, checker, docs, editor and formatter know of one stream operator. One descriptor per operator is the only
 * place where an operator is described: adding one touches its family's file and the checker's lowering.
 */
export interface OperatorDescriptor {
  readonly name: string;
  /** Second spellings; the formatter writes `name`. */
  readonly aliases?: readonly string[];
  readonly family: OperatorFamily;
  /** Where it may stand; anywhere else it is refused (E020 for pattern operators, else E092). */
  readonly places: readonly [OperatorPlace, ...OperatorPlace[]];
  /** Positional ones in written order, then those only known by name. */
  readonly parameters: readonly OperatorParameter[];
  /** Arguments of any number besides `parameters`; absent = there are none. */
  readonly rest?: RestArguments;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Sentences: what it does exactly, what it depends on, what it refuses. */
  readonly description: string;
  readonly example: OperatorExample;
}

export type OperatorFamily =
  | 'filtering'
  | 'shaping'
  | 'windows'
  | 'hygiene'
  | 'effects'
  | 'structure'
  | 'time'
  | 'sources'
  | 'patterns'
  | 'analytics';

/**
 * `stream`: in the chain of any stream and in fork branches · `source`: right behind a named source · `window`: only behind
 * a window · `pattern`: in a stream whose source is a pattern, wherever in its chain · `join`: in a stream whose source is a
 * join · `input`: on one input of `merge` or a join · `step`: on a step of a pattern.
 */
export type OperatorPlace = 'stream' | 'source' | 'window' | 'pattern' | 'join' | 'input' | 'step';

/**
 * What an argument must be. The upper kinds are lowered to expressions, the lower ones are known when the program is
 * checked: constants (`duration`, `count`, `ratio`, `flag`, `text`, `constant`), names (`field`, `word`, `connector`,
 * `context`), and forms of their own.
 */
export type ParameterKind =
  | 'expression'
  | 'condition'
  | 'lambda'
  | 'duration'
  | 'size'
  | 'count'
  | 'ratio'
  | 'flag'
  | 'text'
  | 'constant'
  | 'word'
  | 'field'
  | 'names'
  | 'expressions'
  | 'connector'
  | 'context'
  | 'call'
  | 'step'
  | 'chain'
  | 'aggregate';

export interface OperatorParameter {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly kind: ParameterKind;
  /** May be written without its name, in this order among the positional ones. */
  readonly positional?: boolean;
  readonly required?: boolean;
  /** As a user would write it; what holds when it is left out. */
  readonly default?: string;
  /** What a `word` may be. */
  readonly words?: readonly string[];
  readonly summary: string;
}

export interface RestArguments {
  readonly kind: ParameterKind;
  /** `named`: each is `name: value`; `either`: a bare name stands for `name: name`; `positional`: values without names. */
  readonly form: 'named' | 'either' | 'positional';
  readonly min: number;
  readonly summary: string;
}

/** A whole program, an event file, and the output events it gives, in the notation of event files. Runs as a test. */
export interface OperatorExample {
  readonly program: string;
  readonly events: string;
  readonly outputs: readonly string[];
}

/** An operator of other languages that this one has not: E091 with what to write instead. */
export interface RefusedOperator {
  readonly name: string;
  readonly hint: string;
}

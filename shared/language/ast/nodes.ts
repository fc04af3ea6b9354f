/**
 * The syntax tree: small immutable nodes that say what the user wrote, not what it means. Nothing is resolved here;
 * sugar keeps its own form so that the formatter can give it back. Every node has a span in the user's text.
 *
 * Compile-time `for` bodies hold names with holes (`Zone{i}`): such a name is kept as written, in `Identifier.text`,
 * and `expand` (checker) fills it in.
 */

/** UTF-16 offsets into the user's text, end exclusive. `SourceText` turns them into 1-based lines and columns. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Node<K extends string> {
  readonly kind: K;
  readonly span: Span;
}

/**
 * A name as written, backticks taken off. `quoted` is true when it stood in backticks. Where a name of an imported file may
 * stand (`extends`, `.emit as`, `emit`, tests, `.not(X where e)`) the text may be dotted: `common.Login`.
 */
export interface Identifier extends Node<'Identifier'> {
  readonly text: string;
  readonly quoted: boolean;
}

// ---------------------------------------------------------------------------------------------- program

export interface Program extends Node<'Program'> {
  readonly statements: readonly Statement[];
  /** All comments in order of their position; only the formatter reads them. */
  readonly comments: readonly Comment[];
}

export interface Comment extends Node<'Comment'> {
  /** With its delimiters: `# ..`, `// ..` or `/* .. *\/`. */
  readonly text: string;
  /** Nothing but blanks stands before it on its line. */
  readonly ownLine: boolean;
}

export type Statement =
  | EventDeclaration
  | TypeDeclaration
  | BindingDeclaration
  | AssignmentStatement
  | FunctionDeclaration
  | ConnectorDeclaration
  | ContextDeclaration
  | ConfigDeclaration
  | PatternDeclaration
  | StreamDeclaration
  | ImportDeclaration
  | ForDeclaration
  | IfDeclaration
  | TestDeclaration;

/** `event E [extends P]:` with fields; an empty list is an event without fields. */
export interface EventDeclaration extends Node<'EventDeclaration'> {
  readonly name: Identifier;
  readonly parent: Identifier | null;
  readonly fields: readonly FieldDeclaration[];
}

export interface FieldDeclaration extends Node<'FieldDeclaration'> {
  readonly name: Identifier;
  readonly type: TypeExpression;
}

/** `type T = U` (alias set) or `type T:` with fields (a record). */
export interface TypeDeclaration extends Node<'TypeDeclaration'> {
  readonly name: Identifier;
  readonly alias: TypeExpression | null;
  readonly fields: readonly FieldDeclaration[];
}

export type TypeExpression = NamedType | ArrayType | MapType | OptionalType;
/** Also forms that the checker refuses (E062): generic ones such as `Stream<T>`, and a tuple `(A, B)` as `tuple<A, B>`. */
export interface NamedType extends Node<'NamedType'> {
  /** May be dotted: `common.UserId`. */
  readonly name: string;
  readonly parameters: readonly TypeExpression[];
}
export interface ArrayType extends Node<'ArrayType'> {
  readonly item: TypeExpression;
}
export interface MapType extends Node<'MapType'> {
  readonly key: TypeExpression;
  readonly value: TypeExpression;
}
export interface OptionalType extends Node<'OptionalType'> {
  readonly of: TypeExpression;
}

/** `const`, `let` or `var`, at the top level or in a function. */
export interface BindingDeclaration extends Node<'BindingDeclaration'> {
  readonly binding: 'const' | 'let' | 'var';
  readonly name: Identifier;
  readonly type: TypeExpression | null;
  readonly value: Expression;
}

/** `x := e`, at the top level or in a function. */
export interface AssignmentStatement extends Node<'AssignmentStatement'> {
  readonly target: Identifier;
  readonly value: Expression;
}

export interface FunctionDeclaration extends Node<'FunctionDeclaration'> {
  readonly name: Identifier;
  readonly parameters: readonly ParameterDeclaration[];
  readonly result: TypeExpression | null;
  readonly body: readonly FunctionStatement[];
}

export interface ParameterDeclaration extends Node<'ParameterDeclaration'> {
  readonly name: Identifier;
  readonly type: TypeExpression | null;
}

export interface ConnectorDeclaration extends Node<'ConnectorDeclaration'> {
  readonly name: Identifier;
  readonly type: Identifier;
  readonly parameters: readonly Argument[];
}

export interface ContextDeclaration extends Node<'ContextDeclaration'> {
  readonly name: Identifier;
  readonly parameters: readonly Argument[];
}

/** `config NAME:` or `config NAME { k: v }`. */
export interface ConfigDeclaration extends Node<'ConfigDeclaration'> {
  readonly name: Identifier;
  readonly entries: readonly Argument[];
}

export interface PatternDeclaration extends Node<'PatternDeclaration'> {
  readonly name: Identifier;
  readonly pattern: Pattern;
}

export interface StreamDeclaration extends Node<'StreamDeclaration'> {
  readonly name: Identifier;
  readonly type: TypeExpression | null;
  readonly source: StreamSource;
  readonly operators: readonly OperatorCall[];
}

export interface ImportDeclaration extends Node<'ImportDeclaration'> {
  readonly path: StringLiteral;
  readonly alias: Identifier | null;
}

/** Compile time: the body is repeated for each value of the range. */
export interface ForDeclaration extends Node<'ForDeclaration'> {
  readonly variable: Identifier;
  readonly range: Expression;
  readonly body: readonly Statement[];
}

/** Compile time: the first branch whose condition is true; `otherwise` is the `else` branch (empty when absent). */
export interface IfDeclaration extends Node<'IfDeclaration'> {
  readonly branches: readonly { readonly condition: Expression; readonly body: readonly Statement[] }[];
  readonly otherwise: readonly Statement[];
}

export interface TestDeclaration extends Node<'TestDeclaration'> {
  readonly name: StringLiteral;
  readonly steps: readonly TestStep[];
}

export type TestStep = TestEvent | TestAdvance | TestExpectation;
/** `at 5s LoginOk { user: "ann" }`. */
export interface TestEvent extends Node<'TestEvent'> {
  readonly at: Expression;
  readonly type: Identifier;
  readonly fields: readonly MapEntry[];
}
export interface TestAdvance extends Node<'TestAdvance'> {
  readonly by: Expression;
}
/** `expect Alerts { .. } once`, `expect Alerts { .. } 3 times`, `expect no Alerts [{ .. }]`, `expect Alerts [{ .. }]` (at least one). */
export interface TestExpectation extends Node<'TestExpectation'> {
  readonly stream: Identifier;
  readonly fields: readonly MapEntry[];
  /** Exact number of outputs that fit; null = at least one. `no` is 0, `once` is 1. */
  readonly count: number | null;
}

// ---------------------------------------------------------------------------------------------- functions

export type FunctionStatement =
  | BindingDeclaration
  | AssignmentStatement
  | IfStatement
  | ForStatement
  | WhileStatement
  | BreakStatement
  | ContinueStatement
  | ReturnStatement
  | EmitStatement
  | ExpressionStatement;

export interface IfStatement extends Node<'IfStatement'> {
  readonly branches: readonly { readonly condition: Expression; readonly body: readonly FunctionStatement[] }[];
  readonly otherwise: readonly FunctionStatement[] | null;
}
export interface ForStatement extends Node<'ForStatement'> {
  readonly variable: Identifier;
  readonly iterable: Expression;
  readonly body: readonly FunctionStatement[];
}
export interface WhileStatement extends Node<'WhileStatement'> {
  readonly condition: Expression;
  readonly body: readonly FunctionStatement[];
}
export type BreakStatement = Node<'BreakStatement'>;
export type ContinueStatement = Node<'ContinueStatement'>;
export interface ReturnStatement extends Node<'ReturnStatement'> {
  readonly value: Expression | null;
}
/** `emit Type(a: e, ..)`, in functions called from `.process`. */
export interface EmitStatement extends Node<'EmitStatement'> {
  readonly type: Identifier;
  readonly fields: readonly Argument[];
}
export interface ExpressionStatement extends Node<'ExpressionStatement'> {
  readonly expression: Expression;
}

// ---------------------------------------------------------------------------------------------- streams

export type StreamSource = NamedSource | MergeSource | JoinSource | PatternSource | TimerSource;

/** `X`, `X as x`, `common.X`, `X.late`, `S.branch`: an event type, a stream, a named pattern. */
export interface NamedSource extends Node<'NamedSource'> {
  /** One or more parts: `['common', 'X']`. */
  readonly path: readonly Identifier[];
  readonly alias: Identifier | null;
}

/** `merge(A, B.where(..), stream C = D.where(..))`. */
export interface MergeSource extends Node<'MergeSource'> {
  readonly inputs: readonly SourceInput[];
}

export interface JoinSource extends Node<'JoinSource'> {
  readonly join: 'join' | 'left_join' | 'right_join' | 'full_join';
  readonly inputs: readonly SourceInput[];
}

/** One input of a merge or join; `name` is set for `stream C = ..`. */
export interface SourceInput extends Node<'SourceInput'> {
  readonly name: Identifier | null;
  readonly source: NamedSource;
  readonly operators: readonly OperatorCall[];
}

/** A pattern written in a stream. `form` keeps `sequence(a: A, ..)` and `->` apart for the formatter. */
export interface PatternSource extends Node<'PatternSource'> {
  readonly form: 'arrow' | 'sequence';
  readonly pattern: Pattern;
}

/** `timer(5s [, initial_delay: 1s])`. */
export interface TimerSource extends Node<'TimerSource'> {
  readonly arguments: readonly Argument[];
}

/** `.name(arguments)`. Written `.emit as T (..)`, `as` is set. */
export interface OperatorCall extends Node<'OperatorCall'> {
  readonly name: Identifier;
  readonly as: Identifier | null;
  readonly arguments: readonly Argument[];
}

/**
 * One argument of an operator, function, connector or declaration. Which forms fit where is the checker's business:
 * `order` only in `.order_by`, a `Chain` only in `.fork`, a `StepArgument` only in `.not`, a filter only on aggregates.
 */
export interface Argument extends Node<'Argument'> {
  readonly name: Identifier | null;
  readonly value: Expression | Chain | StepArgument | PatternArgument;
  readonly order: 'asc' | 'desc' | null;
}

/** `.where(..).emit(..)` as a fork branch. */
export interface Chain extends Node<'Chain'> {
  readonly operators: readonly OperatorCall[];
}

/** `X where e` as in `.not(X where k == a.k)`. A bare `X` is a `Name` expression. */
export interface StepArgument extends Node<'StepArgument'> {
  readonly type: Identifier;
  readonly where: Expression;
}

/** `A -> B` as an argument, as in `.pattern(n: A -> B)`; refused by the checker with a hint (E092). */
export interface PatternArgument extends Node<'PatternArgument'> {
  readonly pattern: Pattern;
}

// ---------------------------------------------------------------------------------------------- patterns

/** A pattern with what bounds it as a whole: `P [within d] [partition by e, ..]`. */
export interface Pattern extends Node<'Pattern'> {
  readonly body: PatternElement;
  readonly within: Expression | null;
  readonly partitionBy: readonly Expression[];
}

export type PatternElement = SequenceElement | AndElement | OrElement | GroupElement | NoneElement | StepElement;

/** `a -> b -> c`, also `SEQ(a, b, c)` and `sequence(a: A, ..)`. At least two items, or one in `SEQ(a)`. */
export interface SequenceElement extends Node<'SequenceElement'> {
  readonly form: 'arrow' | 'call';
  readonly items: readonly PatternElement[];
}
export interface AndElement extends Node<'AndElement'> {
  readonly form: 'infix' | 'call';
  readonly items: readonly PatternElement[];
}
export interface OrElement extends Node<'OrElement'> {
  readonly form: 'infix' | 'call';
  readonly items: readonly PatternElement[];
}
/** `( pattern ) [quantifier] [within d]`. */
export interface GroupElement extends Node<'GroupElement'> {
  readonly pattern: Pattern;
  readonly quantifier: Quantifier | null;
  readonly within: Expression | null;
}

/** `NOT (a OR b) [within d]`: none of these comes. */
export interface NoneElement extends Node<'NoneElement'> {
  /** At least two, each of them negated, none with a `within` of its own. */
  readonly items: readonly StepElement[];
  readonly within: Expression | null;
}

/** `["all"] ["NOT"] Type [quantifier] ["where" e] ["as" x] ["where" e] ["within" d]`, with operators on the step before a `->`. */
export interface StepElement extends Node<'StepElement'> {
  readonly all: boolean;
  readonly negated: boolean;
  /** One or more parts: `['common', 'Login']`. */
  readonly type: readonly Identifier[];
  readonly quantifier: Quantifier | null;
  /** In written order; `Type[e]` and `Type.where(e)` count too. Several mean `and`. */
  readonly where: readonly Expression[];
  readonly alias: Identifier | null;
  readonly within: Expression | null;
  /** Operators written on a step (`.increasing(f)`, `.print()` before a `->`), but `.where` and `.within`, which stand above. */
  readonly operators: readonly OperatorCall[];
}

export interface Quantifier extends Node<'Quantifier'> {
  readonly text: '+' | '*' | '?' | 'range';
  readonly min: number;
  /** Infinity when open. */
  readonly max: number;
}

// ---------------------------------------------------------------------------------------------- expressions

export type Expression =
  | NumberLiteral
  | StringLiteral
  | TemplateLiteral
  | DurationLiteral
  | TimestampLiteral
  | BoolLiteral
  | NullLiteral
  | ArrayLiteral
  | MapLiteral
  | Hole
  | Name
  | Member
  | Index
  | Slice
  | Call
  | Lambda
  | Block
  | Conditional
  | Unary
  | Binary
  | Range
  | IsNull
  | Filtered
  | Parenthesized;

export interface NumberLiteral extends Node<'NumberLiteral'> {
  readonly type: 'int' | 'float';
  readonly value: number;
  /** As written, for the formatter. */
  readonly text: string;
}
export interface StringLiteral extends Node<'StringLiteral'> {
  readonly value: string;
  /** Written with single quotes. */
  readonly raw: boolean;
}
/** `f"..{e}.."`: texts and expressions in written order. */
export interface TemplateLiteral extends Node<'TemplateLiteral'> {
  readonly parts: readonly (string | Expression)[];
}
export interface DurationLiteral extends Node<'DurationLiteral'> {
  readonly ms: number;
  readonly text: string;
}
export interface TimestampLiteral extends Node<'TimestampLiteral'> {
  readonly ms: number;
  readonly text: string;
}
export interface BoolLiteral extends Node<'BoolLiteral'> {
  readonly value: boolean;
}
export type NullLiteral = Node<'NullLiteral'>;
export interface ArrayLiteral extends Node<'ArrayLiteral'> {
  readonly items: readonly Expression[];
}
export interface MapLiteral extends Node<'MapLiteral'> {
  readonly entries: readonly MapEntry[];
}
export interface MapEntry extends Node<'MapEntry'> {
  readonly key: string;
  readonly quoted: boolean;
  readonly value: Expression;
}
/** `{i}` as an expression in the body of a compile-time `for`. */
export interface Hole extends Node<'Hole'> {
  readonly name: string;
}
export interface Name extends Node<'Name'> {
  readonly name: string;
  readonly quoted: boolean;
}
/** `object.name` and `object?.name`. */
export interface Member extends Node<'Member'> {
  readonly object: Expression;
  readonly name: Identifier;
  readonly optional: boolean;
}
export interface Index extends Node<'Index'> {
  readonly object: Expression;
  readonly index: Expression;
}
export interface Slice extends Node<'Slice'> {
  readonly object: Expression;
  readonly from: Expression | null;
  readonly to: Expression | null;
}
/** `f(x)`, and the method call `x.f(y)` with a `Member` as callee. */
export interface Call extends Node<'Call'> {
  readonly callee: Expression;
  readonly arguments: readonly Argument[];
}
export interface Lambda extends Node<'Lambda'> {
  readonly parameters: readonly Identifier[];
  readonly body: Expression;
}
/** `{ let y = 1; y + x }`, only as the body of a lambda. */
export interface Block extends Node<'Block'> {
  readonly statements: readonly FunctionStatement[];
}
export interface Conditional extends Node<'Conditional'> {
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}
export type UnaryOperator = '-' | '~' | 'not';
export interface Unary extends Node<'Unary'> {
  readonly operator: UnaryOperator;
  readonly operand: Expression;
}
export type BinaryOperator =
  | '??'
  | 'or'
  | 'and'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'in'
  | 'not in'
  | '|'
  | '^'
  | '&'
  | '<<'
  | '>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**';
export interface Binary extends Node<'Binary'> {
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}
/** `a..b`, `a..=b`. */
export interface Range extends Node<'Range'> {
  readonly from: Expression;
  readonly to: Expression;
  readonly inclusive: boolean;
}
/** `e is null`, `e is not null`. */
export interface IsNull extends Node<'IsNull'> {
  readonly operand: Expression;
  readonly negated: boolean;
}
/** `count() where status == "failed"`: an aggregate call with a filter. */
export interface Filtered extends Node<'Filtered'> {
  readonly call: Expression;
  readonly condition: Expression;
}
/** Kept so that the formatter gives back the user's parentheses; otherwise it means its operand. */
export interface Parenthesized extends Node<'Parenthesized'> {
  readonly expression: Expression;
}

// ---------------------------------------------------------------------------------------------- visiting

export type AnyNode =
  | Program
  | Comment
  | Statement
  | FieldDeclaration
  | TypeExpression
  | ParameterDeclaration
  | TestStep
  | FunctionStatement
  | StreamSource
  | SourceInput
  | OperatorCall
  | Argument
  | Chain
  | StepArgument
  | PatternArgument
  | Pattern
  | PatternElement
  | Quantifier
  | Expression
  | MapEntry
  | Identifier;

/** A function per kind of expression. A new kind does not compile until every visitor of this type handles it. */
export type ExpressionVisitor<R> = { readonly [K in Expression['kind']]: (node: Extract<Expression, { kind: K }>) => R };
export type StatementVisitor<R> = { readonly [K in Statement['kind']]: (node: Extract<Statement, { kind: K }>) => R };
export type PatternVisitor<R> = { readonly [K in PatternElement['kind']]: (node: Extract<PatternElement, { kind: K }>) => R };

export function visitExpression<R>(node: Expression, visitor: ExpressionVisitor<R>): R {
  return (visitor[node.kind] as (node: Expression) => R)(node);
}
export function visitStatement<R>(node: Statement, visitor: StatementVisitor<R>): R {
  return (visitor[node.kind] as (node: Statement) => R)(node);
}
export function visitPattern<R>(node: PatternElement, visitor: PatternVisitor<R>): R {
  return (visitor[node.kind] as (node: PatternElement) => R)(node);
}

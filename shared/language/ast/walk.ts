/** Walking syntax trees without knowing every kind of node. */
import type { AnyNode } from './nodes.ts';

type Kind = AnyNode['kind'];
type NodeOf<K extends Kind> = Extract<AnyNode, { readonly kind: K }>;
type Children = { readonly [K in Kind]: (node: NodeOf<K>) => readonly (AnyNode | null)[] };

const none = (): readonly AnyNode[] => [];

/** A new kind of node does not compile until its children are named here. */
const childrenOf: Children = {
  Program: ({ statements }) => statements,
  Comment: none,
  Identifier: none,
  EventDeclaration: ({ name, parent, fields }) => [name, parent, ...fields],
  FieldDeclaration: ({ name, type }) => [name, type],
  TypeDeclaration: ({ name, alias, fields }) => [name, alias, ...fields],
  NamedType: ({ parameters }) => parameters,
  ArrayType: ({ item }) => [item],
  MapType: ({ key, value }) => [key, value],
  OptionalType: ({ of }) => [of],
  BindingDeclaration: ({ name, type, value }) => [name, type, value],
  AssignmentStatement: ({ target, value }) => [target, value],
  FunctionDeclaration: ({ name, parameters, result, body }) => [name, ...parameters, result, ...body],
  ParameterDeclaration: ({ name, type }) => [name, type],
  ConnectorDeclaration: ({ name, type, parameters }) => [name, type, ...parameters],
  ContextDeclaration: ({ name, parameters }) => [name, ...parameters],
  ConfigDeclaration: ({ name, entries }) => [name, ...entries],
  PatternDeclaration: ({ name, pattern }) => [name, pattern],
  StreamDeclaration: ({ name, type, source, operators }) => [name, type, source, ...operators],
  ImportDeclaration: ({ path, alias }) => [path, alias],
  ForDeclaration: ({ variable, range, body }) => [variable, range, ...body],
  IfDeclaration: ({ branches, otherwise }) => [...branches.flatMap(({ condition, body }) => [condition, ...body]), ...otherwise],
  TestDeclaration: ({ name, steps }) => [name, ...steps],
  TestEvent: ({ at, type, fields }) => [at, type, ...fields],
  TestAdvance: ({ by }) => [by],
  TestExpectation: ({ stream, fields }) => [stream, ...fields],
  IfStatement: ({ branches, otherwise }) => [...branches.flatMap(({ condition, body }) => [condition, ...body]), ...(otherwise ?? [])],
  ForStatement: ({ variable, iterable, body }) => [variable, iterable, ...body],
  WhileStatement: ({ condition, body }) => [condition, ...body],
  BreakStatement: none,
  ContinueStatement: none,
  ReturnStatement: ({ value }) => [value],
  EmitStatement: ({ type, fields }) => [type, ...fields],
  ExpressionStatement: ({ expression }) => [expression],
  NamedSource: ({ path, alias }) => [...path, alias],
  MergeSource: ({ inputs }) => inputs,
  JoinSource: ({ inputs }) => inputs,
  SourceInput: ({ name, source, operators }) => [name, source, ...operators],
  PatternSource: ({ pattern }) => [pattern],
  TimerSource: (node) => node.arguments,
  OperatorCall: (node) => [node.name, node.as, ...node.arguments],
  Argument: ({ name, value }) => [name, value],
  Chain: ({ operators }) => operators,
  StepArgument: ({ type, where }) => [type, where],
  PatternArgument: ({ pattern }) => [pattern],
  Pattern: ({ body, within, partitionBy }) => [body, within, ...partitionBy],
  SequenceElement: ({ items }) => items,
  AndElement: ({ items }) => items,
  OrElement: ({ items }) => items,
  GroupElement: ({ pattern, quantifier, within }) => [pattern, quantifier, within],
  NoneElement: ({ items, within }) => [...items, within],
  StepElement: ({ type, quantifier, where, alias, within, operators }) => [...type, quantifier, ...where, alias, within, ...operators],
  Quantifier: none,
  NumberLiteral: none,
  StringLiteral: none,
  TemplateLiteral: ({ parts }) => parts.filter((part) => typeof part !== 'string'),
  DurationLiteral: none,
  TimestampLiteral: none,
  BoolLiteral: none,
  NullLiteral: none,
  ArrayLiteral: ({ items }) => items,
  MapLiteral: ({ entries }) => entries,
  MapEntry: ({ value }) => [value],
  Hole: none,
  Name: none,
  Member: ({ object, name }) => [object, name],
  Index: ({ object, index }) => [object, index],
  Slice: ({ object, from, to }) => [object, from, to],
  Call: (node) => [node.callee, ...node.arguments],
  Lambda: ({ parameters, body }) => [...parameters, body],
  Block: ({ statements }) => statements,
  Conditional: ({ condition, then, otherwise }) => [condition, then, otherwise],
  Unary: ({ operand }) => [operand],
  Binary: ({ left, right }) => [left, right],
  Range: ({ from, to }) => [from, to],
  IsNull: ({ operand }) => [operand],
  Filtered: ({ call, condition }) => [call, condition],
  Parenthesized: ({ expression }) => [expression],
};

/** The nodes directly inside a node, in the order of the grammar (a step's `where` and `as` may be written the other way round). */
export function children(node: AnyNode): readonly AnyNode[] {
  const list = (childrenOf[node.kind] as (node: AnyNode) => readonly (AnyNode | null)[])(node);
  return list.filter((child) => child !== null);
}

/**
 * Calls `visit` for a node and everything inside it, outer nodes first. What lies inside a node is left out when `visit`
 * returns `'skip'` for it. Uses no recursion, so a tree of any depth can be walked.
 */
export function walk(root: AnyNode, visit: (node: AnyNode) => 'skip' | undefined): void {
  const waiting: AnyNode[] = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (visit(node) === 'skip') continue;
    const inner = children(node);
    for (let index = inner.length - 1; index >= 0; index--) waiting.push(inner[index] as AnyNode);
  }
}

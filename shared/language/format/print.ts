/** Syntax trees as program text, in the one layout that `format` gives. */
import {
  type Comment,
  type EventDeclaration,
  type Expression,
  type FieldDeclaration,
  type FunctionDeclaration,
  type FunctionStatement,
  type IfDeclaration,
  type IfStatement,
  type JoinSource,
  type MergeSource,
  type NamedSource,
  type PatternSource,
  type Program,
  type SourceInput,
  type Statement,
  type StatementVisitor,
  type StreamDeclaration,
  type StreamSource,
  type TestExpectation,
  type TestStep,
  type TypeDeclaration,
  type TypeExpression,
  visitStatement,
} from '../ast/nodes.ts';
import { type Attached, noComments } from './comments.ts';
import { blankLine, concat, type Doc, group, hardLine, join, line, lineSuffix, list, nest, render, softLine } from './doc.ts';
import { dotted, name, stringLiteral, word } from './names.ts';
import { ExpressionPrinter, path } from './print-expressions.ts';

/** Columns of a line at most, where the program allows a line end. */
const widthMax = 100;

/** What the formatter knows beyond the tree. */
export interface Surroundings {
  readonly attached: Attached;
  /** Whether the user left an empty line before a node or comment. */
  readonly hasBlankBefore: (node: object) => boolean;
}

const nothingAround: Surroundings = { attached: noComments, hasBlankBefore: () => false };

/**
 * The text of a program: `parse` gives the same tree back, up to spans and parentheses. Comments of the program are left
 * out (`format` keeps them). Ends with a line end unless it is empty.
 */
export function print(program: Program, around: Surroundings = nothingAround): string {
  const doc = new Printer(around).program(program);
  const text = render(doc, widthMax).trim();
  return text === '' ? '' : `${text}\n`;
}

type FunctionVisitor = { readonly [K in FunctionStatement['kind']]: (node: Extract<FunctionStatement, { kind: K }>) => Doc };
type TestVisitor = { readonly [K in TestStep['kind']]: (node: Extract<TestStep, { kind: K }>) => Doc };
type SourceVisitor = { readonly [K in StreamSource['kind']]: (node: Extract<StreamSource, { kind: K }>) => Doc };
type TypeVisitor = { readonly [K in TypeExpression['kind']]: (node: Extract<TypeExpression, { kind: K }>) => string };

function visit<N extends { readonly kind: string }, R>(node: N, visitor: { readonly [K in N['kind']]: (node: never) => R }): R {
  return (visitor[node.kind as N['kind']] as (node: N) => R)(node);
}

class Printer {
  readonly #around: Surroundings;
  readonly #expressions: ExpressionPrinter;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#expressions = new ExpressionPrinter(around.attached, (statement) => this.#functionLine(statement, false));
  }

  program(program: Program): Doc {
    const statements = this.#lines(program.statements, (statement) => visitStatement(statement, this.#statements), separates);
    return concat(statements, ...this.#around.attached(program).after.flatMap((comment) => [this.#gap(comment), comment.text]));
  }

  // ---------------------------------------------------------------- lines and blocks

  /** Statements or other lines one below the other, each with its comments and the empty lines of the user. */
  #lines<N extends object>(
    nodes: readonly N[],
    doc: (node: N, index: number) => Doc,
    separate: (before: N, node: N) => boolean = () => false,
  ): Doc {
    const docs = nodes.flatMap((node, index): Doc[] => {
      const before = nodes[index - 1];
      const { leading } = this.#around.attached(node);
      const gap = before && separate(before, node) ? blankLine : this.#gap(leading[0] ?? node);
      return [...(before ? [gap] : []), this.#line(node, doc(node, index))];
    });
    return concat(...docs);
  }

  #gap(node: object): Doc {
    return this.#around.hasBlankBefore(node) ? blankLine : hardLine;
  }

  #line(node: object, doc: Doc): Doc {
    const { leading, trailing, after } = this.#around.attached(node);
    const before = leading.flatMap((comment, index): Doc[] => [comment.text, this.#gap(leading[index + 1] ?? node)]);
    const suffixes = trailing.map((comment) => lineSuffix(comment.text));
    return concat(...before, doc, ...suffixes, ...after.flatMap((comment): Doc[] => [this.#gap(comment), comment.text]));
  }

  /** A head that ends with `:` and its indented lines. */
  #block(node: object, head: Doc, body: Doc | null): Doc {
    const comments = this.#around.attached(node).head.map((comment: Comment) => lineSuffix(comment.text));
    return concat(head, ...comments, body === null ? '' : nest(concat(hardLine, body)));
  }

  #expression(node: Expression): Doc {
    return this.#expressions.expression(node);
  }

  // ---------------------------------------------------------------- declarations

  readonly #statements: StatementVisitor<Doc> = {
    EventDeclaration: (node) => this.#event(node),
    TypeDeclaration: (node) => this.#type(node),
    BindingDeclaration: (node) => this.#functionStatement(node),
    AssignmentStatement: (node) => this.#functionStatement(node),
    FunctionDeclaration: (node) => this.#function(node),
    ConnectorDeclaration: (node) =>
      concat(`connector ${name(node.name)} = ${name(node.type)} `, this.#expressions.arguments(node.parameters)),
    ContextDeclaration: (node) =>
      concat(`context ${name(node.name)}`, node.parameters.length > 0 ? concat(' ', this.#expressions.arguments(node.parameters)) : ''),
    ConfigDeclaration: (node) =>
      this.#block(
        node,
        `config ${name(node.name)}:`,
        this.#body(node.entries, (entry) => this.#expressions.argument(entry)),
      ),
    PatternDeclaration: (node) => concat(`pattern ${name(node.name)} = `, this.#expressions.pattern(node.pattern)),
    StreamDeclaration: (node) => this.#stream(node),
    ImportDeclaration: (node) => `import ${stringLiteral(node.path.value, node.path.raw)}${node.alias ? ` as ${name(node.alias)}` : ''}`,
    ForDeclaration: (node) => {
      const head = concat(`for ${name(node.variable)} in `, this.#expression(node.range), ':');
      return this.#block(node, head, this.#loopBody(node.variable.text, node.body));
    },
    IfDeclaration: (node) => this.#branches(node, node.otherwise, (body) => this.#declarations(body)),
    TestDeclaration: (node) =>
      this.#block(
        node,
        `test ${stringLiteral(node.name.value, node.name.raw)}:`,
        this.#body(node.steps, (step) => visit(step, this.#testSteps)),
      ),
  };

  #body<N extends object>(nodes: readonly N[], doc: (node: N) => Doc): Doc | null {
    return nodes.length === 0 ? null : this.#lines(nodes, doc);
  }

  #declarations(statements: readonly Statement[]): Doc {
    return this.#lines(statements, (statement) => visitStatement(statement, this.#statements));
  }

  #loopBody(variable: string, body: readonly Statement[]): Doc {
    this.#expressions.loopVariables.push(variable);
    const doc = this.#declarations(body);
    this.#expressions.loopVariables.pop();
    return doc;
  }

  #event(node: EventDeclaration): Doc {
    const parent = node.parent ? ` extends ${dotted(node.parent)}` : '';
    return this.#block(node, `event ${name(node.name)}${parent}:`, this.#fields(node.fields));
  }

  #type(node: TypeDeclaration): Doc {
    if (node.alias) return `type ${name(node.name)} = ${typeText(node.alias)}`;
    return this.#block(node, `type ${name(node.name)}:`, this.#fields(node.fields));
  }

  #fields(fields: readonly FieldDeclaration[]): Doc | null {
    return this.#body(fields, (field) => `${word(field.name)}: ${typeText(field.type)}`);
  }

  #function(node: FunctionDeclaration): Doc {
    const parameters = node.parameters.map(({ name: label, type }) => `${name(label)}${type ? `: ${typeText(type)}` : ''}`);
    const head = concat(`fn ${name(node.name)}`, list('(', parameters, ')'), node.result ? ` -> ${typeText(node.result)}:` : ':');
    return this.#block(node, head, this.#functionBody(node.body));
  }

  // ---------------------------------------------------------------- branches

  #branches<S extends object>(
    node: IfDeclaration | IfStatement,
    otherwise: readonly S[] | null,
    body: (statements: readonly S[]) => Doc,
  ): Doc {
    const branches = (node.branches as readonly { condition: Expression; body: readonly S[] }[]).map((branch, index) => {
      const head = concat(index === 0 ? 'if ' : 'elif ', this.#expression(branch.condition), ':');
      return this.#block(index === 0 ? node : branch, head, body(branch.body));
    });
    const last = otherwise && otherwise.length > 0 ? [concat('else:', nest(concat(hardLine, body(otherwise))))] : [];
    return join(hardLine, [...branches, ...last]);
  }

  // ---------------------------------------------------------------- functions

  #functionBody(statements: readonly FunctionStatement[]): Doc {
    return this.#lines(statements, (statement, index) => this.#functionLine(statement, index === 0));
  }

  #functionLine(statement: FunctionStatement, isFirst: boolean): Doc {
    const doc = this.#functionStatement(statement);
    const inParentheses = statement.kind === 'ExpressionStatement' && isMistakable(statement.expression, isFirst);
    return inParentheses ? concat('(', doc, ')') : doc;
  }

  #functionStatement(statement: FunctionStatement): Doc {
    return visit(statement, this.#functionStatements);
  }

  readonly #functionStatements: FunctionVisitor = {
    BindingDeclaration: (node) =>
      concat(`${node.binding} ${name(node.name)}${node.type ? `: ${typeText(node.type)}` : ''} = `, this.#expression(node.value)),
    AssignmentStatement: (node) => concat(`${name(node.target)} := `, this.#expression(node.value)),
    IfStatement: (node) => this.#branches(node, node.otherwise, (body) => this.#functionBody(body)),
    ForStatement: (node) =>
      this.#block(node, concat(`for ${name(node.variable)} in `, this.#expression(node.iterable), ':'), this.#functionBody(node.body)),
    WhileStatement: (node) => this.#block(node, concat('while ', this.#expression(node.condition), ':'), this.#functionBody(node.body)),
    BreakStatement: () => 'break',
    ContinueStatement: () => 'continue',
    ReturnStatement: ({ value }) => (value ? concat('return ', this.#expression(value)) : 'return'),
    EmitStatement: (node) => concat(`emit ${dotted(node.type)}`, this.#expressions.arguments(node.fields)),
    ExpressionStatement: ({ expression }) => this.#expression(expression),
  };

  // ---------------------------------------------------------------- tests

  readonly #testSteps: TestVisitor = {
    TestEvent: (node) =>
      concat(
        'at ',
        this.#expression(node.at),
        ` ${dotted(node.type)}`,
        node.fields.length > 0 ? concat(' ', this.#expressions.entries(node.fields)) : '',
      ),
    TestAdvance: ({ by }) => concat('advance ', this.#expression(by)),
    TestExpectation: (node) => this.#expectation(node),
  };

  #expectation({ stream, fields, count }: TestExpectation): Doc {
    const entries = fields.length > 0 ? concat(' ', this.#expressions.entries(fields)) : '';
    const times = count === null || count === 0 ? '' : count === 1 ? ' once' : ` ${count} times`;
    return concat(count === 0 ? 'expect no ' : 'expect ', dotted(stream), entries, times);
  }

  // ---------------------------------------------------------------- streams

  #stream(node: StreamDeclaration): Doc {
    const head = `stream ${name(node.name)}${node.type ? `: ${typeText(node.type)}` : ''} = `;
    const operators = node.operators.flatMap((operator): Doc[] => [hardLine, this.#line(operator, this.#expressions.operator(operator))]);
    return concat(head, this.#line(node.source, visit(node.source, this.#sources)), nest(concat(...operators)));
  }

  readonly #sources: SourceVisitor = {
    NamedSource: (node) => this.#namedSource(node),
    MergeSource: (node) => this.#inputs('merge', node),
    JoinSource: (node) => this.#inputs(node.join, node),
    PatternSource: (node) => this.#patternSource(node),
    TimerSource: (node) => concat('timer', this.#expressions.arguments(node.arguments)),
  };

  #namedSource({ path: parts, alias }: NamedSource): string {
    return `${path(parts)}${alias ? ` as ${name(alias)}` : ''}`;
  }

  #inputs(label: string, { inputs }: MergeSource | JoinSource): Doc {
    return concat(
      label,
      list(
        '(',
        inputs.map((input) => this.#expressions.item(input, this.#input(input))),
        ')',
      ),
    );
  }

  #input({ name: label, source, operators }: SourceInput): Doc {
    const chain = operators.map((operator) => this.#expressions.item(operator, this.#expressions.operator(operator)));
    const tail = chain.length > 0 ? nest(concat(source.alias ? line : softLine, join(softLine, chain))) : '';
    return group(concat(label ? `stream ${name(label)} = ` : '', this.#expressions.item(source, this.#namedSource(source)), tail));
  }

  #patternSource({ form, pattern }: PatternSource): Doc {
    if (form !== 'sequence' || pattern.body.kind !== 'SequenceElement') return this.#expressions.pattern(pattern);
    return this.#expressions.pattern(pattern, this.#expressions.sequenceCall(pattern.body));
  }
}

const statementWords: ReadonlySet<string> = new Set([
  'let',
  'var',
  'const',
  'if',
  'elif',
  'else',
  'for',
  'while',
  'break',
  'continue',
  'return',
  'emit',
]);

/** Words and signs that continue the line before when they begin one. */
const continuationWords: ReadonlySet<string> = new Set(['where', 'as', 'within', 'partition', 'in', 'is', 'AND', 'OR']);

/** Whether a line that begins with the expression would be read as something else: a statement, or the rest of the line before. */
function isMistakable(expression: Expression, isFirst: boolean): boolean {
  const first = leftmost(expression);
  if (first.kind === 'Unary') return !isFirst && first.operator === '-';
  const name =
    first.kind === 'Lambda' && first.parameters.length === 1 ? first.parameters[0]?.text : first.kind === 'Name' ? first.name : undefined;
  if (name === undefined || (first.kind === 'Name' && first.quoted)) return false;
  return statementWords.has(name) || (!isFirst && continuationWords.has(name));
}

function leftmost(expression: Expression): Expression {
  let first = expression;
  for (;;) {
    if (first.kind === 'Member' || first.kind === 'Index' || first.kind === 'Slice') first = first.object;
    else if (first.kind === 'Call') first = first.callee;
    else if (first.kind === 'Binary') first = first.left;
    else if (first.kind === 'Range') first = first.from;
    else if (first.kind === 'IsNull') first = first.operand;
    else return first;
  }
}

// ------------------------------------------------------------------------------------------------ types

const types: TypeVisitor = {
  NamedType: ({ name: text, parameters }) => {
    const type = text.split('.').map((part, index) => (index === 0 ? name : word)({ text: part, quoted: false }));
    return `${type.join('.')}${parameters.length > 0 ? `<${parameters.map(typeText).join(', ')}>` : ''}`;
  },
  ArrayType: ({ item }) => `[${typeText(item)}]`,
  MapType: ({ key, value }) => `{${typeText(key)}: ${typeText(value)}}`,
  OptionalType: ({ of }) => `${typeText(of)}?`,
};

function typeText(type: TypeExpression): string {
  return visit(type, types);
}

// ------------------------------------------------------------------------------------------------ empty lines

/** Statements of more than one line stand apart. */
function separates(before: Statement, statement: Statement): boolean {
  return isTall(before) || isTall(statement);
}

function isTall(statement: Statement): boolean {
  switch (statement.kind) {
    case 'EventDeclaration':
    case 'TypeDeclaration':
      return statement.fields.length > 0;
    case 'StreamDeclaration':
      return statement.operators.length > 0;
    case 'FunctionDeclaration':
    case 'ConfigDeclaration':
    case 'ForDeclaration':
    case 'IfDeclaration':
    case 'TestDeclaration':
      return true;
    default:
      return false;
  }
}

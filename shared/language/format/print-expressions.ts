/**
 * Documents for expressions, operators and patterns. The three contain one another, so they stand in one file, which is
 * long for that reason; each kind of node has one short function in a visitor that must be complete.
 */
import {
  type AndElement,
  type Argument,
  type Binary,
  type Block,
  type Call,
  type Conditional,
  type Expression,
  type ExpressionVisitor,
  type FunctionStatement,
  type Identifier,
  type Index,
  type Lambda,
  type MapEntry,
  type Member,
  type OperatorCall,
  type OrElement,
  type Pattern,
  type PatternElement,
  type PatternVisitor,
  type Quantifier,
  type SequenceElement,
  type Slice,
  type StepElement,
  type TemplateLiteral,
  visitExpression,
  visitPattern,
} from '../ast/nodes.ts';
import { operatorNames } from '../ast/operator-names.ts';
import { comparisonPrecedence, precedence } from '../grammar/operators.ts';
import type { Attached } from './comments.ts';
import { concat, concatAll, type Doc, group, hardLine, join, line, lineSuffix, list, nest, render, softLine } from './doc.ts';
import { dotted, name, stringLiteral, templateText, word } from './names.ts';

const level = { lambda: -1, conditional: 0, ...precedence, postfix: 15, primary: 16 } as const;

export class ExpressionPrinter {
  readonly #attached: Attached;
  readonly #statement: (statement: FunctionStatement) => Doc;
  /** Variables of the compile-time `for` bodies around: `{i}` means one of them. */
  readonly loopVariables: string[] = [];

  constructor(attached: Attached, statement: (statement: FunctionStatement) => Doc) {
    this.#attached = attached;
    this.#statement = statement;
  }

  expression(node: Expression): Doc {
    return visitExpression(node, this.#expressions);
  }

  /** In parentheses when it binds less than what stands around it. */
  #atLeast(required: number, node: Expression): Doc {
    return levelOf(node) >= required ? this.expression(node) : concat('(', this.expression(node), ')');
  }

  /** An item of a list with its comments. */
  item(node: object, doc: Doc): Doc {
    const { leading, trailing, after } = this.#attached(node);
    return concat(
      ...leading.flatMap((comment): Doc[] => [comment.text, hardLine]),
      doc,
      ...trailing.map((comment) => lineSuffix(comment.text)),
      ...after.flatMap((comment): Doc[] => [hardLine, comment.text]),
    );
  }

  // ---------------------------------------------------------------- expressions

  readonly #expressions: ExpressionVisitor<Doc> = {
    NumberLiteral: ({ text }) => text,
    StringLiteral: ({ value, raw }) => stringLiteral(value, raw),
    TemplateLiteral: (node) => this.#template(node),
    DurationLiteral: ({ text }) => text,
    TimestampLiteral: ({ text }) => text,
    BoolLiteral: ({ value }) => String(value),
    NullLiteral: () => 'null',
    ArrayLiteral: ({ items }) =>
      list(
        '[',
        items.map((item) => this.item(item, this.#unfiltered(item))),
        ']',
      ),
    MapLiteral: ({ entries }) => this.entries(entries),
    Hole: (node) => `{${node.name}}`,
    Name: (node) => name({ text: node.name, quoted: node.quoted }),
    Member: (node) => this.#chain(node),
    Index: (node) => this.#chain(node),
    Slice: (node) => this.#chain(node),
    Call: (node) => this.#chain(node),
    Lambda: (node) => this.#lambda(node),
    Block: (node) => this.#block(node),
    Conditional: (node) => this.#conditional(node),
    Unary: ({ operator, operand }) =>
      operator === 'not' ? concat('not ', this.#atLeast(level.not, operand)) : concat(operator, this.#atLeast(level.unary, operand)),
    Binary: (node) => group(this.#binary(node)),
    Range: ({ from, to, inclusive }) =>
      concat(this.#atLeast(level['..'] + 1, from), inclusive ? '..=' : '..', this.#atLeast(level['..'] + 1, to)),
    IsNull: ({ operand, negated }) => concat(this.#atLeast(comparisonPrecedence + 1, operand), negated ? ' is not null' : ' is null'),
    Filtered: ({ call, condition }) => concat(this.expression(call), ' where ', this.#unfiltered(condition)),
    Parenthesized: ({ expression }) => group(concat('(', nest(concat(softLine, this.expression(expression))), softLine, ')')),
  };

  /** A filter stands free only as an argument or in parentheses. */
  #unfiltered(node: Expression): Doc {
    return node.kind === 'Filtered' ? concat('(', this.expression(node), ')') : this.expression(node);
  }

  #template({ parts }: TemplateLiteral): Doc {
    return concatAll(['f"', ...parts.map((part) => (typeof part === 'string' ? templateText(part) : this.#hole(part))), '"']);
  }

  /** An f-string ends on its line, so what stands in it is never broken. */
  #hole(part: Expression): string {
    const text = render(this.#unfiltered(part), Number.POSITIVE_INFINITY).trimEnd();
    if (part.kind === 'Hole') return text;
    if (part.kind === 'Name' && this.loopVariables.includes(part.name)) return `{(${text})}`;
    return text.startsWith('{') || text.endsWith('}') ? `{ ${text} }` : `{${text}}`;
  }

  entries(entries: readonly MapEntry[]): Doc {
    if (entries.length === 0) return '{}';
    const docs = entries.map((entry) => this.item(entry, this.#entry(entry)));
    return group(concat('{', nest(concat(line, join(concat(',', line), docs))), line, '}'));
  }

  #entry({ key, quoted, value }: MapEntry): Doc {
    return concat(quoted ? stringLiteral(key, false) : word({ text: key, quoted }), ': ', this.#unfiltered(value));
  }

  /** `a.b(c)[d]`, from its head on without recursion. */
  #chain(node: Member | Index | Slice | Call): Doc {
    const links: Doc[] = [];
    let object: Expression = node;
    for (;;) {
      if (object.kind === 'Member') {
        links.push(`${object.optional ? '?.' : '.'}${word(object.name)}`);
        object = object.object;
      } else if (object.kind === 'Index') {
        links.push(concat('[', this.#unfiltered(object.index), ']'));
        object = object.object;
      } else if (object.kind === 'Slice') {
        links.push(this.#slice(object));
        object = object.object;
      } else if (object.kind === 'Call') {
        links.push(this.arguments(object.arguments));
        object = object.callee;
      } else return concatAll([this.#atLeast(level.postfix, object), ...links.reverse()]);
    }
  }

  #slice({ from, to }: Slice): Doc {
    return concat('[', from ? this.#unfiltered(from) : '', ':', to ? this.#unfiltered(to) : '', ']');
  }

  #lambda(node: Lambda): Doc {
    const heads: Doc[] = [];
    let body: Expression = node;
    for (; body.kind === 'Lambda'; body = body.body) heads.push(`${parameterList(body.parameters)} => `);
    return concatAll([...heads, this.#unfiltered(body)]);
  }

  #block({ statements }: Block): Doc {
    const docs = statements.map((statement) => this.item(statement, this.#blockStatement(statement)));
    if (this.#looksLikeHole(statements)) return concat('{ (', ...docs, ') }');
    return group(concat('{', nest(concat(line, join(concat(';', line), docs))), line, '}'));
  }

  #blockStatement(statement: FunctionStatement): Doc {
    return this.#statement(statement);
  }

  #looksLikeHole(statements: readonly FunctionStatement[]): boolean {
    const [only] = statements;
    const isName = only?.kind === 'ExpressionStatement' && only.expression.kind === 'Name';
    return statements.length === 1 && isName && this.loopVariables.includes((only.expression as { name: string }).name);
  }

  #conditional(node: Conditional): Doc {
    const parts: Doc[] = [];
    let rest: Expression = node;
    for (; rest.kind === 'Conditional'; rest = rest.otherwise) {
      parts.push('if ', this.#unfiltered(rest.condition), ' then ', this.#unfiltered(rest.then), ' else ');
    }
    return concatAll([...parts, this.#unfiltered(rest)]);
  }

  /** A chain of operators that bind alike breaks before each of them. */
  #binary(node: Binary): Doc {
    const own = level[node.operator];
    if (node.operator === '**') {
      const right =
        node.right.kind === 'Unary' && node.right.operator !== 'not' ? this.expression(node.right) : this.#atLeast(own, node.right);
      return concat(this.#atLeast(own + 1, node.left), ' ** ', right);
    }
    const tail: Doc[] = [];
    let left: Expression = node;
    while (left.kind === 'Binary' && level[left.operator] === own) {
      tail.push(concat(line, `${left.operator} `, this.#atLeast(own + 1, left.right)));
      left = left.left;
      if (own === comparisonPrecedence) break;
    }
    return concat(this.#atLeast(own + 1, left), nest(concatAll(tail.reverse())));
  }

  // ---------------------------------------------------------------- arguments and operators

  arguments(args: readonly Argument[]): Doc {
    return list(
      '(',
      args.map((argument) => this.item(argument, this.argument(argument))),
      ')',
    );
  }

  argument({ name: label, value, order }: Argument): Doc {
    return concat(label ? `${word(label)}: ` : '', this.#argumentValue(value), order ? ` ${order}` : '');
  }

  #argumentValue(value: Argument['value']): Doc {
    switch (value.kind) {
      case 'Chain':
        return group(
          nest(
            join(
              softLine,
              value.operators.map((operator) => this.item(operator, this.operator(operator))),
            ),
          ),
        );
      case 'StepArgument':
        return concat(dotted(value.type), ' where ', this.#unfiltered(value.where));
      case 'PatternArgument':
        return group(this.#patternParts(value.pattern, this.#element(value.pattern.body)));
      default:
        return this.expression(value);
    }
  }

  operator({ name: label, as, arguments: args }: OperatorCall): Doc {
    return concat('.', word(label), as ? ` as ${dotted(as)} ` : '', this.arguments(args));
  }

  // ---------------------------------------------------------------- patterns

  /** A pattern outside brackets. `body` stands for the pattern's own when that is written in another form. */
  pattern(pattern: Pattern, body = this.#openElement(pattern.body)): Doc {
    return group(this.#patternParts(pattern, body));
  }

  #patternParts({ body: element, within, partitionBy }: Pattern, body: Doc): Doc {
    const clauses: Doc[] = [];
    if (within) clauses.push(concat('within ', this.#clause(within)));
    if (partitionBy.length > 0)
      clauses.push(
        concat(
          'partition by ',
          join(
            ', ',
            partitionBy.map((key) => this.#clause(key)),
          ),
        ),
      );
    const isCall = 'form' in element && element.form === 'call';
    const tail = clauses.length === 0 ? '' : nest(concat(isCall ? ' ' : line, join(' ', clauses)));
    return concat(body, tail);
  }

  /** Outside brackets `.first(` would begin the stream's next operator. */
  #clause(node: Expression): Doc {
    return callsOperatorName(node) ? concat('(', this.expression(node), ')') : this.#unfiltered(node);
  }

  #element(element: PatternElement): Doc {
    return visitPattern(element, this.#elements);
  }

  readonly #elements: PatternVisitor<Doc> = {
    SequenceElement: (node) => (node.form === 'call' ? this.#call('SEQ', node) : this.#arrows(node)),
    AndElement: (node) => (node.form === 'call' ? this.#call('AND', node) : this.#infix(node, ' AND ')),
    OrElement: (node) => (node.form === 'call' ? this.#call('OR', node) : this.#infix(node, ' OR ')),
    GroupElement: ({ pattern, quantifier, within }) =>
      concat(
        group(concat('(', nest(concat(softLine, this.#patternParts(pattern, this.#element(pattern.body)))), softLine, ')')),
        quantifierText(quantifier),
        within ? concat(' within ', this.#clause(within)) : '',
      ),
    NoneElement: ({ items, within }) => {
      const steps = items.map((item) => this.item(item, this.#step({ ...item, negated: false }, item.alias)));
      return concat('NOT (', join(' OR ', steps), ')', within ? concat(' within ', this.#clause(within)) : '');
    },
    StepElement: (node) => this.#step(node, node.alias),
  };

  #call(label: string, { items }: SequenceElement | AndElement | OrElement): Doc {
    return concat(
      label,
      list(
        '(',
        items.map((item) => this.item(item, this.#element(item))),
        ')',
      ),
    );
  }

  /** `sequence(a: A, b: B where e)`: an alias stands before its step. */
  sequenceCall({ items }: SequenceElement): Doc {
    const docs = items.map((item) => {
      if (item.kind !== 'StepElement' || item.alias === null) return this.item(item, this.#element(item));
      return this.item(item, concat(`${name(item.alias)}: `, this.#step(item, null)));
    });
    return concat('sequence', list('(', docs, ')'));
  }

  #arrows({ items }: SequenceElement, doc = (item: PatternElement) => this.#inner(item, ['SequenceElement'])): Doc {
    const [first, ...rest] = items;
    if (!first) return '';
    const tail = rest.flatMap((item): Doc[] => [line, this.item(item, concat('-> ', doc(item)))]);
    return concat(this.item(first, doc(first)), nest(concatAll(tail)));
  }

  /** Outside brackets the operators of a step before `->` have lines of their own. */
  #openElement(element: PatternElement): Doc {
    if (element.kind !== 'SequenceElement' || element.form === 'call') return this.#element(element);
    const [first] = element.items;
    const last = element.items.at(-1);
    return this.#arrows(element, (item) => {
      if (item === last || item.kind !== 'StepElement') return this.#inner(item, ['SequenceElement']);
      const operators = item.operators.flatMap((operator): Doc[] => [hardLine, this.operator(operator)]);
      const tail = item === first ? nest(concat(...operators)) : concat(...operators);
      return concat(this.#step({ ...item, operators: [] }, item.alias), tail);
    });
  }

  #infix(node: AndElement | OrElement, separator: string): Doc {
    const looser: PatternElement['kind'][] =
      node.kind === 'AndElement' ? ['SequenceElement', 'OrElement', 'AndElement'] : ['SequenceElement', 'OrElement'];
    return join(
      separator,
      node.items.map((item) => this.#inner(item, looser)),
    );
  }

  /** In parentheses when it is an infix form that binds no tighter than what stands around it. */
  #inner(element: PatternElement, looser: readonly PatternElement['kind'][]): Doc {
    const isInfix = 'form' in element && element.form !== 'call';
    return isInfix && looser.includes(element.kind) ? concat('(', this.#element(element), ')') : this.#element(element);
  }

  /** Operators stand right behind the type: behind a `where` they would be method calls inside brackets. */
  #step(step: StepElement, alias: Identifier | null): Doc {
    return concat(
      step.all ? 'all ' : '',
      step.negated ? 'NOT ' : '',
      path(step.type),
      quantifierText(step.quantifier),
      concatAll(step.operators.map((operator) => this.operator(operator))),
      concatAll(step.where.map((condition) => concat(' where ', this.#clause(condition)))),
      alias ? ` as ${name(alias)}` : '',
      step.within ? concat(' within ', this.#clause(step.within)) : '',
    );
  }
}

function levelOf(node: Expression): number {
  switch (node.kind) {
    case 'Lambda':
    case 'Filtered':
      return level.lambda;
    case 'Block':
    case 'Conditional':
      return level.conditional;
    case 'Range':
      return level['..'];
    case 'Binary':
      return level[node.operator];
    case 'Unary':
      return node.operator === 'not' ? level.not : level.unary;
    case 'IsNull':
      return comparisonPrecedence;
    default:
      return level.primary;
  }
}

/** Whether a method with the name of a stream operator is called outside all brackets of the expression. */
function callsOperatorName(root: Expression): boolean {
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.kind === 'Call' && node.callee.kind === 'Member' && !node.callee.optional && operatorNames.has(node.callee.name.text))
      return true;
    for (const part of unbracketed(node)) open.push(part);
  }
  return false;
}

function unbracketed(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'Member':
    case 'Index':
    case 'Slice':
      return [node.object];
    case 'Call':
      return [node.callee];
    case 'Binary':
      return [node.left, node.right];
    case 'Range':
      return [node.from, node.to];
    case 'Unary':
    case 'IsNull':
      return [node.operand];
    case 'Conditional':
      return [node.condition, node.then, node.otherwise];
    case 'Lambda':
      return [node.body];
    default:
      return [];
  }
}

function parameterList(parameters: readonly Identifier[]): string {
  const [only] = parameters;
  return parameters.length === 1 && only ? name(only) : `(${parameters.map(name).join(', ')})`;
}

export function path(parts: readonly Identifier[]): string {
  return parts.map((part, index) => (index === 0 ? name(part) : word(part))).join('.');
}

function quantifierText(quantifier: Quantifier | null): string {
  if (!quantifier) return '';
  const { text, min, max } = quantifier;
  if (text !== 'range') return text;
  if (min === max) return `{${min}}`;
  return max === Number.POSITIVE_INFINITY ? `{${min},}` : `{${min},${max}}`;
}

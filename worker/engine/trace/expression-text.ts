import { toText } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';
import {
  type BinaryExpression,
  type LogicalExpression,
  type PlanExpression,
  type PlanExpressionVisitor,
  type RowReference,
  visitPlanExpression,
} from '../../../shared/language/plan/plan.ts';

/** What a plan knows by number, as the program calls it. */
export interface ExpressionNames {
  /** A step's alias or type, a join side's name. */
  slot(slot: number): string;
  function(index: number): string;
  global(index: number): string;
  /** What a condition reads besides rows: the rows of a window that it looks at. */
  readonly local: string;
}

/** What stands in the place of a field, an attribute or an aggregate of a closure that is read; `text` is how it is written. */
export type ShowRead = (expression: PlanExpression, text: string) => string;

const levels = { lambda: 0, if: 1, range: 2, '??': 3, or: 4, and: 5, not: 6, compare: 7, unary: 14, postfix: 16 } as const;

const binaryLevels: { readonly [K in BinaryExpression['operator']]: number } = {
  '==': 7,
  '!=': 7,
  '<': 7,
  '<=': 7,
  '>': 7,
  '>=': 7,
  in: 7,
  'not in': 7,
  '|': 8,
  '^': 9,
  '&': 10,
  '<<': 11,
  '>>': 11,
  '+': 12,
  '-': 12,
  '*': 13,
  '/': 13,
  '%': 13,
  '**': 15,
};

/** Longest text of a value that is shown whole, in characters. */
const VALUE_TEXT_MAX = 60;

/**
 * A checked expression in the words of the language: what it means, with names resolved, so it may differ from how the user
 * wrote it. Bodies of blocks are left out.
 */
export function expressionText(plan: PlanExpression, names: ExpressionNames, show: ShowRead = asWritten): string {
  return new ExpressionPrinter(names, '', show).print(plan, levels.lambda);
}

/** The text of an expression as an operand of a comparison. */
export function operandText(plan: PlanExpression, names: ExpressionNames): string {
  return new ExpressionPrinter(names, '', asWritten).print(plan, levels.compare + 1);
}

/** A value as a program would write it, cut when it is long. */
export function shortText(value: Value): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : toText(value);
  const characters = Array.from(text.slice(0, 2 * VALUE_TEXT_MAX));
  return characters.length <= VALUE_TEXT_MAX ? text : `${characters.slice(0, VALUE_TEXT_MAX - 1).join('')}…`;
}

function asWritten(_expression: PlanExpression, text: string): string {
  return text;
}

class ExpressionPrinter {
  readonly #names: ExpressionNames;
  /** Written before a field of the current row: in an aggregate of a closure that is a captured event. */
  readonly #current: string;
  readonly #show: ShowRead;
  readonly #visitor: PlanExpressionVisitor<string>;

  constructor(names: ExpressionNames, current: string, show: ShowRead) {
    this.#names = names;
    this.#current = current;
    this.#show = show;
    this.#visitor = this.#visitors();
  }

  /** In parentheses where it binds less than `level`. */
  print(plan: PlanExpression, level: number): string {
    const text = visitPlanExpression(plan, this.#visitor);
    return levelOf(plan) < level ? `(${text})` : text;
  }

  #list(plans: readonly PlanExpression[]): string {
    return plans.map((plan) => this.print(plan, levels.lambda)).join(', ');
  }

  #visitors(): PlanExpressionVisitor<string> {
    const postfix = (plan: PlanExpression): string => this.print(plan, levels.postfix);
    const whole = (plan: PlanExpression): string => this.print(plan, levels.lambda);
    return {
      constant: ({ value }) => shortText(value),
      field: (field) => this.#show(field, `${this.#rowPrefix(field.of)}${nameText(field.name)}`),
      attribute: (attribute) => this.#show(attribute, `${this.#rowPrefix(attribute.of)}${attribute.name}`),
      row: ({ of }) => (of.kind === 'items' ? `collect(${this.#names.slot(of.slot)})` : this.#rowText(of)),
      local: () => this.#names.local,
      global: ({ global }) => this.#names.global(global),
      aggregate: ({ index }) => `aggregate ${index + 1}`,
      closure: (closure) => this.#show(closure, this.#closureText(closure)),
      unless_first: ({ condition }) => whole(condition),
      unary: ({ operator, operand }) =>
        operator === 'not' ? `not ${this.print(operand, levels.not)}` : `${operator}${this.print(operand, levels.unary)}`,
      binary: (binary) => this.#binary(binary),
      logical: (logical) => this.#logical(logical),
      is_null: ({ operand, negated }) => `${this.print(operand, levels.compare + 1)} is ${negated ? 'not null' : 'null'}`,
      if: (node) =>
        `if ${this.print(node.condition, levels.range)} then ${this.print(node.then, levels.range)} else ${this.print(node.otherwise, levels.if)}`,
      array: ({ items }) => `[${this.#list(items)}]`,
      map: ({ entries }) => `{${entries.map(({ key, value }) => `${JSON.stringify(key)}: ${whole(value)}`).join(', ')}}`,
      member: ({ object, name }) => `${postfix(object)}.${nameText(name)}`,
      index: ({ object, index }) => `${postfix(object)}[${whole(index)}]`,
      slice: ({ object, from, to }) => `${postfix(object)}[${from === null ? '' : whole(from)}:${to === null ? '' : whole(to)}]`,
      range: ({ from, to, inclusive }) => `${this.print(from, levels['??'])}${inclusive ? '..=' : '..'}${this.print(to, levels['??'])}`,
      template: ({ parts }) => `f"${parts.map((part) => (typeof part === 'string' ? escaped(part) : `{${whole(part)}}`)).join('')}"`,
      call: (call) => `${call.function}(${this.#list(call.arguments)})`,
      invoke: (call) => `${this.#names.function(call.function)}(${this.#list(call.arguments)})`,
      lambda: ({ text }) => text.replace(/\s+/g, ' ').trim(),
      block: () => '{ .. }',
    };
  }

  #closureText({ slot, function: name, argument, constants }: Extract<PlanExpression, { kind: 'closure' }>): string {
    const alias = this.#names.slot(slot);
    const subject = argument === null ? alias : new ExpressionPrinter(this.#names, `${alias}.`, asWritten).print(argument, levels.lambda);
    return `${name}(${[subject, ...constants.map(shortText)].join(', ')})`;
  }

  #binary({ operator, left, right }: BinaryExpression): string {
    const level = binaryLevels[operator];
    const [ofLeft, ofRight] = operator === '**' ? [level + 1, levels.unary] : [level + (level === levels.compare ? 1 : 0), level + 1];
    return `${this.print(left, ofLeft)} ${operator} ${this.print(right, ofRight)}`;
  }

  #logical({ operator, left, right }: LogicalExpression): string {
    const level = levels[operator];
    return `${this.print(left, level)} ${operator} ${this.print(right, level + 1)}`;
  }

  #rowPrefix(of: RowReference): string {
    return of.kind === 'current' ? this.#current : `${this.#rowText(of)}.`;
  }

  #rowText(of: RowReference): string {
    if (of.kind === 'current') return this.#current === '' ? 'event' : this.#current.slice(0, -1);
    const alias = this.#names.slot(of.slot);
    if (of.kind === 'slot') return alias;
    return typeof of.at === 'string' ? `${of.at}(${alias})` : `${alias}[${this.print(of.at, levels.lambda)}]`;
  }
}

function levelOf(plan: PlanExpression): number {
  switch (plan.kind) {
    case 'binary':
      return binaryLevels[plan.operator];
    case 'logical':
      return levels[plan.operator];
    case 'unary':
      return plan.operator === 'not' ? levels.not : levels.unary;
    case 'unless_first':
      return levelOf(plan.condition);
    case 'is_null':
      return levels.compare;
    case 'if':
    case 'range':
    case 'lambda':
      return levels[plan.kind];
    default:
      return levels.postfix;
  }
}

function nameText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('{', '{{').replaceAll('}', '}}');
}

import type { Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { BinaryExpression, PatternPlan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import type { Evaluate, Row, Scope } from '../operators/row.ts';
import { bindingsOf, type Captures } from '../patterns/captures.ts';
import { type ExpressionNames, expressionText, operandText, shortText } from './expression-text.ts';

/** A condition that did not hold. */
export interface FailedCondition {
  /** With the values that decided: `price (40) > a.price (50)`. */
  readonly text: string;
  /** What was read, by how it is written. */
  readonly values: ReadonlyMap<string, Value>;
}

/** How a condition came out: how many of the conditions that `and` joins held, and the first that did not. */
export interface Verdict {
  /** Of two with as many, that with more equalities is the greater: what has another key has nothing to do with the matter. */
  readonly held: number;
  /** Null when all held. */
  readonly failed: FailedCondition | null;
}

/** Runs expressions aside from the program: nothing of it changes. */
export interface ConditionReader {
  readonly names: ExpressionNames;
  evaluator(expression: PlanExpression): Evaluate;
}

/** Where the condition of a step, or of a `.not`, looks at an event: behind those that a run has. */
export function scopeBehind(captures: Captures, { steps }: PatternPlan, row: Row): Scope {
  const isList = steps.map(() => true);
  return { row, bound: bindingsOf(captures, isList), aggregates: [], locals: [] };
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in']);

/** Says what came of each part of a condition; the first that is not true is the one that failed. */
export function judge(condition: PlanExpression, scope: Scope, reader: ConditionReader): Verdict {
  const { held, failed } = weigh(condition, scope, reader);
  return { held, failed: failed === null ? null : failed() };
}

/** As `judge`, for one who asks many: the words for what failed are made when they are asked for. */
export function weigh(
  condition: PlanExpression,
  scope: Scope,
  reader: ConditionReader,
): { readonly held: number; readonly failed: (() => FailedCondition) | null } {
  let held = 0;
  let failed: (() => FailedCondition) | null = null;
  for (const part of conjunctsOf(condition)) {
    const { value, failure } = attempt(part, scope, reader);
    if (value === true) held += isEquality(part) ? 1 + EQUALITY_AHEAD : 1;
    else failed ??= () => describe(part, scope, reader, failure);
  }
  return { held, failed };
}

/** So little that any number of equalities comes to less than one more condition. */
const EQUALITY_AHEAD = 2 ** -20;

function isEquality(part: PlanExpression): boolean {
  return part.kind === 'binary' && part.operator === '==';
}

function conjunctsOf(condition: PlanExpression): readonly PlanExpression[] {
  const isConjunction = condition.kind === 'logical' && condition.operator === 'and';
  return isConjunction ? [...conjunctsOf(condition.left), ...conjunctsOf(condition.right)] : [condition];
}

interface Outcome {
  readonly value: Value;
  /** Why it could not be evaluated. */
  readonly failure: string | null;
}

function attempt(expression: PlanExpression, scope: Scope, reader: ConditionReader): Outcome {
  try {
    return { value: reader.evaluator(expression)({ ...scope, locals: [...scope.locals] }), failure: null };
  } catch (thrown) {
    if (!(thrown instanceof EvaluationError)) throw thrown;
    return { value: null, failure: thrown.message };
  }
}

function describe(part: PlanExpression, scope: Scope, reader: ConditionReader, failure: string | null): FailedCondition {
  const description = new Description(scope, reader);
  const text = description.text(part, false);
  return { text: failure === null ? text : `${text} fails: ${failure}`, values: description.values };
}

/** A condition with the value of each thing it reads, or of both sides of a comparison. */
class Description {
  readonly values = new Map<string, Value>();
  readonly #scope: Scope;
  readonly #reader: ConditionReader;

  constructor(scope: Scope, reader: ConditionReader) {
    this.#scope = scope;
    this.#reader = reader;
  }

  text(part: PlanExpression, isNested: boolean): string {
    if (part.kind === 'unless_first') return this.text(part.condition, isNested);
    if (part.kind === 'binary' && COMPARISONS.has(part.operator)) return this.#comparison(part);
    if (part.kind === 'is_null') return `${this.#side(part.operand)} is ${part.negated ? 'not null' : 'null'}`;
    if (part.kind === 'unary' && part.operator === 'not') return `not (${this.text(part.operand, false)})`;
    if (part.kind === 'logical' && part.operator !== '??') {
      const text = `${this.text(part.left, true)} ${part.operator} ${this.text(part.right, true)}`;
      return isNested ? `(${text})` : text;
    }
    return expressionText(part, this.#reader.names, (read, text) => this.#withValue(read, text));
  }

  #comparison({ operator, left, right }: BinaryExpression): string {
    return `${this.#side(left)} ${operator} ${this.#side(right)}`;
  }

  #side(side: PlanExpression): string {
    const text = operandText(side, this.#reader.names);
    return side.kind === 'constant' ? text : this.#withValue(side, text);
  }

  #withValue(expression: PlanExpression, text: string): string {
    const { value, failure } = attempt(expression, this.#scope, this.#reader);
    if (failure !== null) return text;
    this.values.set(text, value);
    return `${text} (${shortText(value)})`;
  }
}

import { invariant } from '../../../errors/error.ts';
import type { Value } from '../../../events/value.ts';
import type { OperatorCall, Statement, StreamDeclaration } from '../../ast/nodes.ts';
import { AlikePlan } from '../../plan/alike.ts';
import { fingerprint } from '../../plan/fingerprint.ts';
import type { ConstantExpression, OperatorPlan, StreamPlan } from '../../plan/plan.ts';
import type { RecordType } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import { constant } from '../expressions/fold.ts';
import type { Repetition } from '../holes.ts';
import type { RowShape } from '../scope.ts';
import type { StreamSymbol } from '../symbols.ts';
import { type Filling, filledOperators, type Literal, type PlannedOperators } from './filled-operators.ts';
import type { ProgramStreams, StreamResult } from './program-streams.ts';
import { typeOfShape } from './stage.ts';

/** A stream that is planned. */
interface Planned {
  readonly node: StreamDeclaration;
  readonly result: StreamResult;
}

/** One from which others can be made. */
interface Model extends Planned {
  readonly operators: ModelOperators;
  /** What its plan and constants are to others. */
  readonly alike: ConstructorParameters<typeof AlikePlan>[0];
  /** What planning it has used up. */
  readonly parts: number;
  /** The only name that its source reads. */
  readonly source: string;
  /** Its constants. */
  readonly constants: readonly ConstantExpression[];
  /** What others have in their places for each value of the loop's variable; null = the same. */
  readonly values: readonly (((value: number) => unknown) | null)[];
  readonly emits: boolean;
}

/** All that the operators of the others are made of. The checker goes when a program is checked, and its plan stays: nothing here leads to it. */
interface ModelOperators extends PlannedOperators {
  /** As they are written for a value of the loop's variable. */
  readonly writtenFor: (value: number) => readonly OperatorCall[];
}

/** What is known of a statement that a loop repeats. `model`: null where each of its streams has to be planned on its own. */
interface Repeated {
  readonly first: Planned;
  model: Model | null | undefined;
}

/**
 * Plans streams, in full where it has to. Of those that a compile-time loop makes of one statement the first two are; where they differ
 * in their names and in texts and numbers that are only handed on, the plans of the others are that of the second with their own. What a
 * loop fills in changes nothing else, so what holds for these two holds for all, whose operators are made when somebody asks for them.
 */
export class RepeatedStreams {
  readonly #plan: (symbol: StreamSymbol) => StreamResult;
  readonly #context: CheckContext;
  readonly #program: ProgramStreams;
  readonly #known = new Map<Statement, Repeated>();
  readonly #events: ReadonlySet<string>;

  /** `plan` plans a stream in full. */
  constructor(plan: (symbol: StreamSymbol) => StreamResult, program: ProgramStreams, context: CheckContext) {
    this.#plan = plan;
    this.#program = program;
    this.#context = context;
    this.#events = new Set(context.table.events.map(({ name }) => name));
  }

  /** @throws ProgramTooLarge */
  resultOf(symbol: StreamSymbol): StreamResult {
    const repetition = this.#context.repetitions.of(symbol.node);
    if (repetition === undefined) return this.#plan(symbol);
    const known = this.#known.get(repetition.written);
    if (known === undefined) {
      const result = this.#plan(symbol);
      this.#known.set(repetition.written, { first: { node: symbol.node, result }, model: undefined });
      return result;
    }
    if (known.model === undefined) return this.#second(symbol, known, repetition);
    return (known.model && this.#likeModel(symbol.node, known.model, repetition)) ?? this.#plan(symbol);
  }

  #second(symbol: StreamSymbol, known: Repeated, repetition: Repetition): StreamResult {
    const left = this.#context.left('parts');
    const result = this.#plan(symbol);
    known.model = this.#modelOf({ node: symbol.node, result }, known.first, left - this.#context.left('parts'), repetition);
    return result;
  }

  /** Null where mistakes were found, or the first one does not come from the second either. */
  #modelOf({ node, result }: Planned, first: Planned, parts: number, repetition: Repetition): Model | null {
    const source = sourceOf(node, result.plan);
    if (source === undefined || node.source !== first.node.source || node.type !== null || result.branches.size > 0) return null;
    if (this.#context.hasErrors() || this.#program.emittedTypes.has(source) || this.#events.has(node.name.text)) return null;
    const filling = fillingOf({ node, result }, repetition);
    if (filling === undefined) return null;
    const model: Model = {
      node,
      result,
      parts,
      source,
      ...filling,
      operators: { written: node.operators, plans: result.plan.operators, writtenFor: writtenFor(repetition) },
      alike: { other: result.plan, constantsOfOther: filling.constants },
      emits: result.plan.operators.some(({ kind }) => kind === 'emit'),
    };
    const ofFirst = this.#context.repetitions.of(first.node);
    const made = ofFirst && canBeFilled(first.node, model) ? new FilledResult(first.node.name.text, model, ofFirst.value) : undefined;
    return made && fingerprint(made.plan) === fingerprint(first.result.plan) ? model : null;
  }

  /** Undefined where its name makes it another stream, or too little is left: planned in full, it says where. */
  #likeModel(node: StreamDeclaration, model: Model, { value }: Repetition): StreamResult | undefined {
    const isOther = node.name.text === model.source || this.#events.has(node.name.text);
    if (isOther || !this.#context.spendOnStream(model.parts, model.result.shape.fields.length)) return undefined;
    return new FilledResult(node.name.text, model, value);
  }
}

/** The constants of a stream, and what makes them in others. Undefined where it cannot be made of itself, or a literal is none of the loop's. */
function fillingOf({ node, result: { plan } }: Planned, { value, explained }: Repetition): Pick<Model, 'constants' | 'values'> | undefined {
  const { statement, literals: filledIn } = explained(value);
  const constants: ConstantExpression[] = [];
  const literals: (Literal | null)[] = [];
  const replaced: Filling['replaced'] = (other, _, literal) => {
    constants.push(other);
    literals.push(literal);
    return other;
  };
  const model = { written: node.operators, plans: plan.operators };
  if (filledOperators((statement as StreamDeclaration).operators, model, { name: plan.name, replaced }) === undefined) return undefined;
  const values = literals.map((literal) => (literal === null ? null : filledIn.get(literal)));
  return values.includes(undefined) ? undefined : { constants, values: values as Model['values'] };
}

function writtenFor({ explained }: Repetition): ModelOperators['writtenFor'] {
  return (value) => (explained(value).statement as StreamDeclaration).operators;
}

function canBeFilled({ name, operators }: StreamDeclaration, model: Model): boolean {
  return filledOperators(operators, model.operators, { name: name.text, replaced: (other) => other }) !== undefined;
}

/** The name of the events that a stream reads, where it reads nothing else and has no other name for them. */
function sourceOf({ source, name }: StreamDeclaration, plan: StreamPlan): string | undefined {
  if (source.kind !== 'NamedSource' || source.path.length !== 1 || source.alias !== null || plan.source.kind !== 'events') return undefined;
  const [input, second] = plan.source.inputs;
  const [path] = source.path;
  if (input?.from.kind !== 'event' || second !== undefined || input.operators.length > 0) return undefined;
  return path === undefined || path.text === name.text ? undefined : path.text;
}

/** The stream, made from the model, for a value of the loop's variable. What only its followers ask for is made when they do. */
class FilledResult implements StreamResult {
  readonly plan: StreamPlan;
  readonly #model: Model;

  constructor(name: string, model: Model, value: number) {
    this.plan = new FilledPlan(name, model, value);
    this.#model = model;
  }

  get shape(): RowShape {
    return { ...this.#model.result.shape, description: `stream \`${this.plan.name}\`` };
  }

  get carries(): readonly string[] {
    return this.#model.emits ? [this.plan.name] : this.#model.result.carries;
  }

  get branches(): StreamResult['branches'] {
    return this.#model.result.branches;
  }

  get late(): RowShape {
    return this.#model.result.late;
  }
}

function constantsFor({ constants, values }: Model, value: number): readonly ConstantExpression[] {
  return constants.map((other, at) => {
    const own = values[at] ?? null;
    return own === null ? other : constant(own(value) as Value, other.type);
  });
}

/**
 * The plan of a stream that is another one but for its name, and its operators, which are made when they are first read. All have one getter: where
 * each has its own, as in an object literal, V8 keeps each as a dictionary, which is slow to make and to read.
 */
class FilledPlan extends AlikePlan implements StreamPlan {
  static readonly #late: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(this: FilledPlan) {
      this.#operators ??= filledWith(this.constants, this.name, this.#model, this.#value);
      return this.#operators;
    },
  };
  declare readonly name: string;
  declare readonly source: StreamPlan['source'];
  declare readonly operators: StreamPlan['operators'];
  declare readonly partition: StreamPlan['partition'];
  declare readonly time: StreamPlan['time'];
  declare readonly onError: StreamPlan['onError'];
  declare readonly resultType: StreamPlan['resultType'];
  declare readonly declaredType?: RecordType;
  declare readonly origin: StreamPlan['origin'];
  readonly #model: ModelOperators;
  readonly #value: number;
  #operators: StreamPlan['operators'] | undefined;

  constructor(name: string, model: Model, value: number) {
    super(model.alike, constantsFor(model, value));
    const { source, partition, time, onError, declaredType, origin } = model.result.plan;
    this.#model = model.operators;
    this.#value = value;
    this.name = name;
    this.source = source;
    Object.defineProperty(this, 'operators', FilledPlan.#late);
    this.partition = partition;
    this.time = time;
    this.onError = onError;
    this.resultType = typeOfShape(model.result.shape, name);
    if (declaredType !== undefined) this.declaredType = declaredType;
    this.origin = origin;
  }
}

function filledWith(constants: readonly ConstantExpression[], name: string, model: ModelOperators, value: number): readonly OperatorPlan[] {
  let at = 0;
  const replaced = (): ConstantExpression => constants[at++] as ConstantExpression;
  const operators = filledOperators(model.writtenFor(value), model, { name, replaced });
  invariant(operators !== undefined, 'what a loop fills in changes texts and numbers alone');
  return operators;
}

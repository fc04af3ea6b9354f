import { keyOf } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { Accumulator, AggregateDescriptor, SlidingAccumulator } from '../../../../shared/language/functions/descriptor.ts';
import type { AggregateCall, AggregatePlan, FieldExpression, OperatorPlan, PartitionPlan } from '../../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { inputsOf } from '../../streams/plan-inputs.ts';
import { originsOf } from '../../streams/routes.ts';
import { descriptorOf } from '../../windows/aggregate-call.ts';
import { firstCause, lastCause } from '../../windows/window-result.ts';
import type { Columns } from '../columns.ts';
import type { FusionContext } from '../fusion-context.ts';
import { guarded } from '../guarded.ts';
import { typedOf } from '../print-typed.ts';
import { boxed, lazily, named, Refusal, type Representation, representationOf, type Typed } from '../typed.ts';
import { AggregateColumns } from './aggregate-columns.ts';
import { inputAt, inputReader } from './aggregate-inputs.ts';
import { valuesOfKey } from './key-text.ts';
import type { SlotFields, SlotLayout } from './slot-fields.ts';

const CURRENT = { kind: 'current' } as const;

/** The plan of an operator that aggregates. */
export type AggregatingPlan = OperatorPlan & { readonly aggregate: AggregatePlan | null };

/** One partition key: a field of the row. */
export interface KeyPart {
  readonly name: string;
  /** The field that it is. */
  readonly field: string;
  readonly as: Representation;
  readonly parameter: string;
}

/** Something of a row, besides its fields, that is handed in where it is not plain. */
interface RowPart {
  readonly parameter: string;
  readonly argument: (columns: Columns) => string;
  readonly read: (row: Row) => unknown;
}

/** What an operator that aggregates keeps, and what it wants to know of a row. */
export interface IntakeNeeds {
  readonly fields: (intake: Pick<Intake, 'isCounting' | 'expireMs'>) => SlotFields;
  /** The row itself goes on: with its causes and attributes. Else what it was first and last caused by is enough. */
  readonly handsOn: boolean;
  /** Constants of the module for the accumulators of an aggregate call. */
  readonly objectsOf: (position: number) => string;
  /** Rows leave again, in the order in which they came. */
  readonly slides?: boolean;
}

/**
 * What the generated function that takes rows into a window or into an aggregate is given, wherever they come from: time,
 * arrival number, type and causes where they are not plain, the keys, and the inputs of the aggregate calls.
 */
export class Intake implements SlotLayout {
  readonly time: string;
  readonly order: string;
  /** The name of a parameter, or a constant where all rows have one type. */
  readonly type: string;
  /** Name of the type that all rows have; null where there are several. */
  readonly typeName: string | null;
  readonly firstCause: string;
  readonly lastCause: string;
  readonly causes: string;
  readonly attributes: string;
  /** As the columns of its rows have them. */
  readonly isOwnCause: boolean;
  readonly isBare: boolean;
  readonly keys: readonly KeyPart[];
  /** The parameter for the place of the key, where that is a text which a reader may keep; null = there is none. */
  readonly place: string | null;
  readonly columns: AggregateColumns;
  readonly fields: SlotFields;
  /** Rows are counted as they come: the arrival numbers that they have may repeat themselves or go back. */
  readonly isCounting: boolean;
  /** Doubles of a slot. */
  readonly width: number;
  /** A key without events for longer than this loses its state; null = never. */
  readonly expireMs: number | null;
  readonly #parts: RowPart[] = [];
  readonly #plan: AggregatingPlan;

  static of(plan: AggregatingPlan, needs: IntakeNeeds, context: FusionContext): Intake | Refusal {
    const { aggregate } = plan;
    if (aggregate === null) return new Refusal('rows are kept until the window closes');
    const intake = whyNoKeys(plan, context) ?? whyNoInputs(aggregate, needs, context) ?? new Intake(plan, aggregate, needs, context);
    const countsNull = intake instanceof Intake && intake.columns.refuses && context.stream.onError === 'null';
    return countsNull ? new Refusal('a value that an aggregate refuses counts as null') : intake;
  }

  private constructor(
    plan: AggregatingPlan,
    aggregate: AggregatePlan,
    { fields, handsOn, objectsOf, slides = false }: IntakeNeeds,
    context: FusionContext,
  ) {
    const { module, columns, stream } = context;
    const { keys, expireMs } = plan.partition ?? stream.partition;
    const origins = [...originsOf(inputsOf(stream.source)).keys()];
    const areEvents = stream.source.kind === 'events' && origins.every((origin) => origin.startsWith('event:'));
    this.#plan = plan;
    const isOwnCause = areEvents && columns.isOwnCause === true;
    this.isOwnCause = isOwnCause;
    this.isCounting = !isOwnCause || inputsOf(stream.source).length > 1;
    this.expireMs = expireMs;
    this.fields = fields(this);
    this.time = module.names.mint('t');
    this.order = module.names.mint('o');
    this.typeName = areEvents && origins.length === 1 ? columns.typeName : null;
    // Asked for in any case: a function that is given the row has to know it.
    this.type = this.typeName !== null ? columns.type : this.#member(module, 'type');
    this.isBare = areEvents && columns.isBare === true;
    const causes = (): string => (handsOn ? this.#member(module, 'causes') : 'null');
    this.causes = isOwnCause ? `[${this.order}]` : causes();
    this.attributes = this.isBare || !handsOn ? 'null' : this.#member(module, 'attributes');
    const isCaused = !isOwnCause && !handsOn;
    this.firstCause = isCaused ? this.#part(module, (from) => `firstCauseOf(${from.causes},${from.order})`, firstCause) : this.order;
    this.lastCause = isCaused ? this.#part(module, (from) => `lastCauseOf(${from.causes},${from.order})`, lastCause) : this.order;
    this.keys = keyParts(keys, context);
    this.place = this.#isPlaced(context) ? module.names.mint('a') : null;
    const namesOf = (call: AggregateCall, position: number): { objects: string; create: string } => ({
      objects: objectsOf(position),
      create: module.constant(slides ? slidingCreatorOf(call) : creatorOf(call)),
    });
    this.columns = new AggregateColumns(aggregate, this.fields.hotWidth, { module, readable: columns }, namesOf, slides);
    this.width = this.columns.width;
  }

  #part({ names }: FusionContext['module'], argument: RowPart['argument'], read: RowPart['read']): string {
    const parameter = names.mint('a');
    this.#parts.push({ parameter, argument, read });
    return parameter;
  }

  #member(module: FusionContext['module'], name: 'type' | 'causes' | 'attributes'): string {
    return this.#part(
      module,
      (columns) => columns[name],
      (row) => row[name],
    );
  }

  get parameters(): readonly string[] {
    const given = [...this.#parts, ...this.keys, ...this.columns.inputs.all];
    return [this.time, this.order, ...given.map(({ parameter }) => parameter), ...(this.place === null ? [] : [this.place])];
  }

  /** The key is one text. */
  get isTextKey(): boolean {
    return this.keys.length === 1 && this.keys[0]?.as === 'string';
  }

  /** Slots of keys that expire are given back one by one. */
  #isPlaced({ columns }: FusionContext): boolean {
    return this.isTextKey && this.expireMs === null && columns.field(CURRENT, (this.keys[0] as KeyPart).field)?.place !== undefined;
  }

  /** Prints what an operator that leads to the window gives for the parameters. What may fail is evaluated there, before. */
  arguments(context: FusionContext): (() => readonly string[]) | Refusal {
    const { columns, body, module } = context;
    if (this.typeName !== null && columns.typeName !== this.typeName) return new Refusal('rows of another type come to the window');
    const reading = { module, body, readable: columns };
    const values: Typed[] = [];
    for (const value of [
      ...this.keys.map((key, i) => keyValue(key, context, i, this.#plan)),
      ...this.columns.inputs.all.map((input) => inputAt(input, reading)),
    ]) {
      if (value instanceof Refusal) return value;
      values.push(value);
    }
    const names = values.some(({ canFail }) => canFail) ? guarded(values, this.#plan, context) : null;
    if (names instanceof Refusal) return names;
    const placed = this.place === null ? [] : [values[0]?.place?.() ?? 'undefined'];
    const given = [columns.time, columns.order, ...this.#parts.map(({ argument }) => argument(columns))];
    return () => [...given, ...(names ?? values.map(({ text }) => text)), ...placed];
  }

  /** The same of a row that came whole, for the parameters between its arrival number and its keys. */
  partsOf(row: Row): readonly unknown[] {
    return this.#parts.map(({ read }) => read(row));
  }

  /** What evaluates the inputs of the aggregate calls for a row that came whole. */
  reader(environment: OperatorEnvironment): (row: Row) => Value[] {
    return inputReader(this.columns.inputs.all, environment);
  }

  textOfKey(parts: readonly Value[]): string {
    return parts.length === 0 ? '' : keyOf([...parts]);
  }

  partsOfKey(text: string): Value[] {
    return valuesOfKey(text, this.keys.length);
  }
}

function whyNoKeys(plan: AggregatingPlan, { columns, stream }: FusionContext): Refusal | null {
  const { keys } = plan.partition ?? stream.partition;
  const plain = keys.flatMap(({ value }) => (value.kind === 'field' && value.of.kind === 'current' ? value : []));
  if (plain.length < keys.length) return new Refusal('the key is computed');
  const isKnown = plain.every(({ of, name, type }) => columns.field(of, name, type) !== undefined);
  return isKnown ? null : new Refusal('the key is not known here');
}

/** Values leave windows that overlap: what cannot take them out again would add up all that is left. */
function whyNoInputs({ calls }: AggregatePlan, { slides = false }: IntakeNeeds, { module, body, columns }: FusionContext): Refusal | null {
  for (const call of calls) {
    if (slides && descriptorOf(call).createSliding === undefined) return new Refusal('an aggregate cannot take events out again');
    for (const read of [...call.arguments, ...(call.filter === null ? [] : [call.filter])]) {
      const typed = typedOf(read, { module, body, readable: columns });
      if (typed instanceof Refusal) return typed;
    }
  }
  return null;
}

function keyParts(keys: PartitionPlan['keys'], { columns, module }: FusionContext): readonly KeyPart[] {
  return keys.map(({ name, value }) => {
    const { of, name: field, type } = value as FieldExpression;
    const as = representationOf(type);
    const isPlain = columns.field(of, field, type)?.as === as && isScalar(as);
    return { name, field, as: isPlain ? as : 'value', parameter: module.names.mint('v') };
  });
}

/** What tables find by itself; anything else is found by the one object that stands for it. */
function isScalar(as: Representation): boolean {
  return as === 'number' || as === 'string' || as === 'boolean';
}

function keyValue({ as }: KeyPart, context: FusionContext, position: number, plan: OperatorPlan): Typed | Refusal {
  const { columns, module, body, stream, program } = context;
  const key = (plan.partition ?? stream.partition).keys[position]?.value as FieldExpression;
  const value = typedOf(key, { module, body, readable: columns });
  if (value instanceof Refusal) return value;
  if (as !== 'value') return value.as === as ? value : new Refusal('the key has another type here');
  const kernel = program.kernelName(plan);
  return lazily({ as, isNullable: true, isSimple: false, canFail: true }, () => `${kernel}.keyPart(${boxed(value)})`);
}

function creatorOf(call: AggregateCall): () => Accumulator {
  const descriptor = descriptorOf(call);
  return () => descriptor.create(call.constants);
}

function slidingCreatorOf(call: AggregateCall): () => SlidingAccumulator {
  const create = descriptorOf(call).createSliding as NonNullable<AggregateDescriptor['createSliding']>;
  return () => create(call.constants);
}

/** The keys of a window as its results see them. */
export function keyColumns(keys: readonly KeyPart[], texts: readonly string[]): (readonly [string, Typed])[] {
  return keys.map(({ name, as }, i) => [name, named(texts[i] as string, as, true)] as const);
}

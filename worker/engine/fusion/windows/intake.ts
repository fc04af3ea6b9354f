import { keyOf } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { Accumulator, SlidingAccumulator } from '../../../../shared/language/functions/descriptor.ts';
import type { AggregateCall, AggregatePlan, FieldExpression, OperatorPlan, PartitionPlan } from '../../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { inputsOf } from '../../streams/plan-inputs.ts';
import { originsOf } from '../../streams/routes.ts';
import { descriptorOf } from '../../windows/aggregate-call.ts';
import { firstCause, lastCause } from '../../windows/window-result.ts';
import type { Columns } from '../columns.ts';
import { guarded } from '../guarded.ts';
import type { Body } from '../module-text.ts';
import type { Place } from '../place.ts';
import { printTyped } from '../print-typed.ts';
import { boxed, CannotFuse, named, type Representation, representationOf, type Typed } from '../typed.ts';
import { AggregateColumns } from './aggregate-columns.ts';
import { inputReader, printInput } from './aggregate-inputs.ts';
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
  readonly argument: (columns: Columns, body: Body) => string;
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

  /** @throws CannotFuse when the keys are no plain fields. */
  constructor(plan: AggregatingPlan, { fields, handsOn, objectsOf, slides = false }: IntakeNeeds, place: Place) {
    if (plan.aggregate === null) throw new CannotFuse('rows are kept until the window closes');
    const { module, columns, stream } = place;
    const { keys, expireMs } = plan.partition ?? stream.partition;
    const origins = [...originsOf(inputsOf(stream.source)).keys()];
    const areEvents = stream.source.kind === 'events' && origins.every((origin) => origin.startsWith('event:'));
    this.#plan = plan;
    const isOwnCause = areEvents && columns.causes === `[${columns.order}]`;
    this.isCounting = !isOwnCause || inputsOf(stream.source).length > 1;
    this.expireMs = expireMs;
    this.fields = fields(this);
    this.time = module.names.mint('t');
    this.order = module.names.mint('o');
    const type = module.valueOf(columns.type);
    const isOneType = areEvents && origins.length === 1 && typeof type === 'string';
    this.typeName = isOneType ? type : null;
    this.type = isOneType
      ? columns.type
      : this.#part(
          module,
          (from) => from.type,
          ({ type }) => type,
        );
    const isBare = areEvents && columns.attributes === 'null';
    this.causes = isOwnCause
      ? `[${this.order}]`
      : handsOn
        ? this.#part(
            module,
            (from) => from.causes,
            ({ causes }) => causes,
          )
        : 'null';
    this.attributes =
      isBare || !handsOn
        ? 'null'
        : this.#part(
            module,
            (from) => from.attributes,
            ({ attributes }) => attributes,
          );
    const isCaused = !isOwnCause && !handsOn;
    this.firstCause = isCaused ? this.#part(module, (from) => `firstCauseOf(${from.causes},${from.order})`, firstCause) : this.order;
    this.lastCause = isCaused ? this.#part(module, (from) => `lastCauseOf(${from.causes},${from.order})`, lastCause) : this.order;
    this.keys = keyParts(keys, place);
    this.place = this.#isPlaced(place) ? module.names.mint('a') : null;
    const namesOf = (call: AggregateCall, position: number): { objects: string; create: string } => ({
      objects: objectsOf(position),
      create: module.constant(slides ? slidingCreatorOf(call) : creatorOf(call)),
    });
    this.columns = new AggregateColumns(plan.aggregate, this.fields.hotWidth, { module, readable: columns }, namesOf, slides);
    this.width = this.columns.width;
  }

  #part({ names }: Place['module'], argument: RowPart['argument'], read: RowPart['read']): string {
    const parameter = names.mint('a');
    this.#parts.push({ parameter, argument, read });
    return parameter;
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
  #isPlaced({ columns }: Place): boolean {
    return this.isTextKey && this.expireMs === null && columns.field(CURRENT, (this.keys[0] as KeyPart).field)?.place !== undefined;
  }

  /** What a place that leads to the window gives for the parameters. What may fail is evaluated there, before. @throws CannotFuse */
  arguments(place: Place): readonly string[] {
    const { columns, body, module } = place;
    if (this.typeName !== null && columns.type !== this.type) throw new CannotFuse('rows of another type come to the window');
    const context = { module, body, readable: columns };
    const keys = this.keys.map((key, i) => keyValue(key, place, i, this.#plan));
    const inputs = this.columns.inputs.all.map((input) => printInput(input, context));
    const values = [...keys, ...inputs];
    const texts = values.some(({ canFail }) => canFail) ? guarded(values, this.#plan, place) : values.map(({ text }) => text);
    const placed = this.place === null ? [] : [keys[0]?.place?.() ?? 'undefined'];
    return [columns.time, columns.order, ...this.#parts.map(({ argument }) => argument(columns, body)), ...texts, ...placed];
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

function keyParts(keys: PartitionPlan['keys'], { columns, module }: Place): readonly KeyPart[] {
  return keys.map(({ name, value }) => {
    if (value.kind !== 'field' || value.of.kind !== 'current') throw new CannotFuse('the key is computed');
    const as = representationOf(value.type);
    const found = columns.field(value.of, value.name, value.type);
    if (found === undefined) throw new CannotFuse('the key is not known here');
    return { name, field: value.name, as: found.as === as && isScalar(as) ? as : 'value', parameter: module.names.mint('v') };
  });
}

/** What tables find by itself; anything else is found by the one object that stands for it. */
function isScalar(as: Representation): boolean {
  return as === 'number' || as === 'string' || as === 'boolean';
}

function keyValue({ as }: KeyPart, place: Place, position: number, plan: OperatorPlan): Typed {
  const { columns, module, body, stream, program } = place;
  const key = (plan.partition ?? stream.partition).keys[position]?.value as FieldExpression;
  const value = printTyped(key, { module, body, readable: columns });
  if (as === 'value') {
    return { text: `${program.kernelName(plan)}.keyPart(${boxed(value)})`, as, isNullable: true, isSimple: false, canFail: true };
  }
  if (value.as !== as) throw new CannotFuse('the key has another type here');
  return value;
}

function creatorOf(call: AggregateCall): () => Accumulator {
  const descriptor = descriptorOf(call);
  return () => descriptor.create(call.constants);
}

/** @throws CannotFuse where all that is left would have to be added up again. */
function slidingCreatorOf(call: AggregateCall): () => SlidingAccumulator {
  const create = descriptorOf(call).createSliding;
  if (create === undefined) throw new CannotFuse('an aggregate cannot take events out again');
  return () => create(call.constants);
}

/** The keys of a window as its results see them. */
export function keyColumns(keys: readonly KeyPart[], texts: readonly string[]): (readonly [string, Typed])[] {
  return keys.map(({ name, as }, i) => [name, named(texts[i] as string, as, true)] as const);
}

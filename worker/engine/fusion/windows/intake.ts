import { invariant } from '../../../../shared/errors/error.ts';
import type { Accumulator } from '../../../../shared/language/functions/descriptor.ts';
import { aggregates } from '../../../../shared/language/functions/index.ts';
import type { AggregateCall, AggregatePlan, FieldExpression, OperatorPlan, PartitionPlan } from '../../../../shared/language/plan/plan.ts';
import { inputsOf } from '../../streams/plan-inputs.ts';
import { originsOf } from '../../streams/routes.ts';
import type { Columns } from '../columns.ts';
import { guarded } from '../guarded.ts';
import type { Place } from '../place.ts';
import { printTyped } from '../print-typed.ts';
import { CannotFuse, named, type Representation, representationOf, type Typed } from '../typed.ts';
import { AggregateColumns } from './aggregate-columns.ts';
import { printInput } from './aggregate-inputs.ts';

/** One partition key: a field of the row. */
export interface KeyPart {
  readonly name: string;
  /** The field that it is. */
  readonly field: string;
  readonly as: Representation;
  readonly parameter: string;
}

/** Doubles of a slot that every window has, whatever it aggregates. The first of them is the number of its events. */
export const HEADER = { count: 0, lastOrder: 1, time: 2, lastCause: 3, minTime: 4, maxTime: 5, firstOrder: 6, firstCause: 7 } as const;
export const HEADER_WIDTH = 8;

/**
 * What the generated function that takes rows into a window or into an aggregate is given, wherever they come from: time,
 * arrival number, type and causes where they are not plain, the keys, and the inputs of the aggregate calls.
 */
export class Intake {
  readonly time: string;
  readonly order: string;
  /** The name of a parameter, or a constant where all rows have one type. */
  readonly type: string;
  readonly isOneType: boolean;
  /** Name of the type that all rows have; '' where there are several. */
  readonly typeName: string;
  readonly firstCause: string;
  readonly lastCause: string;
  readonly keys: readonly KeyPart[];
  readonly columns: AggregateColumns;
  readonly #causesArePlain: boolean;
  readonly #plan: OperatorPlan;

  /** @throws CannotFuse when the keys are no plain fields. */
  constructor(plan: OperatorPlan & { readonly aggregate: AggregatePlan | null }, objectsOf: (position: number) => string, place: Place) {
    if (plan.aggregate === null) throw new CannotFuse();
    const { module, columns, stream } = place;
    const origins = [...originsOf(inputsOf(stream.source)).keys()];
    const areEvents = stream.source.kind === 'events' && origins.every((origin) => origin.startsWith('event:'));
    this.#plan = plan;
    this.time = module.names.mint('t');
    this.order = module.names.mint('o');
    this.isOneType = areEvents && origins.length === 1 && columns.type.startsWith('k');
    this.type = this.isOneType ? columns.type : module.names.mint('s');
    this.typeName = this.isOneType ? String(module.names.constants[Number(columns.type.slice(1))]) : '';
    this.#causesArePlain = areEvents && columns.causes === `[${columns.order}]`;
    this.firstCause = this.#causesArePlain ? this.order : module.names.mint('a');
    this.lastCause = this.#causesArePlain ? this.order : module.names.mint('b');
    this.keys = keyParts(plan.partition ?? stream.partition, place);
    const create = (call: AggregateCall): string => module.constant(creatorOf(call));
    const namesOf: ConstructorParameters<typeof AggregateColumns>[3] = (call, position) => ({
      objects: objectsOf(position),
      create: create(call),
    });
    this.columns = new AggregateColumns(plan.aggregate, HEADER_WIDTH, { module, readable: columns }, namesOf);
  }

  get parameters(): readonly string[] {
    const { time, order, keys, columns } = this;
    return [
      time,
      order,
      ...this.#ofRow(),
      ...keys.map(({ parameter }) => parameter),
      ...columns.inputs.all.map(({ parameter }) => parameter),
    ];
  }

  #ofRow(): readonly string[] {
    return [...(this.isOneType ? [] : [this.type]), ...(this.#causesArePlain ? [] : [this.firstCause, this.lastCause])];
  }

  /** Whether a row is handed in with its type and its causes. */
  get isTyped(): boolean {
    return !this.isOneType;
  }

  get hasCauses(): boolean {
    return !this.#causesArePlain;
  }

  /** What a place that leads to the window gives for the parameters. What may fail is evaluated there, before. @throws CannotFuse */
  arguments(place: Place): readonly string[] {
    const { columns, body, module } = place;
    const context = { module, body, readable: columns };
    const keys = this.keys.map((key, i) => keyValue(key, place, i, this.#plan));
    const inputs = this.columns.inputs.all.map((input) => printInput(input, context));
    const values = [...keys, ...inputs];
    const texts = values.some(({ canFail }) => canFail) ? guarded(values, this.#plan, place) : values.map(({ text }) => text);
    return [columns.time, columns.order, ...this.#rowArguments(columns, place), ...texts];
  }

  #rowArguments(columns: Columns, { body }: Place): readonly string[] {
    const type = this.isOneType ? [] : [columns.type];
    if (this.isOneType && columns.type !== this.type) throw new CannotFuse();
    if (this.#causesArePlain) return type;
    const causes = body.bind(columns.causes);
    return [...type, `firstCauseOf(${causes},${columns.order})`, `lastCauseOf(${causes},${columns.order})`];
  }
}

function keyParts({ keys, expireMs }: PartitionPlan, { columns, module }: Place): readonly KeyPart[] {
  if (expireMs !== null) throw new CannotFuse();
  return keys.map(({ name, value }) => {
    if (value.kind !== 'field' || value.of.kind !== 'current') throw new CannotFuse();
    const as = representationOf(value.type);
    const found = columns.field(value.of, value.name);
    if (found === undefined || found.as !== as || !isKey(as)) throw new CannotFuse();
    return { name, field: value.name, as, parameter: module.names.mint('v') };
  });
}

function isKey(as: Representation): boolean {
  return as === 'number' || as === 'string' || as === 'boolean';
}

function keyValue({ as }: KeyPart, { columns, module, body, stream }: Place, position: number, plan: OperatorPlan): Typed {
  const key = (plan.partition ?? stream.partition).keys[position]?.value as FieldExpression;
  const value = printTyped(key, { module, body, readable: columns });
  if (value.as !== as) throw new CannotFuse();
  return value;
}

function creatorOf(call: AggregateCall): () => Accumulator {
  const descriptor = aggregates.get(call.function);
  invariant(descriptor !== undefined, `no aggregate is called ${call.function}`);
  return () => descriptor.create(call.constants);
}

/** The keys of a window as its results see them. */
export function keyColumns(keys: readonly KeyPart[], texts: readonly string[]): (readonly [string, Typed])[] {
  return keys.map(({ name, as }, i) => [name, named(texts[i] as string, as, true)] as const);
}

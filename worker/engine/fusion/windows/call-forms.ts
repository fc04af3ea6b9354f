import type { Value } from '../../../../shared/events/value.ts';
import type { Accumulator } from '../../../../shared/language/functions/descriptor.ts';
import type { AggregateCall } from '../../../../shared/language/plan/plan.ts';
import { descriptorOf } from '../../windows/aggregate-call.ts';
import { representationOf, type Typed } from '../typed.ts';
import type { Slots } from './slots.ts';

/** Names of the slots of an operator, the number of a slot, and where its numbers begin. */
export interface SlotNames {
  readonly slots: string;
  readonly slot: string;
  readonly numbers: string;
  readonly base: string;
}

/** Names in the generated function that makes a result of a window. */
export interface ResultNames extends SlotNames {
  /** What `rate()` divides by, ms. */
  readonly lengthMs: string;
}

/** What the windows of an operator are kept in: the kernel, or a copy of it. */
export interface WindowStore {
  /** Rows that came so far. */
  readonly arrivals: number;
  /** By key part, then by slot. */
  readonly keys: readonly (readonly Value[])[];
  /** Type of the newest row of each slot, where there are several. */
  readonly types: readonly string[];
  readonly slots: Slots;
  /** For each call that has accumulators, that of each slot. */
  readonly objects: readonly Accumulator[][];
  /** Rows that are held until the watermark reaches them, saved. */
  readonly waiting?: Value;
  /** What the slots hold, saved, where rows come whole. */
  readonly contents?: ReadonlyMap<number, Value>;
  /** What is to be kept of their interim results. */
  readonly early?: ReadonlyMap<number, Value>;
}

/** How one aggregate call is kept: its result as generated code, and its state as the call's accumulator saves it. */
export interface CallForm {
  result(names: ResultNames, objects: readonly string[]): Typed;
  save(store: WindowStore, slot: number): Value;
  load(store: WindowStore, slot: number, saved: Value): void;
}

/** A call with an accumulator of its own in each slot. `isInPassing`: nothing keeps its result (`callsReadInPassing`). */
export function objectForm(position: number, call: AggregateCall, isInPassing: boolean): CallForm {
  const descriptor = descriptorOf(call);
  const as = representationOf(descriptor.result(call.arguments.map(({ type }) => type)));
  const isScalar = as === 'number' || as === 'string' || as === 'boolean';
  return {
    result: ({ slot, lengthMs }, objects) => ({
      text: `${isInPassing ? 'passingResultOf' : 'resultOf'}(${objects[position]}[${slot}],${lengthMs})`,
      as: isScalar ? as : 'value',
      isNullable: true,
      isSimple: false,
      canFail: false,
    }),
    save: ({ objects }, slot) => objects[position]?.[slot]?.save() ?? null,
    load: ({ objects }, slot, saved) => {
      (objects[position] as Accumulator[])[slot] = descriptor.load(call.constants, saved);
    },
  };
}

/** What generated code calls. */
export function resultOf(accumulator: Accumulator, lengthMs: number): Value {
  return accumulator.result({ lengthMs });
}

/** The same for a reader that keeps none of it. */
export function passingResultOf(accumulator: Accumulator, lengthMs: number): Value {
  return accumulator.resultInPassing?.() ?? accumulator.result({ lengthMs });
}

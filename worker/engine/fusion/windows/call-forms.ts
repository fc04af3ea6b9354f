import { isArray, type Value } from '../../../../shared/events/value.ts';
import type { Accumulator } from '../../../../shared/language/functions/descriptor.ts';
import type { AggregateCall } from '../../../../shared/language/plan/plan.ts';
import { descriptorOf } from '../../windows/aggregate-call.ts';
import { representationOf, type Typed } from '../typed.ts';
import type { Slots } from './slots.ts';

/** Names in the generated function that makes a result of a window. */
export interface ResultNames {
  readonly slots: string;
  readonly slot: string;
  readonly numbers: string;
  readonly base: string;
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

const number = (text: string, isNullable = true): Typed => ({ text, as: 'number', isNullable, isSimple: false, canFail: false });

export function countForm(at: number): CallForm {
  return {
    result: ({ numbers, base }) => number(`${numbers}[${base}+${at}]`, false),
    save: ({ slots }, slot) => cell(slots, slot, at),
    load: ({ slots }, slot, saved) => put(slots, slot, at, Number(saved)),
  };
}

export function rateForm(at: number): CallForm {
  const count = countForm(at);
  return { ...count, result: ({ numbers, base, lengthMs }) => number(`(${lengthMs}>0?${numbers}[${base}+${at}]*1000/${lengthMs}:null)`) };
}

export function sumForm(at: number): CallForm {
  return {
    result: ({ slots, base }) => number(`${slots}.total(${base}+${at},1)`),
    save: ({ slots }, slot) => ['number', slots.exact(slot * slots.width + at).save()],
    load: ({ slots }, slot, saved) => loadExact(slots, slot, at, parts(parts(saved)[1])),
  };
}

/** The mean, from the exact sum. */
export function meanForm(count: number, sum: number): CallForm {
  return {
    result: ({ slots, numbers, base }) => {
      const n = `${numbers}[${base}+${count}]`;
      return number(`(${n}===0?null:${slots}.total(${base}+${sum},${n}))`);
    },
    save: ({ slots }, slot) => ['number', [...slots.exact(slot * slots.width + sum).save(), cell(slots, slot, count)]],
    load: ({ slots }, slot, saved) => {
      const state = parts(parts(saved)[1]);
      loadExact(slots, slot, sum, state);
      put(slots, slot, count, Number(state[2]));
    },
  };
}

export function spreadForm(
  gives: 'variance' | 'deviation',
  { count, sum, squares }: { count: number; sum: number; squares: number },
): CallForm {
  return {
    result: ({ slots, numbers, base }) => number(`${slots}.${gives}(${numbers}[${base}+${count}],${base}+${sum},${base}+${squares})`),
    save: ({ slots }, slot) => {
      const base = slot * slots.width;
      const isOverflow = cell(slots, slot, squares) === Infinity;
      const [sums, ofSquares] = isOverflow ? [[], []] : [slots.exact(base + sum).parts, slots.exact(base + squares).parts];
      return ['number', [cell(slots, slot, count), isOverflow, sums, ofSquares]];
    },
    load: ({ slots }, slot, saved) => {
      const [n = 0, isOverflow, sums, ofSquares] = parts(parts(saved)[1]);
      put(slots, slot, count, Number(n));
      loadExact(slots, slot, squares, [ofSquares ?? []]);
      if (isOverflow === true) put(slots, slot, squares, Infinity);
      else loadExact(slots, slot, sum, [sums ?? []]);
    },
  };
}

/** The same where values leave again: those whose squares are too large are counted, and while there is one there is no result. */
export function slidingSpreadForm(
  gives: 'variance' | 'deviation',
  { overflows, ...moments }: { count: number; sum: number; squares: number; overflows: number },
): CallForm {
  const form = spreadForm(gives, moments);
  return {
    ...form,
    result: (names, objects) => number(`(${names.numbers}[${names.base}+${overflows}]>0?null:${form.result(names, objects).text})`),
  };
}

/** The largest or the smallest number; NaN while there is none. */
export function extremeForm(at: number): CallForm {
  return {
    result: ({ numbers, base }) => unlessNaN(`${numbers}[${base}+${at}]`),
    save: ({ slots }, slot) => nullIfNaN(cell(slots, slot, at)),
    load: ({ slots }, slot, saved) => put(slots, slot, at, naNIfNull(saved)),
  };
}

export function emaForm(at: number): CallForm {
  return {
    result: ({ numbers, base }) => number(`finiteOf(${numbers}[${base}+${at}])`),
    save: ({ slots }, slot) => ['number', nullIfNaN(cell(slots, slot, at))],
    load: ({ slots }, slot, saved) => put(slots, slot, at, naNIfNull(parts(saved)[1])),
  };
}

/** The value of the first or of the last event: NaN for null; its time; its arrival number, 0 while there is none. */
export function endForm(at: number): CallForm {
  return {
    result: ({ numbers, base }) => {
      const value = `${numbers}[${base}+${at}]`;
      return number(`(${numbers}[${base}+${at + 2}]===0||!(${value}===${value})?null:${value})`);
    },
    save: ({ slots }, slot) => {
      const order = cell(slots, slot, at + 2);
      return order === 0 ? null : [nullIfNaN(cell(slots, slot, at)), cell(slots, slot, at + 1), order];
    },
    load: ({ slots }, slot, saved) => {
      const [value = null, time = 0, order = 0] = parts(saved);
      put(slots, slot, at, naNIfNull(value));
      put(slots, slot, at + 1, Number(time));
      put(slots, slot, at + 2, Number(order));
    },
  };
}

/** A call with an accumulator of its own in each slot. */
/** `isInPassing`: nothing keeps its result (`callsReadInPassing`). */
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

function unlessNaN(text: string): Typed {
  return number(`(${text}===${text}?${text}:null)`);
}

function cell({ numbers, width }: Slots, slot: number, at: number): number {
  return numbers[slot * width + at] as number;
}

function put({ numbers, width }: Slots, slot: number, at: number, value: number): void {
  numbers[slot * width + at] = value;
}

function nullIfNaN(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

function naNIfNull(value: Value | undefined): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function parts(saved: Value | undefined): readonly Value[] {
  return saved !== undefined && isArray(saved) ? saved : [];
}

function loadExact(slots: Slots, slot: number, at: number, [sum, huge]: readonly Value[]): void {
  slots.load(slot * slots.width + at, parts(sum).map(Number), parts(huge).map(Number));
}

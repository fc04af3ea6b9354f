import { Duration, Timestamp, type Value } from '../../../../shared/events/value.ts';
import type { AggregateDescriptor } from '../../../../shared/language/functions/descriptor.ts';
import { NO_ROW, type Row } from '../../operators/row.ts';
import type { Representation } from '../typed.ts';
import type { StepShape } from './made-match.ts';

/** What of an event is kept. */
export interface Column {
  readonly aspect: 'field' | 'time' | 'type' | 'order' | 'causes' | 'row' | 'count' | 'history';
  /** Of a field; '' for anything else. */
  readonly name: string;
  readonly as: Representation;
}

/** A list of events: the values of the first, those of the second and so on, one behind the other; null before the first. */
export type Past = readonly unknown[] | null;

/** What is kept of every event that a closure has taken. */
export class History {
  readonly #columns: Column[] = [];
  /** The fields of the events, where all of them are kept. */
  shape: StepShape | null = null;

  get columns(): readonly Column[] {
    return this.#columns;
  }

  /** Position of a column, which is kept from now on. */
  keep(aspect: Column['aspect'], name: string, as: Representation): number {
    const at = this.at(aspect, name);
    return at >= 0 ? at : this.#columns.push({ aspect, name, as }) - 1;
  }

  /** Position of a column; -1 for one that is not kept. */
  at(aspect: Column['aspect'], name = ''): number {
    return this.#columns.findIndex((one) => one.aspect === aspect && one.name === name);
  }

  length(past: Past): number {
    return past === null ? 0 : past.length / this.#columns.length;
  }

  /** `otherwise`: what stands for all that is not kept of each. */
  rows(past: Past, otherwise: (position: number) => Row = () => NO_ROW): readonly Row[] {
    return Array.from({ length: this.length(past) }, (_, position) => this.#row(past as readonly unknown[], position, otherwise(position)));
  }

  #row(past: readonly unknown[], position: number, otherwise: Row): Row {
    const start = position * this.#columns.length;
    const found = (aspect: Column['aspect']): unknown => {
      const at = this.#columns.findIndex((column) => column.aspect === aspect);
      return at < 0 ? undefined : past[start + at];
    };
    const row = found('row') as Row | null | undefined;
    if (row) return row;
    const order = (found('order') as number | undefined) ?? otherwise.order;
    const type = (found('type') as string | undefined) ?? otherwise.type;
    const causes = (found('causes') as readonly number[] | undefined) ?? [order];
    const time = (found('time') as number | undefined) ?? otherwise.time;
    return { type, time, order, fields: this.#fields(past, start, type), bound: null, attributes: null, causes };
  }

  #fields(past: readonly unknown[], start: number, type: string): ReadonlyMap<string, Value> {
    const fields = new Map<string, Value>();
    this.#columns.forEach(({ aspect, name, as }, at) => {
      if (aspect === 'field') fields.set(name, asValue(past[start + at], as));
    });
    if (this.shape === null) return fields;
    return this.shape.fields(
      type,
      this.shape.names.map((name) => fields.get(name) ?? null),
    );
  }
}

/** A value of generated code as the rest of the engine holds it. */
export function asValue(value: unknown, as: Representation): Value {
  if (value === null || value === undefined) return null;
  if (as === 'timestamp') return new Timestamp(value as number);
  return as === 'duration' ? new Duration(value as number) : (value as Value);
}

/** A column of one event: of the first (0), the second, .. or the last (-1), the one before, ..; null = there is none. */
export function pastItem(past: Past, history: History, column: number, position: number): unknown {
  const length = history.length(past);
  const at = position < 0 ? length + position : position;
  return past === null || at < 0 || at >= length ? null : past[at * history.columns.length + column];
}

/**
 * The aggregate of a closure, of a field of its events or of none. The field, the times and the arrival numbers are kept: no rows are made
 * of them, for one event may complete thousands of runs of thousands of events each.
 */
export function pastAggregate(
  past: Past,
  history: History,
  descriptor: AggregateDescriptor,
  constants: readonly Value[],
  field: string | null,
): Value {
  const values = past ?? [];
  const width = history.columns.length;
  const [time, order] = [history.at('time'), history.at('order')];
  const argument = field === null ? -1 : history.at('field', field);
  const as = history.columns[argument]?.as ?? 'value';
  const accumulator = descriptor.create(constants);
  for (let start = 0; start < values.length; start += width) {
    const items = field === null ? [] : [asValue(values[start + argument], as)];
    accumulator.add(items, values[start + time] as number, values[start + order] as number);
  }
  const [first, last] = [values[time], values[values.length - width + time]] as [number | undefined, number | undefined];
  return accumulator.result({ lengthMs: (last ?? 0) - (first ?? 0) });
}

export function pastRows(past: Past, history: History): readonly Row[] {
  return history.rows(past);
}

/** What the list holds now: its run may take more events before all that follows a match has read it. */
export function pastCopy(past: Past): Past {
  return past === null ? null : past.slice();
}

/** Arrival numbers of what caused the events. */
export function pastCauses(past: Past, history: History): readonly number[] {
  return history.rows(past).flatMap(({ causes }) => causes);
}

/** A value of the language as generated code takes it: times and durations as milliseconds. */
export function asGiven(value: Value, as: Representation): unknown {
  if (as === 'timestamp') return value instanceof Timestamp ? value.ms : null;
  if (as === 'duration') return value instanceof Duration ? value.ms : null;
  return value;
}

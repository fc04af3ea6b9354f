import { EvaluationError } from '../../../shared/events/evaluation-error.ts';
import type { Fields } from '../../../shared/events/event.ts';
import { Timestamp, type Value, type ValueArray } from '../../../shared/events/value.ts';
import type { AttributeName, NamedExpression, WindowOperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../operators/row.ts';
import { loadRow, saveRow } from '../state/saved-row.ts';
import { type Accumulators, Aggregation, loadSample, type Sample, saveSample } from './aggregation.ts';

/** A row and its number of arrival at the window, by which rows of equal time are ordered. */
export interface Arrival {
  readonly row: Row;
  readonly order: number;
}

/**
 * What one open window holds. Rows are kept only where something reads them again: a window without aggregate, or one
 * with `.pattern(..)`. Samples are kept only where their order or their leaving matters. Else accumulators are enough.
 * Invariant: it has taken at least one event.
 */
export interface WindowContent {
  readonly rows: Arrival[] | null;
  readonly samples: Sample[] | null;
  readonly accumulators: Accumulators | null;
  /** Number of events held. */
  count: number;
  /** First and last in order of arrival. */
  firstOrder: number;
  firstCause: number;
  last: Row;
  lastOrder: number;
  /** Event times, which arrival need not follow. */
  minTime: number;
  maxTime: number;
}

/** What a kind of window does with its contents besides filling and closing them. */
export interface ContentUse {
  /** Takes events out again: sliding counts. */
  readonly takesOut?: boolean;
  /** Makes one content of two: sessions. */
  readonly merges?: boolean;
}

/** Makes, fills and closes the contents of one window operator. */
export class WindowContents {
  readonly #aggregation: Aggregation | null;
  readonly #items: readonly PreparedItem[];
  readonly #predicates: readonly Evaluate[];
  readonly #keepsRows: boolean;
  readonly #keepsSamples: boolean;
  /** With `out_of_order` events are read in order of event time, else as they arrived. */
  readonly #isByTime: boolean;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;

  constructor(
    plan: WindowOperatorPlan,
    next: Next,
    environment: OperatorEnvironment,
    { takesOut = false, merges = false }: ContentUse = {},
  ) {
    this.#next = next;
    this.#environment = environment;
    this.#aggregation = plan.aggregate && new Aggregation(plan.aggregate, environment);
    this.#items = (plan.aggregate?.items ?? []).map((item) => prepareItem(item, environment));
    this.#predicates = plan.predicates.map((predicate) => environment.evaluator(predicate.condition));
    this.#isByTime = environment.stream.time.outOfOrderMs > 0;
    this.#keepsRows = plan.aggregate === null || plan.predicates.length > 0;
    const isOrdered = this.#aggregation?.isOrderSensitive === true && (this.#isByTime || merges);
    this.#keepsSamples = this.#aggregation !== null && (takesOut || isOrdered);
  }

  /** Evaluates the row for the aggregates; done once, before anything changes, as it may fail. */
  sample(row: Row, order: number): Sample | null {
    return this.#aggregation?.sample(row, order) ?? null;
  }

  /** A content that holds its first event. @throws EvaluationError on a value that an aggregate cannot take. */
  begin(row: Row, order: number, sample: Sample | null): WindowContent {
    const content: WindowContent = {
      rows: this.#keepsRows ? [] : null,
      samples: this.#keepsSamples ? [] : null,
      accumulators: this.#aggregation !== null && !this.#keepsSamples ? this.#aggregation.accumulators() : null,
      count: 0,
      firstOrder: order,
      firstCause: firstCause(row),
      last: row,
      lastOrder: order,
      minTime: row.time,
      maxTime: row.time,
    };
    this.add(content, row, order, sample);
    return content;
  }

  /** @throws EvaluationError on a value that an aggregate cannot take: the event is then not held. */
  add(content: WindowContent, row: Row, order: number, sample: Sample | null): void {
    if (sample !== null) {
      if (content.samples !== null) content.samples.push(sample);
      else content.accumulators?.add(sample);
    }
    content.rows?.push({ row, order });
    content.count++;
    content.last = row;
    content.lastOrder = order;
    if (row.time < content.minTime) content.minTime = row.time;
    if (row.time > content.maxTime) content.maxTime = row.time;
  }

  /** Drops the oldest event of a content whose events are taken out again. */
  dropOldest(content: WindowContent): void {
    content.rows?.shift();
    content.samples?.shift();
    content.count--;
  }

  /** Brings the first event and the times up to date after events were dropped. */
  measure(content: WindowContent): void {
    const held = content.samples ?? (content.rows ?? []).map(({ row, order }) => ({ time: row.time, order, cause: firstCause(row) }));
    const [first] = held;
    if (first !== undefined) [content.firstOrder, content.firstCause] = [first.order, first.cause];
    [content.minTime, content.maxTime] = [Infinity, -Infinity];
    for (const { time } of held) {
      if (time < content.minTime) content.minTime = time;
      if (time > content.maxTime) content.maxTime = time;
    }
  }

  /** One content of two: an event between them has made two sessions one. Takes over what the two held. */
  merge(a: WindowContent, b: WindowContent): WindowContent {
    const [first, second] = a.firstOrder <= b.firstOrder ? [a, b] : [b, a];
    const { last, lastOrder } = a.lastOrder >= b.lastOrder ? a : b;
    if (second.accumulators !== null) first.accumulators?.merge(second.accumulators);
    return {
      rows: first.rows && [...first.rows, ...(second.rows ?? [])].sort((x, y) => x.order - y.order),
      samples: first.samples && [...first.samples, ...(second.samples ?? [])].sort((x, y) => x.order - y.order),
      accumulators: first.accumulators,
      count: a.count + b.count,
      firstOrder: first.firstOrder,
      firstCause: first.firstCause,
      last,
      lastOrder,
      minTime: Math.min(a.minTime, b.minTime),
      maxTime: Math.max(a.maxTime, b.maxTime),
    };
  }

  /** Hands on what the window gives, and says that it ended. */
  emit(content: WindowContent, frame: WindowFrame): void {
    const rows =
      content.rows && (this.#isByTime ? [...content.rows].sort((a, b) => a.row.time - b.row.time || a.order - b.order) : content.rows);
    if (!this.#passes(content, rows)) return;
    const attributes = frameAttributes(frame);
    if (this.#aggregation === null) {
      for (const { row } of rows ?? []) this.#next.process({ ...row, attributes: withAttributes(row.attributes, attributes) });
    } else {
      this.#next.process(this.#aggregated(this.#aggregation, content, frame, attributes));
    }
    this.#next.endWindow(frame);
  }

  #passes(content: WindowContent, rows: readonly Arrival[] | null): boolean {
    if (this.#predicates.length === 0) return true;
    const events = (rows ?? []).map(({ row }) => row.fields);
    return this.#predicates.every((predicate) => predicate({ ...scopeOf(content.last), locals: [events] }) === true);
  }

  #aggregated(aggregation: Aggregation, content: WindowContent, frame: WindowFrame, attributes: Map<AttributeName, Value>): Row {
    const { last } = content;
    const results = this.#accumulated(aggregation, content).results(frame.lengthMs);
    const keys = this.#environment.partitionFields(last);
    const base: Row = {
      type: last.type,
      time: frame.time,
      order: this.#environment.order(),
      fields: new Map(keys),
      bound: null,
      attributes,
      causes: causesBetween(content.firstCause, lastCause(last)),
    };
    return { ...base, fields: resultFields(this.#items, base, results, keys) };
  }

  #accumulated(aggregation: Aggregation, { accumulators, samples }: WindowContent): Accumulators {
    if (accumulators !== null) return accumulators;
    const accumulated = aggregation.accumulators();
    for (const sample of this.#isByTime ? byTime(samples ?? []) : (samples ?? [])) accumulated.add(sample);
    return accumulated;
  }

  /** What the aggregates give so far; null without aggregate, or while they cannot be evaluated. */
  soFar(content: WindowContent, frame: WindowFrame): Fields | null {
    if (this.#aggregation === null) return null;
    try {
      return this.#aggregated(this.#aggregation, content, frame, frameAttributes(frame)).fields;
    } catch (thrown) {
      if (thrown instanceof EvaluationError) return null;
      throw thrown;
    }
  }

  save(content: WindowContent): Value {
    return [
      content.rows?.map(({ row, order }) => [saveRow(row), order]) ?? null,
      content.samples?.map(saveSample) ?? null,
      content.accumulators?.save() ?? null,
      content.count,
      content.firstOrder,
      content.firstCause,
      saveRow(content.last),
      content.lastOrder,
      content.minTime,
      content.maxTime,
    ];
  }

  load(saved: Value): WindowContent {
    const [rows, samples, accumulators, count, firstOrder, firstCause, last, lastOrder, minTime, maxTime] = saved as ValueArray;
    const hasAccumulators = this.#aggregation !== null && samples === null;
    return {
      rows: rows === null ? null : (rows as ValueArray).map(loadArrival),
      samples: samples === null ? null : (samples as ValueArray).map(loadSample),
      accumulators: hasAccumulators ? this.#aggregation.load(accumulators as Value) : null,
      count: count as number,
      firstOrder: firstOrder as number,
      firstCause: firstCause as number,
      last: loadRow(last as Value),
      lastOrder: lastOrder as number,
      minTime: minTime as number,
      maxTime: maxTime as number,
    };
  }
}

function loadArrival(saved: Value): Arrival {
  const [row, order] = saved as ValueArray;
  return { row: loadRow(row as Value), order: order as number };
}

export interface PreparedItem {
  readonly name: string;
  readonly value: Evaluate;
}

export function prepareItem(item: NamedExpression, environment: OperatorEnvironment): PreparedItem {
  return { name: item.name, value: environment.evaluator(item.value) };
}

/** The aggregates in written order, then the partition keys, which the program may read and `.emit()` shows. */
export function resultFields(
  items: readonly PreparedItem[],
  row: Row,
  results: readonly Value[],
  keys: readonly (readonly [string, Value])[],
): Map<string, Value> {
  const scope = scopeOf(row, results);
  const fields = new Map<string, Value>();
  for (const item of items) fields.set(item.name, item.value(scope));
  for (const [name, value] of keys) if (!fields.has(name)) fields.set(name, value);
  return fields;
}

export function firstCause(row: Row): number {
  return row.causes[0] ?? row.order;
}

export function lastCause(row: Row): number {
  return row.causes.at(-1) ?? row.order;
}

/** What a window's result is made from: the first and the last of its events, enough to name it. */
export function causesBetween(first: number, last: number): number[] {
  return first === last ? [first] : [Math.min(first, last), Math.max(first, last)];
}

export function frameAttributes(frame: WindowFrame): Map<AttributeName, Value> {
  return new Map<AttributeName, Value>([
    ['window_start', new Timestamp(frame.start)],
    ['window_end', new Timestamp(frame.end)],
    ['is_final', frame.isFinal],
  ]);
}

function withAttributes(own: Row['attributes'], more: Map<AttributeName, Value>): ReadonlyMap<AttributeName, Value> {
  return own === null ? more : new Map([...own, ...more]);
}

function byTime(samples: readonly Sample[]): Sample[] {
  return [...samples].sort((a, b) => a.time - b.time || a.order - b.order);
}

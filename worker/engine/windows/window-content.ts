import { Timestamp, type Value, type ValueArray } from '../../../shared/events/value.ts';
import type { AttributeName, NamedExpression, WindowOperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../operators/row.ts';
import { loadRow, saveRow } from '../state/saved-row.ts';
import { type Accumulators, Aggregation, loadSample, type Sample, saveSample } from './aggregation.ts';

/**
 * What one open window holds. Rows are kept only where something reads them again: a window without aggregate, or one
 * with `.pattern(..)`. Samples are kept only where their order or their leaving matters. Else accumulators are enough.
 */
export interface WindowContent {
  readonly rows: Row[] | null;
  readonly samples: Sample[] | null;
  readonly accumulators: Accumulators | null;
  /** Number of events taken, first and last in order of arrival. */
  count: number;
  first: Row;
  last: Row;
  /** Event times, which arrival need not follow. */
  minTime: number;
  maxTime: number;
}

/** Makes, fills and closes the contents of one window operator. */
export class WindowContents {
  readonly #aggregation: Aggregation | null;
  readonly #items: readonly { readonly name: string; readonly value: Evaluate }[];
  readonly #predicates: readonly Evaluate[];
  readonly #keepsRows: boolean;
  readonly #keepsSamples: boolean;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;

  /** `samples`: the operator takes events out again (sliding counts), so samples must be kept. */
  constructor(plan: WindowOperatorPlan, next: Next, environment: OperatorEnvironment, samples = false) {
    this.#next = next;
    this.#environment = environment;
    this.#aggregation = plan.aggregate && new Aggregation(plan.aggregate, environment);
    this.#items = (plan.aggregate?.items ?? []).map((item) => prepareItem(item, environment));
    this.#predicates = plan.predicates.map((predicate) => environment.evaluator(predicate.condition));
    this.#keepsRows = plan.aggregate === null || plan.predicates.length > 0;
    const reordered = environment.stream.time.outOfOrderMs > 0 && plan.window.kind !== 'count';
    this.#keepsSamples = this.#aggregation !== null && (samples || (reordered && this.#aggregation.isOrderSensitive));
  }

  create(row: Row): WindowContent {
    return {
      rows: this.#keepsRows ? [] : null,
      samples: this.#keepsSamples ? [] : null,
      accumulators: this.#aggregation !== null && !this.#keepsSamples ? this.#aggregation.accumulators() : null,
      count: 0,
      first: row,
      last: row,
      minTime: row.time,
      maxTime: row.time,
    };
  }

  /** Evaluates the row for the aggregates; done once, before anything changes, as it may fail. */
  sample(row: Row, order: number): Sample | null {
    return this.#aggregation?.sample(row, order) ?? null;
  }

  add(content: WindowContent, row: Row, sample: Sample | null): void {
    content.rows?.push(row);
    if (sample !== null) {
      if (content.samples !== null) content.samples.push(sample);
      else content.accumulators?.add(sample);
    }
    content.count++;
    content.last = row;
    content.minTime = Math.min(content.minTime, row.time);
    content.maxTime = Math.max(content.maxTime, row.time);
  }

  /** Drops the oldest event of a content that keeps rows or samples. */
  dropOldest(content: WindowContent): void {
    content.rows?.shift();
    content.samples?.shift();
    content.count--;
  }

  /** One content of two: an event between them has made two sessions one. Needs kept samples. */
  merge(a: WindowContent, b: WindowContent): WindowContent {
    const merged = this.create(a.first.order <= b.first.order ? a.first : b.first);
    merged.rows?.push(...[...(a.rows ?? []), ...(b.rows ?? [])].sort((x, y) => x.order - y.order));
    merged.samples?.push(...[...(a.samples ?? []), ...(b.samples ?? [])].sort((x, y) => x.order - y.order));
    merged.count = a.count + b.count;
    merged.last = a.last.order >= b.last.order ? a.last : b.last;
    merged.minTime = Math.min(a.minTime, b.minTime);
    merged.maxTime = Math.max(a.maxTime, b.maxTime);
    return merged;
  }

  /** Hands on what the window gives, and says that it ended. */
  emit(content: WindowContent, frame: WindowFrame): void {
    if (!this.#passes(content)) return;
    const attributes = frameAttributes(frame);
    if (this.#aggregation === null) {
      for (const row of content.rows as Row[]) this.#next.process({ ...row, attributes: withAttributes(row.attributes, attributes) });
    } else {
      this.#emitAggregate(content, frame, attributes);
    }
    this.#next.endWindow(frame);
  }

  #passes(content: WindowContent): boolean {
    if (this.#predicates.length === 0) return true;
    const events = (content.rows as Row[]).map((row) => row.fields);
    return this.#predicates.every((predicate) => predicate({ ...scopeOf(content.last), locals: [events] }) === true);
  }

  #emitAggregate(content: WindowContent, frame: WindowFrame, attributes: Map<AttributeName, Value>): void {
    const results = this.#results(content).results(frame.lengthMs);
    const keys = this.#environment.partitionFields(content.last);
    const base: Row = {
      type: content.last.type,
      time: frame.time,
      order: content.last.order,
      fields: new Map(keys),
      bound: null,
      attributes,
      causes: causesOf(content.first, content.last),
    };
    this.#next.process({ ...base, fields: resultFields(this.#items, base, results, keys) });
  }

  #results(content: WindowContent): Accumulators {
    if (content.accumulators !== null) return content.accumulators;
    const accumulators = (this.#aggregation as Aggregation).accumulators();
    const samples = content.samples as Sample[];
    for (const sample of this.#isReordered() ? byTime(samples) : samples) accumulators.add(sample);
    return accumulators;
  }

  #isReordered(): boolean {
    return this.#environment.stream.time.outOfOrderMs > 0;
  }

  save(content: WindowContent): Value {
    return [
      content.rows?.map(saveRow) ?? null,
      content.samples?.map(saveSample) ?? null,
      content.accumulators?.save() ?? null,
      content.count,
      saveRow(content.first),
      saveRow(content.last),
      content.minTime,
      content.maxTime,
    ];
  }

  load(saved: Value): WindowContent {
    const [rows, samples, accumulators, count, first, last, minTime, maxTime] = saved as ValueArray;
    return {
      rows: rows === null ? null : (rows as ValueArray).map(loadRow),
      samples: samples === null ? null : (samples as ValueArray).map(loadSample),
      accumulators: accumulators === null || accumulators === undefined ? null : (this.#aggregation as Aggregation).load(accumulators),
      count: count as number,
      first: loadRow(first as Value),
      last: loadRow(last as Value),
      minTime: minTime as number,
      maxTime: maxTime as number,
    };
  }
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

/** What a window's result is made from: the first and the last of its events, enough to name it. */
export function causesOf(firstRow: Row, lastRow: Row): number[] {
  const first = firstRow.causes[0] ?? firstRow.order;
  const last = lastRow.causes.at(-1) ?? lastRow.order;
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

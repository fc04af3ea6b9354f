import type { Fields } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { AttributeName, OperatorPlan, WindowOperatorPlan } from '../../../shared/language/plan/plan.ts';
import { prepareCondition } from '../evaluate/condition.ts';
import type { Next, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import { type Row, type Scope, scopeOf } from '../operators/row.ts';
import { anyValue, list, number, orNull, record, type Saved } from '../state/codec.ts';
import { savedRow } from '../state/saved-row.ts';
import { type Accumulators, Aggregation, unlessFailing } from './aggregation.ts';
import type { HeldKinds, Takers } from './held-kinds.ts';
import { type Sample, savedSample } from './sample.ts';
import { byTime, type SlidingAccumulators } from './sliding-accumulators.ts';
import { firstCause, frameAttributes, lastCause } from './window-result.ts';

/** A row and its number of arrival at the window, by which rows of equal time are ordered. */
export interface Arrival {
  readonly row: Row;
  readonly order: number;
}

/** What is saved of an open window. `calls`: the states of the aggregates, null where samples or rows say what they are. */
export const savedContent = record({
  rows: orNull(list(record<Arrival>({ row: savedRow, order: number }))),
  samples: orNull(list(savedSample)),
  calls: anyValue,
  count: number,
  firstOrder: number,
  firstCause: number,
  last: savedRow,
  lastOrder: number,
  minTime: number,
  maxTime: number,
});

export type SavedContent = Saved<typeof savedContent>;

/**
 * What one open window holds. Rows are kept only where something reads them again: a window without aggregate, or one
 * with `.pattern(..)`. Samples are kept only where their order or their leaving matters. Else accumulators are enough.
 * Invariant: it has taken at least one event.
 */
export interface WindowContent {
  readonly rows: Arrival[] | null;
  readonly samples: Sample[] | null;
  readonly accumulators: Accumulators | null;
  /** Beside samples. */
  readonly kinds: HeldKinds | null;
  /** Beside samples that leave. */
  readonly sliding: SlidingAccumulators | null;
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
  /** How many of the events held came before the one that arrived just before them: 0 = in order of time. */
  disorder: number;
}

/** What a kind of window does with its contents besides filling and closing them. */
export interface ContentUse {
  /** Takes events out again: sliding counts. */
  readonly takesOut?: boolean;
  /** Makes one content of two: sessions. */
  readonly merges?: boolean;
  /** Keeps events whose values an aggregate refuses, as they count: windows of counts. */
  readonly keepsRefused?: boolean;
}

/** Makes, fills and closes the contents of one window operator. */
export class WindowContents {
  readonly #aggregation: Aggregation | null;
  readonly #predicates: readonly ((scope: Scope) => boolean)[];
  readonly #keepsRows: boolean;
  readonly #keepsSamples: boolean;
  readonly #takesOut: boolean;
  /** With `out_of_order` events are read in order of event time, else as they arrived. */
  readonly #isByTime: boolean;
  readonly #nothingHeld: HeldKinds | null;
  /** The operator, where it keeps events whose values an aggregate refuses. */
  readonly #keeping: OperatorPlan | null;
  readonly #next: Next;
  readonly #plan: WindowOperatorPlan;
  readonly #environment: OperatorEnvironment;

  constructor(
    plan: WindowOperatorPlan,
    next: Next,
    environment: OperatorEnvironment,
    { takesOut = false, merges = false, keepsRefused = false }: ContentUse = {},
  ) {
    this.#next = next;
    this.#plan = plan;
    this.#environment = environment;
    this.#keeping = keepsRefused ? plan : null;
    this.#aggregation = plan.aggregate && new Aggregation(plan.aggregate, environment);
    this.#predicates = plan.predicates.map((predicate) => prepareCondition(predicate.condition, environment));
    this.#isByTime = environment.stream.time.outOfOrderMs > 0;
    this.#keepsRows = plan.aggregate === null || plan.predicates.length > 0;
    const isOrdered = this.#aggregation?.isOrderSensitive === true && (this.#isByTime || merges);
    this.#takesOut = takesOut;
    this.#nothingHeld = this.#aggregation?.kinds() ?? null;
    this.#keepsSamples = this.#aggregation !== null && (takesOut || isOrdered);
  }

  /** Evaluates the row for the aggregates; done once, before anything changes, as it may fail. */
  sample(row: Row, order: number): Sample | null {
    return this.#aggregation?.sample(row, order) ?? null;
  }

  /**
   * The sample as all these contents take it, before any of them does, and one that is empty. `makesRoom`: the oldest event leaves for
   * it. @throws EvaluationError on a value that an aggregate cannot take
   */
  taken(sample: Sample | null, row: Row, contents: readonly WindowContent[], makesRoom = false): Sample | null {
    if (sample === null || this.#aggregation === null) return sample;
    const takers = contents.map(({ accumulators, kinds, samples }) =>
      makesRoom && kinds !== null ? kinds.without(samples?.[0]) : (accumulators ?? kinds),
    );
    return this.#aggregation.taken(sample, row, (takers.length > 0 ? takers : [this.#nothingHeld]) as readonly Takers[], this.#keeping);
  }

  /** @throws EvaluationError when the values of two contents cannot be in one */
  requireOne(a: WindowContent, b: WindowContent): void {
    if (b.kinds !== null) a.kinds?.requireAll(b.kinds);
    else if (b.accumulators !== null) this.#merged(a, b);
  }

  #merged(a: WindowContent, b: WindowContent): Accumulators | null {
    if (a.accumulators === null || b.accumulators === null || this.#aggregation === null) return null;
    const merged = this.#aggregation.load(a.accumulators.save());
    merged.merge(b.accumulators);
    return merged;
  }

  /** A content that holds its first event, which it takes. */
  begin(row: Row, order: number, sample: Sample | null): WindowContent {
    const content: WindowContent = {
      rows: this.#keepsRows ? [] : null,
      samples: this.#keepsSamples ? [] : null,
      accumulators: this.#aggregation !== null && !this.#keepsSamples ? this.#aggregation.accumulators() : null,
      kinds: this.#kinds([]),
      sliding: this.#sliding([]),
      count: 0,
      firstOrder: order,
      firstCause: firstCause(row),
      last: row,
      lastOrder: order,
      minTime: row.time,
      maxTime: row.time,
      disorder: 0,
    };
    this.add(content, row, order, sample);
    return content;
  }

  #kinds(samples: readonly Sample[]): HeldKinds | null {
    if (!this.#keepsSamples || this.#aggregation === null) return null;
    const kinds = this.#aggregation.kinds();
    for (const sample of samples) kinds.add(sample);
    return kinds;
  }

  #sliding(samples: readonly Sample[]): SlidingAccumulators | null {
    if (!this.#takesOut || this.#aggregation === null) return null;
    const sliding = this.#aggregation.sliding(this.#isByTime);
    for (const sample of samples) sliding.add(sample);
    return sliding;
  }

  /** An event that the content takes. */
  add(content: WindowContent, row: Row, order: number, sample: Sample | null): void {
    if (sample !== null) {
      if (content.samples !== null) content.samples.push(sample);
      else content.accumulators?.add(sample);
      content.kinds?.add(sample);
      content.sliding?.add(sample);
    }
    content.rows?.push({ row, order });
    if (content.count > 0 && row.time < content.last.time) content.disorder++;
    content.count++;
    content.last = row;
    content.lastOrder = order;
    if (row.time < content.minTime) content.minTime = row.time;
    if (row.time > content.maxTime) content.maxTime = row.time;
  }

  /** Drops the oldest event of a content whose events are taken out again. */
  dropOldest(content: WindowContent): void {
    const row = content.rows?.shift();
    const sample = content.samples?.shift();
    if (sample !== undefined) {
      content.kinds?.remove(sample);
      content.sliding?.remove(sample);
    }
    content.count--;
    const time = sample?.time ?? row?.row.time ?? Number.NaN;
    if (oldestTime(content) < time) content.disorder--;
  }

  /** Brings the first event and the times up to date after events were dropped. */
  measure(content: WindowContent): void {
    const [sample, arrival] = [content.samples?.[0], content.rows?.[0]];
    if (sample !== undefined) [content.firstOrder, content.firstCause] = [sample.order, sample.cause];
    else if (arrival !== undefined) [content.firstOrder, content.firstCause] = [arrival.order, firstCause(arrival.row)];
    [content.minTime, content.maxTime] = [oldestTime(content), content.last.time];
    if (content.disorder > 0)
      for (const time of timesOf(content)) {
        if (time < content.minTime) content.minTime = time;
        if (time > content.maxTime) content.maxTime = time;
      }
  }

  /** One content of two that can be one: an event between them has made two sessions one. Takes over what the two held. */
  merge(a: WindowContent, b: WindowContent): WindowContent {
    const [first, second] = a.firstOrder <= b.firstOrder ? [a, b] : [b, a];
    const { last, lastOrder } = a.lastOrder >= b.lastOrder ? a : b;
    if (second.accumulators !== null) first.accumulators?.merge(second.accumulators);
    const samples = first.samples && [...first.samples, ...(second.samples ?? [])].sort((x, y) => x.order - y.order);
    return {
      rows: first.rows && [...first.rows, ...(second.rows ?? [])].sort((x, y) => x.order - y.order),
      samples,
      accumulators: first.accumulators,
      kinds: this.#kinds(samples ?? []),
      sliding: null,
      count: a.count + b.count,
      firstOrder: first.firstOrder,
      firstCause: first.firstCause,
      last,
      lastOrder,
      minTime: Math.min(a.minTime, b.minTime),
      maxTime: Math.max(a.maxTime, b.maxTime),
      disorder: 0,
    };
  }

  /** Hands on what the window gives, and says that it ended. */
  emit(content: WindowContent, frame: WindowFrame): void {
    const rows =
      content.rows && (this.#isByTime ? [...content.rows].sort((a, b) => a.row.time - b.row.time || a.order - b.order) : content.rows);
    if (!this.#passes(content, rows, frame)) return;
    if (this.#aggregation === null) {
      for (const row of this.#handedOn(rows ?? [], frame)) this.#next.process(row);
    } else {
      this.#next.process(this.#aggregated(this.#aggregation, content, frame));
    }
    this.#next.endWindow(frame);
  }

  /** The events, or where predicates choose among windows a result with the fields of the last one. */
  #handedOn(rows: readonly Arrival[], frame: WindowFrame): readonly Row[] {
    const attributes = frameAttributes(frame);
    const framed = (row: Row): Row => ({ ...row, attributes: withAttributes(row.attributes, attributes) });
    if (this.#predicates.length === 0) return rows.map(({ row }) => framed(row));
    return rows.slice(-1).map(({ row }) => ({ ...framed(row), time: frame.time }));
  }

  #passes({ last }: WindowContent, rows: readonly Arrival[] | null, { isFinal }: WindowFrame): boolean {
    if (this.#predicates.length === 0) return true;
    const events = (rows ?? []).map(({ row }) => row.fields);
    const refusing = this.#predicates.findIndex((predicate) => !predicate({ ...scopeOf(last), locals: [events] }));
    const refused = this.#plan.predicates[refusing];
    if (refused !== undefined && isFinal) this.#environment.windowRefused?.(last, refused, events);
    return refused === undefined;
  }

  #aggregated(aggregation: Aggregation, content: WindowContent, frame: WindowFrame): Row {
    const { last, firstCause } = content;
    const origin = { type: last.type, ofKey: last, firstCause, lastCause: lastCause(last) };
    return aggregation.windowRow(origin, this.#results(aggregation, content, frame), frame);
  }

  #results(aggregation: Aggregation, { accumulators, samples, sliding }: WindowContent, { lengthMs }: WindowFrame): readonly Value[] {
    if (accumulators !== null) return accumulators.results(lengthMs);
    if (sliding !== null) return sliding.results(samples ?? [], lengthMs);
    const accumulated = aggregation.accumulators();
    for (const sample of this.#isByTime ? byTime(samples ?? []) : (samples ?? [])) accumulated.add(sample);
    return accumulated.results(lengthMs);
  }

  /** What the aggregates give so far; null without aggregate, or while they cannot be evaluated. */
  soFar(content: WindowContent, frame: WindowFrame): Fields | null {
    const aggregation = this.#aggregation;
    return aggregation && unlessFailing(() => this.#aggregated(aggregation, content, frame).fields);
  }

  save(content: WindowContent): Value {
    return savedContent.save({ ...content, calls: content.accumulators?.save() ?? null });
  }

  load({ calls, rows, samples: saved, ...bounds }: SavedContent): WindowContent {
    const hasAccumulators = this.#aggregation !== null && saved === null;
    const kinds = this.#kinds([]);
    const samples = saved?.map((sample) => kinds?.addSaved(sample, this.#keeping !== null) ?? sample) ?? null;
    const content: WindowContent = {
      ...bounds,
      rows: rows === null ? null : [...rows],
      samples,
      accumulators: hasAccumulators ? this.#aggregation.load(calls) : null,
      kinds,
      sliding: this.#sliding(samples ?? []),
      disorder: 0,
    };
    content.disorder = timesOf(content).reduce((count, time, at, times) => count + (time < (times[at - 1] ?? time) ? 1 : 0), 0);
    return content;
  }
}

function timesOf({ samples, rows }: WindowContent): readonly number[] {
  return samples !== null ? samples.map(({ time }) => time) : (rows ?? []).map(({ row }) => row.time);
}

/** NaN of nothing. */
function oldestTime({ samples, rows }: WindowContent): number {
  return samples?.[0]?.time ?? rows?.[0]?.row.time ?? Number.NaN;
}

function withAttributes(own: Row['attributes'], more: Map<AttributeName, Value>): ReadonlyMap<AttributeName, Value> {
  return own === null ? more : new Map([...own, ...more]);
}

import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Row } from '../operators/row.ts';
import { anyValue, list, mapOf, number, record, type Saved, stateOf, text } from '../state/codec.ts';
import { savedRow, saveRow } from '../state/saved-row.ts';
import type { Aggregation, ResultOrigin } from './aggregation.ts';
import type { HeldKinds } from './held-kinds.ts';
import { type Sample, savedSample } from './sample.ts';
import type { SlidingAccumulators } from './sliding-accumulators.ts';
import { lastCause } from './window-result.ts';

/** The events of a key, by time. `start`: of the first window that is open. */
export const savedRing = record({
  key: text,
  start: number,
  last: savedRow,
  samples: list(record({ type: text, lastCause: number, sample: savedSample })),
});

export type SavedRing = Saved<typeof savedRing>;

/** `rings`: each as `savedRing` has it. */
export const savedRings = stateOf({
  name: 'sliding window',
  version: 1,
  members: { arrivals: number, rings: list(anyValue), origins: mapOf(number), touched: mapOf(number) },
});

/** A sample, and what a window's result says of its last event. */
export interface TimedSample extends Sample {
  readonly type: string;
  readonly lastCause: number;
  /** Its number among those that went into the sliding accumulators. */
  sequence: number;
}

export function timedSample({ inputs, time, order, cause }: Sample, row: Row): TimedSample {
  return { inputs, time, order, cause, type: row.type, lastCause: lastCause(row), sequence: 0 };
}

/** The events of one key in windows of time that are open, and the aggregates over one window after the other. */
export class TimeRing {
  /** The event that arrived last. */
  last: Row;
  /** Of the first open window that has events. All samples lie at or behind it. */
  start: number;
  readonly #aggregation: Aggregation;
  /** Aggregates that follow the order of samples read them by time, else as they arrived. */
  readonly #isByTime: boolean;
  /** In order of time, and of arrival at one time. */
  readonly #samples: TimedSample[] = [];
  /** Some sample stands behind one that arrived later. */
  #isDisordered = false;
  #sliding: SlidingAccumulators | null = null;
  /** How many of the samples, from the oldest on, are in the sliding accumulators. */
  #taken = 0;
  #sequence = 0;
  /** Of all samples; where those of some windows are of other kinds than those of others, of some. */
  readonly #kinds: HeldKinds;
  #areMixed = false;

  constructor(last: Row, start: number, aggregation: Aggregation, isByTime: boolean) {
    this.last = last;
    this.start = start;
    this.#aggregation = aggregation;
    this.#isByTime = isByTime;
    this.#kinds = aggregation.kinds();
  }

  /** The sample as all windows from `start` to `end` take it. @throws EvaluationError on a value that an aggregate cannot take */
  taken(sample: Sample, row: Row, start: number, end: number): Sample {
    if (!this.#areMixed && this.#kinds.takes(sample)) return sample;
    const kinds = this.#aggregation.kinds();
    for (const other of this.between(start, end)) kinds.add(other);
    return this.#aggregation.taken(sample, row, [kinds]);
  }

  /** A sample that its windows take. */
  add(sample: TimedSample): void {
    this.#note(sample);
    const at = this.#countBefore(sample.time, true);
    if (at === this.#samples.length) {
      this.#samples.push(sample);
      return;
    }
    this.#samples.splice(at, 0, sample);
    this.#isDisordered = true;
    if (at < this.#taken) this.#sliding = null;
  }

  #note(sample: Sample): void {
    this.#areMixed ||= !this.#kinds.takes(sample);
    this.#kinds.add(sample);
  }

  /** Undefined when nothing is held. */
  get oldestTime(): number | undefined {
    return this.#samples[0]?.time;
  }

  /** -Infinity when nothing is held. */
  get newestTime(): number {
    return this.#samples.at(-1)?.time ?? -Infinity;
  }

  between(start: number, end: number): readonly TimedSample[] {
    return this.#samples.slice(this.#countBefore(start, false), this.#countBefore(end, false));
  }

  /** The first and the last to arrive of a window that is not empty. */
  endsBetween(start: number, end: number): { readonly first: TimedSample; readonly last: TimedSample } {
    if (this.#isDisordered) return endsOf(this.between(start, end));
    const [first, behind] = [this.#countBefore(start, false), this.#countBefore(end, false)];
    return { first: this.#samples[first] as TimedSample, last: this.#samples[behind - 1] as TimedSample };
  }

  /** What the result of a window says that is not empty. */
  originBetween(start: number, end: number): ResultOrigin {
    const { first, last } = this.endsBetween(start, end);
    return { type: last.type, ofKey: this.last, firstCause: first.cause, lastCause: last.lastCause };
  }

  /** How many samples lie before a time, or (`isIncluded`) up to it; most often all do. */
  #countBefore(time: number, isIncluded: boolean): number {
    const samples = this.#samples;
    let [low, high] = [0, samples.length];
    if (isIncluded && time >= this.newestTime) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = (samples[middle] as TimedSample).time;
      if (other < time || (isIncluded && other === time)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Of all samples before `end`. Windows are asked for in order of their end. */
  results(end: number, lengthMs: number): readonly Value[] {
    const count = this.#countBefore(end, false);
    if (this.#isDisordered && !this.#isByTime) return this.#resultsAsArrived(count, lengthMs);
    if (this.#sliding === null) {
      this.#sliding = this.#aggregation.sliding(false);
      this.#taken = 0;
    }
    for (; this.#taken < count; this.#taken++) {
      const sample = this.#samples[this.#taken] as TimedSample;
      sample.sequence = ++this.#sequence;
      this.#sliding.add(sample, sample.sequence);
    }
    return this.#sliding.results(this.#sliding.readsSamples ? this.#samples.slice(0, count) : [], lengthMs);
  }

  #resultsAsArrived(count: number, lengthMs: number): readonly Value[] {
    this.#sliding = null;
    return this.#sum(this.#samples.slice(0, count), lengthMs);
  }

  /** Of any window, without a step of those that slide. */
  resultsBetween(start: number, end: number, lengthMs: number): readonly Value[] {
    return this.#sum(this.between(start, end), lengthMs);
  }

  #sum(samples: readonly TimedSample[], lengthMs: number): readonly Value[] {
    const accumulators = this.#aggregation.accumulators();
    for (const sample of this.#isByTime ? samples : samples.toSorted((a, b) => a.order - b.order)) accumulators.add(sample);
    return accumulators.results(lengthMs);
  }

  dropBefore(time: number): void {
    const gone = this.#samples.splice(0, this.#countBefore(time, false));
    for (const sample of gone) this.#kinds.remove(sample);
    if (this.#samples.length === 0) this.#areMixed = false;
    for (const sample of gone.slice(0, this.#taken)) this.#sliding?.remove(sample, sample.sequence);
    this.#taken = Math.max(0, this.#taken - gone.length);
    if (gone.length > 0) this.#lookForDisorder(this.#isDisordered);
  }

  #lookForDisorder(isPossible: boolean): void {
    this.#isDisordered = isPossible && this.#samples.some(({ order }, at) => order < (this.#samples[at - 1]?.order ?? order));
  }

  save(): ValueArray {
    return [this.start, saveRow(this.last), this.#samples.map((sample) => [sample.type, sample.lastCause, savedSample.save(sample)])];
  }

  static load({ start, last, samples }: SavedRing, aggregation: Aggregation, isByTime: boolean): TimeRing {
    const ring = new TimeRing(last, start, aggregation, isByTime);
    for (const { type, lastCause, sample } of samples) {
      ring.#samples.push({ ...sample, type, lastCause, sequence: 0 });
      ring.#note(sample);
    }
    ring.#lookForDisorder(true);
    return ring;
  }
}

function endsOf(samples: readonly TimedSample[]): { readonly first: TimedSample; readonly last: TimedSample } {
  return {
    first: samples.reduce((a, b) => (b.order < a.order ? b : a)),
    last: samples.reduce((a, b) => (b.order > a.order ? b : a)),
  };
}

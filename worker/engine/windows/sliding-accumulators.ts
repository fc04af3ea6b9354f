import { EvaluationError } from '../../../shared/events/evaluation-error.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { Accumulator, SlidingAccumulator } from '../../../shared/language/functions/descriptor.ts';
import type { PreparedCall } from './aggregate-call.ts';
import type { Sample } from './sample.ts';

/**
 * All calls over a window from which the oldest samples leave. What can give samples back is brought up to date with each;
 * what cannot is added up again for a result: `top`, `ema`, and with `isByTime` whatever follows the order of samples.
 *
 * A value that some aggregate refuses stays in the window, which has no result while it is there: then everything is added
 * up again, and the first result without it goes on from there.
 */
export class SlidingAccumulators {
  readonly #calls: readonly PreparedCall[];
  readonly #order: readonly number[];
  readonly #isByTime: boolean;
  #sliding: readonly (SlidingAccumulator | null)[];
  /** Positions of those that slide, and of the others. */
  readonly #slides: readonly number[];
  readonly #rescans: readonly number[];
  #isBehind = false;

  /** `order`: positions of the calls in the order in which a sample is added. */
  constructor(calls: readonly PreparedCall[], order: readonly number[], isByTime: boolean) {
    this.#calls = calls;
    this.#order = order;
    this.#isByTime = isByTime;
    const isSliding = ({ descriptor, isOrderSensitive }: PreparedCall): boolean =>
      descriptor.createSliding !== undefined && !(isByTime && isOrderSensitive);
    this.#slides = order.filter((position) => isSliding(calls[position] as PreparedCall));
    this.#rescans = order.filter((position) => !this.#slides.includes(position));
    this.#sliding = this.#fresh();
  }

  #fresh(): readonly (SlidingAccumulator | null)[] {
    return this.#calls.map(({ descriptor, constants }, position) =>
      this.#slides.includes(position) ? (descriptor.createSliding?.(constants) ?? null) : null,
    );
  }

  /** Whether `results` looks at the samples. */
  get readsSamples(): boolean {
    return this.#isBehind || this.#rescans.length > 0;
  }

  /** `order`: larger than that of all before. */
  add(sample: Sample, order = sample.order): void {
    if (this.#isBehind) return;
    try {
      this.#take(sample, order);
    } catch (thrown) {
      if (!(thrown instanceof EvaluationError)) throw thrown;
      this.#isBehind = true;
    }
  }

  #take({ inputs, time }: Sample, order: number): void {
    for (const position of this.#slides) {
      const input = inputs[position];
      if (input !== undefined) this.#sliding[position]?.addOne(input, time, order);
    }
  }

  /** The oldest sample leaves, with the order with which it was added. */
  remove(sample: Sample, order = sample.order): void {
    const { inputs, time } = sample;
    if (this.#isBehind) return;
    for (const position of this.#slides) {
      const input = inputs[position];
      if (input !== undefined) this.#sliding[position]?.removeOne(input, time, order);
    }
  }

  /** `samples`: all in the window, in order of arrival. @throws EvaluationError on a value that an aggregate cannot take. */
  results(samples: readonly Sample[], lengthMs: number): Value[] {
    const again = this.#isBehind ? this.#order : this.#rescans;
    const summed = again.length === 0 ? null : this.#sum(this.#isByTime ? byTime(samples) : samples, again);
    if (this.#isBehind) this.#catchUp(samples);
    const window = { lengthMs };
    return this.#calls.map((_, position) => (summed?.[position] ?? this.#sliding[position])?.result(window) ?? null);
  }

  #sum(samples: readonly Sample[], positions: readonly number[]): readonly (Accumulator | null)[] {
    const states = this.#calls.map(({ descriptor, constants }, position) =>
      positions.includes(position) ? descriptor.create(constants) : null,
    );
    for (const { inputs, time, order } of samples) {
      for (const position of positions) {
        const input = inputs[position];
        if (input !== undefined) states[position]?.addOne(input, time, order);
      }
    }
    return states;
  }

  #catchUp(samples: readonly Sample[]): void {
    this.#sliding = this.#fresh();
    for (const sample of samples) this.#take(sample, sample.order);
    this.#isBehind = false;
  }
}

/** In order of time, and of arrival at one time. */
export function byTime(samples: readonly Sample[]): Sample[] {
  return [...samples].sort((a, b) => a.time - b.time || a.order - b.order);
}

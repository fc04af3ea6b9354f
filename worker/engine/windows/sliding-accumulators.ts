import type { Value } from '../../../shared/events/value.ts';
import type { Accumulator, SlidingAccumulator } from '../../../shared/language/functions/descriptor.ts';
import type { PreparedCall } from './aggregate-call.ts';
import type { Sample } from './sample.ts';

/**
 * All calls over a window from which the oldest samples leave. What can give samples back is brought up to date with each;
 * what cannot is added up again for a result: `top`, `ema`, and with `isByTime` whatever follows the order of samples.
 */
export class SlidingAccumulators {
  readonly #calls: readonly PreparedCall[];
  readonly #isByTime: boolean;
  /** Null at the positions of those that do not slide. */
  readonly #sliding: readonly (SlidingAccumulator | null)[];
  readonly #rescans: readonly number[];

  constructor(calls: readonly PreparedCall[], isByTime: boolean) {
    this.#calls = calls;
    this.#isByTime = isByTime;
    this.#sliding = calls.map(({ descriptor, constants, isOrderSensitive }) =>
      isByTime && isOrderSensitive ? null : (descriptor.createSliding?.(constants) ?? null),
    );
    this.#rescans = [...calls.keys()].filter((position) => this.#sliding[position] === null);
  }

  /** Whether `results` looks at the samples. */
  get readsSamples(): boolean {
    return this.#rescans.length > 0;
  }

  /** A sample that all take beside those of the window. `order`: larger than that of all before. */
  add({ inputs, time, order: arrival }: Sample, order = arrival): void {
    for (const [position, sliding] of this.#sliding.entries()) {
      const input = inputs[position];
      if (input !== undefined) sliding?.addOne(input, time, order);
    }
  }

  /** The oldest sample leaves, with the order with which it was added. */
  remove({ inputs, time, order: arrival }: Sample, order = arrival): void {
    for (const [position, sliding] of this.#sliding.entries()) {
      const input = inputs[position];
      if (input !== undefined) sliding?.removeOne(input, time, order);
    }
  }

  /** `samples`: all in the window, in order of arrival. */
  results(samples: readonly Sample[], lengthMs: number): Value[] {
    const again = this.readsSamples ? this.#sum(this.#isByTime ? byTime(samples) : samples) : null;
    const window = { lengthMs };
    return this.#calls.map((_, position) => (again?.[position] ?? this.#sliding[position])?.result(window) ?? null);
  }

  #sum(samples: readonly Sample[]): readonly (Accumulator | null)[] {
    const states = this.#calls.map(({ descriptor, constants }, position) =>
      this.#sliding[position] === null ? descriptor.create(constants) : null,
    );
    for (const { inputs, time, order } of samples) {
      for (const position of this.#rescans) {
        const input = inputs[position];
        if (input !== undefined) states[position]?.addOne(input, time, order);
      }
    }
    return states;
  }
}

/** In order of time, and of arrival at one time. */
export function byTime(samples: readonly Sample[]): Sample[] {
  return [...samples].sort((a, b) => a.time - b.time || a.order - b.order);
}

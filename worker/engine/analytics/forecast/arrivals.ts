import { amount, count, number, orNull, record, type Saved } from '../../state/codec.ts';

/** Weight of all keys together in the rate of one, in gaps. */
const PRIOR_GAPS = 4;
/** Squared coefficient of variation of the gaps below which arrivals count as regular. */
const REGULAR_BELOW = 0.1;
const BRANCHING_MAX = 0.9;
/** Gaps before excitement is believed in. */
const EXCITED_FROM = 20;

/** How many events come in a span of time. */
export interface CountForecast {
  readonly mean: number;
  /** Exactly the mean, rounded down; else spread as in a Poisson process. */
  readonly isRegular: boolean;
}

export const savedGaps = record({ count, mean: amount, squares: amount, last: orNull(number), excitement: amount });

/** The gaps between the events of one key, or of all keys, each in its own key. */
export class Gaps {
  #count = 0;
  #mean = 0;
  #squares = 0;
  #last: number | null = null;
  /** Sum over past events of exp(-decay * age), at the last event. */
  #excitement = 0;

  get count(): number {
    return this.#count;
  }

  get mean(): number {
    return this.#mean;
  }

  /** Squared coefficient of variation: 1 for a Poisson process, 0 for a clock. */
  get variation(): number {
    return this.#count < 2 || this.#mean === 0 ? 1 : this.#squares / (this.#count - 1) / this.#mean ** 2;
  }

  get excitement(): number {
    return this.#excitement;
  }

  /** An event of the key. Gives the gap to the one before, ms; null for the first. `decay` per ms. */
  arrive(time: number, decay: number): number | null {
    const gap = this.#last === null ? null : Math.max(0, time - this.#last);
    this.#last = this.#last === null ? time : Math.max(this.#last, time);
    this.#excitement = this.#excitement * Math.exp(-decay * (gap ?? 0)) + 1;
    if (gap !== null) this.add(gap);
    return gap;
  }

  /** Welford's running mean and sum of squares. */
  add(gap: number): void {
    this.#count++;
    const delta = gap - this.#mean;
    this.#mean += delta / this.#count;
    this.#squares += delta * (gap - this.#mean);
  }

  save(): Saved<typeof savedGaps> {
    return { count: this.#count, mean: this.#mean, squares: this.#squares, last: this.#last, excitement: this.#excitement };
  }

  load({ count, mean, squares, last, excitement }: Saved<typeof savedGaps>): void {
    this.#count = count;
    this.#mean = mean;
    this.#squares = squares;
    this.#last = last;
    this.#excitement = excitement;
  }
}

/** Events of a key per ms, drawn towards the rate of all keys while the key is new. 0 when nothing is known. */
export function rateOf(key: Gaps, all: Gaps): number {
  const span = key.count * key.mean + PRIOR_GAPS * all.mean;
  if (all.count === 0) return 0;
  return span > 0 ? (key.count + PRIOR_GAPS) / span : Infinity;
}

/** The decay of excitement, per ms: an event is felt for about the mean gap. */
export function decayOf(all: Gaps): number {
  return all.mean > 0 ? 1 / all.mean : 0;
}

/** Events of the key within the next `spanMs`. */
export function countWithin(spanMs: number, key: Gaps, all: Gaps, isExciting: boolean): CountForecast {
  const rate = rateOf(key, all);
  const mean = rate === Infinity ? Infinity : rate * spanMs;
  const { variation } = key.count >= EXCITED_FROM ? key : all;
  if (!isExciting || all.count < EXCITED_FROM) return { mean, isRegular: all.count > 0 && variation < REGULAR_BELOW };
  return { mean: mean + excess(spanMs, { rate, variation, decay: decayOf(all), excitement: key.excitement }), isRegular: false };
}

interface Excitement {
  readonly rate: number;
  readonly variation: number;
  readonly decay: number;
  readonly excitement: number;
}

/**
 * What a self-exciting process (Hawkes, 1971, exponential kernel) expects beyond its long-run rate, as it stands right now.
 * The share of events that others have caused comes from the variation of the gaps.
 */
function excess(spanMs: number, { rate, variation, decay, excitement }: Excitement): number {
  const branching = Math.min(BRANCHING_MAX, Math.max(0, 1 - 1 / Math.sqrt(Math.max(variation, 1))));
  if (branching === 0 || decay === 0 || rate === Infinity) return 0;
  const intensity = rate * (1 - branching) + branching * decay * excitement;
  const relaxation = decay * (1 - branching);
  return Math.max(-rate * spanMs, ((intensity - rate) * (1 - Math.exp(-relaxation * spanMs))) / relaxation);
}

/** Probability of exactly n events for n = 0 .. `most` - 1, then of `most` or more. */
export function countWeights({ mean, isRegular }: CountForecast, most: number): readonly number[] {
  const weights: number[] = new Array(most + 1).fill(0);
  if (isRegular || mean > most * 2) {
    weights[Math.min(most, Math.floor(mean + 1e-9))] = 1;
    return weights;
  }
  let weight = Math.exp(-mean);
  let sum = 0;
  for (let n = 0; n < most; n++) {
    weights[n] = weight;
    sum += weight;
    weight *= mean / (n + 1);
  }
  weights[most] = Math.max(0, 1 - sum);
  return weights;
}

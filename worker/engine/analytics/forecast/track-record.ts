import { amount, count, list, mapOf, record, type Saved } from '../../state/codec.ts';

/** Tenths of probability. */
export const BINS = 10;
const RECENT_MAX = 20;
/** Quantile of the normal distribution for two-sided bounds of 90 %. */
const Z = 1.645;

/** `made`, `right`: forecasts and those that came true, by tenth. `recent`: the last probabilities, by state. */
export const savedRecord = record({ made: list(count, BINS), right: list(count, BINS), recent: mapOf(list(amount)) });

export interface Bounds {
  readonly lower: number;
  readonly upper: number;
}

/** What became of forecasts: how often the runs of each tenth of probability were through in time, and how steady forecasts are. */
export class TrackRecord {
  #made: number[] = new Array(BINS).fill(0);
  #right: number[] = new Array(BINS).fill(0);
  /** The last probabilities by state. */
  readonly #recent = new Map<string, number[]>();

  /** A forecast of this tenth has come out. */
  resolve(bin: number, isRight: boolean): void {
    this.#made[bin] = (this.#made[bin] as number) + 1;
    if (isRight) this.#right[bin] = (this.#right[bin] as number) + 1;
  }

  /**
   * The share of this tenth's forecasts that came true, were the next one to come false or true: a Venn predictor, of the
   * family of conformal ones (Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005).
   */
  bounds(probability: number): Bounds {
    const bin = binOf(probability);
    const made = (this.#made[bin] as number) + 1;
    const right = this.#right[bin] as number;
    return { lower: right / made, upper: (right + 1) / made };
  }

  /** Notes a probability. Gives how steady the last 20 of the state are: 1 = all equal, 20 of them. */
  steadiness(state: string, probability: number): number {
    const recent = this.#recent.get(state) ?? [];
    recent.push(probability);
    if (recent.length > RECENT_MAX) recent.shift();
    this.#recent.set(state, recent);
    const mean = recent.reduce((sum, one) => sum + one, 0) / recent.length;
    const variance = recent.reduce((sum, one) => sum + (one - mean) ** 2, 0) / recent.length;
    return Math.max(0, 1 - 2 * Math.sqrt(variance)) * (recent.length / RECENT_MAX);
  }

  save(): Saved<typeof savedRecord> {
    return { made: this.#made, right: this.#right, recent: this.#recent };
  }

  load({ made, right, recent }: Saved<typeof savedRecord>): void {
    this.#made = [...made];
    this.#right = [...right];
    for (const [state, values] of recent) this.#recent.set(state, values.slice(-RECENT_MAX));
  }
}

export function binOf(probability: number): number {
  return Math.min(BINS - 1, Math.floor(probability * BINS));
}

/** Wilson's bounds of 90 % for a share that was estimated from so many events. */
export function wilsonBounds(share: number, events: number): Bounds {
  const n = Math.max(1, events);
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2))) / (1 + Z ** 2 / n);
  return { lower: Math.max(0, Math.min(share, middle - half)), upper: Math.min(1, Math.max(share, middle + half)) };
}

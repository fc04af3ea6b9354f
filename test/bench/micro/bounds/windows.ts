import type { MakeMicroBound } from '../case.ts';

const COLUMNS = 4;

/** Numbers of keys in order of appearance, and columns of numbers for each of them in one array. */
class KeyColumns {
  readonly keys: string[] = [];
  readonly #slots = new Map<string, number>();
  columns = new Float64Array(COLUMNS << 10);

  /** Where the columns of a key begin. */
  offsetOf(key: string): number {
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const offset = this.keys.length * COLUMNS;
    this.#slots.set(key, offset);
    this.keys.push(key);
    if (offset + COLUMNS > this.columns.length) {
      const grown = new Float64Array(this.columns.length * 2);
      grown.set(this.columns);
      this.columns = grown;
    }
    return offset;
  }
}

/** Count, sum, mean and squares of each key, given out and cleared with the last value of each window (Welford). */
export const tumblingBound =
  (size: number): MakeMicroBound =>
  (output) => {
    const state = new KeyColumns();
    return [
      (_time: number, key: string, value: number) => {
        const at = state.offsetOf(key);
        const columns = state.columns;
        const count = (columns[at] as number) + 1;
        const total = (columns[at + 1] as number) + value;
        const before = value - (columns[at + 2] as number);
        const mean = (columns[at + 2] as number) + before / count;
        const squares = (columns[at + 3] as number) + before * (value - mean);
        columns[at] = count;
        columns[at + 1] = total;
        columns[at + 2] = mean;
        columns[at + 3] = squares;
        if (count < size) return;
        output({ key, total, mean, spread: Math.sqrt(squares / (count - 1)) }, total);
        columns.fill(0, at, at + COLUMNS);
      },
    ];
  };

const LIVE_MAX = 1 << 17;

/**
 * The last minute of all keys in one ring; what leaves it is taken from the columns of its key: count, sum, and the sums of
 * distances and of their squares from the key's first value. At every slide each key with anything in the minute gives a result.
 */
export function slidingBound(sizeMs: number, slideMs: number): MakeMicroBound {
  return (output) => {
    const state = new KeyColumns();
    const firsts: number[] = [];
    const times = new Float64Array(LIVE_MAX);
    const offsets = new Int32Array(LIVE_MAX);
    const values = new Float64Array(LIVE_MAX);
    let oldest = 0;
    let next = 0;
    let end = Number.NaN;
    const add = (at: number, value: number, sign: number): void => {
      const columns = state.columns;
      const distance = value - (firsts[at / COLUMNS] as number);
      columns[at] = (columns[at] as number) + sign;
      columns[at + 1] = (columns[at + 1] as number) + sign * value;
      columns[at + 2] = (columns[at + 2] as number) + sign * distance;
      columns[at + 3] = (columns[at + 3] as number) + sign * distance * distance;
    };
    const slide = (): void => {
      for (; oldest !== next && (times[oldest] as number) < end - sizeMs; oldest = (oldest + 1) & (LIVE_MAX - 1)) {
        add(offsets[oldest] as number, values[oldest] as number, -1);
      }
      const { keys, columns } = state;
      for (let slot = 0, at = 0; slot < keys.length; slot++, at += COLUMNS) {
        const count = columns[at] as number;
        if (count === 0) continue;
        const total = columns[at + 1] as number;
        const distance = (columns[at + 2] as number) / count;
        const spread = Math.sqrt(((columns[at + 3] as number) - count * distance * distance) / (count - 1));
        output({ key: keys[slot], total, mean: total / count, spread }, total);
      }
      end += slideMs;
    };
    return [
      (time: number, key: string, value: number) => {
        if (Number.isNaN(end)) end = Math.floor(time / slideMs) * slideMs + slideMs;
        while (time >= end) slide();
        const at = state.offsetOf(key);
        firsts[at / COLUMNS] ??= value;
        times[next] = time;
        offsets[next] = at;
        values[next] = value;
        next = (next + 1) & (LIVE_MAX - 1);
        add(at, value, 1);
      },
    ];
  };
}

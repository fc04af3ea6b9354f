import type { MakeMicroBound } from '../case.ts';

const NEAR_MS = 5_000;
const LEAST = 90;

interface Row {
  readonly time: number;
  readonly value: number;
}

/** The newest A and the newest B of each key within five seconds; whichever comes meets the other. */
export const latestBound: MakeMicroBound = (output) => {
  const newestA = new Map<string, Row>();
  const newestB = new Map<string, Row>();
  const isNear = (one: Row | undefined, time: number): one is Row => one !== undefined && time - one.time <= NEAR_MS;
  return [
    (time: number, key: string, value: number) => {
      newestA.set(key, { time, value });
      const other = newestB.get(key);
      if (value > 0 && isNear(other, time) && other.value > LEAST) output({ key, a: value, b: other.value }, other.value);
    },
    (time: number, key: string, value: number) => {
      newestB.set(key, { time, value });
      const other = newestA.get(key);
      if (value > LEAST && isNear(other, time) && other.value > 0) output({ key, a: other.value, b: value }, value);
    },
  ];
};

/** Rows of one key, oldest first; what is too old leaves when the key is touched. */
class Side {
  #rows: Row[] = [];
  #oldest = 0;

  add(row: Row): void {
    this.#rows.push(row);
  }

  /** Those that are near this time. */
  near(time: number): readonly Row[] {
    const rows = this.#rows;
    while (this.#oldest < rows.length && time - (rows[this.#oldest] as Row).time > NEAR_MS) this.#oldest++;
    if (this.#oldest > 0) {
      this.#rows = rows.slice(this.#oldest);
      this.#oldest = 0;
    }
    return this.#rows;
  }
}

/** Every A and B of one key within five seconds; a row that can never meet anything is not kept. */
export const withinBound: MakeMicroBound = (output) => {
  const sidesOf = new Map<string, { readonly a: Side; readonly b: Side }>();
  const of = (key: string): { readonly a: Side; readonly b: Side } => {
    const known = sidesOf.get(key);
    if (known !== undefined) return known;
    const made = { a: new Side(), b: new Side() };
    sidesOf.set(key, made);
    return made;
  };
  return [
    (time: number, key: string, value: number) => {
      if (!(value > 0)) return;
      const { a, b } = of(key);
      a.add({ time, value });
      for (const other of b.near(time)) output({ key, a: value, b: other.value }, other.value);
    },
    (time: number, key: string, value: number) => {
      if (!(value > LEAST)) return;
      const { a, b } = of(key);
      b.add({ time, value });
      for (const other of a.near(time)) output({ key, a: other.value, b: value }, value);
    },
  ];
};

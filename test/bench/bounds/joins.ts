import type { MakeBound } from './bound.ts';
import { TICK } from './lines.ts';
import { Spread } from './spread.ts';

const NEAR_MS = 5_000;
const AMOUNT = 5_000;

/** The newest login and the newest payment of each user, in columns; whichever comes meets the other. */
export const temporalJoinBound: MakeBound = ({ names, output }) => {
  const logins: { readonly time: number[]; readonly ip: number[] } = { time: [], ip: [] };
  const payments: { readonly time: number[]; readonly ip: number[]; readonly amount: number[] } = { time: [], ip: [], amount: [] };
  const suspect = (time: number, user: number, loginIp: number, paymentIp: number, amount: number): void => {
    const fields = { user: names.text(user), login_ip: names.text(loginIp), payment_ip: names.text(paymentIp), amount };
    output('Suspicious', time, fields, amount);
  };
  const takeLogin = (time: number, user: number, ip: number): void => {
    logins.time[user] = time;
    logins.ip[user] = ip;
    const paymentIp = payments.ip[user];
    if (paymentIp === undefined || paymentIp === ip || time - (payments.time[user] as number) > NEAR_MS) return;
    const amount = payments.amount[user] as number;
    if (amount > AMOUNT) suspect(time, user, ip, paymentIp, amount);
  };
  const takePayment = (time: number, user: number, amount: number, ip: number): void => {
    payments.time[user] = time;
    payments.ip[user] = ip;
    payments.amount[user] = amount;
    if (!(amount > AMOUNT)) return;
    const loginIp = logins.ip[user];
    if (loginIp !== undefined && loginIp !== ip && time - (logins.time[user] as number) <= NEAR_MS)
      suspect(time, user, loginIp, ip, amount);
  };
  return {
    lines: [
      { type: 'Login', fields: { user: 'name', ip: 'name', device: 'name' }, take: takeLogin },
      { type: 'Payment', fields: { user: 'name', amount: 'number', ip: 'name', shop: 'name' }, take: takePayment },
    ],
  };
};

interface Average {
  readonly value: number;
  readonly time: number;
}

/** An exponential average that gives its value after every `size` prices, and the two newest of those. */
class Averages {
  readonly #size: number;
  readonly #weight: number;
  #count = 0;
  #value = 0;
  #time = 0;
  /** The two newest, oldest first. */
  #before: Average | undefined;
  #last: Average | undefined;

  constructor(size: number) {
    this.#size = size;
    this.#weight = 2 / (size + 1);
  }

  /** Whether this price completes an average. */
  add(price: number, time: number): boolean {
    this.#value = this.#count === 0 ? price : price * this.#weight + this.#value * (1 - this.#weight);
    this.#time = time;
    return ++this.#count === this.#size;
  }

  get isOpen(): boolean {
    return this.#count > 0;
  }

  close(): Average {
    this.#count = 0;
    const closed = { value: this.#value, time: this.#time };
    this.#before = this.#last;
    this.#last = closed;
    return closed;
  }

  get before(): Average | undefined {
    return this.#before;
  }

  get last(): Average | undefined {
    return this.#last;
  }
}

const GAP = 0.5;

/** Each new average meets the two newest of the other length. */
export const crossoverBound: MakeBound = ({ names, output }) => {
  const symbols: { readonly fast: Averages; readonly slow: Averages }[] = [];
  const meet = (symbol: number, { value: fast, time }: Average, { value: slow, time: other }: Average): void => {
    const strength = Math.abs(fast - slow);
    if (!(strength > GAP)) return;
    const fields = { symbol: names.text(symbol), fast, slow, signal: fast > slow ? 'buy' : 'sell', strength };
    output('Crossing', Math.max(time, other), fields, strength);
  };
  const closeFast = (symbol: number): void => {
    const { fast, slow } = symbols[symbol] as (typeof symbols)[number];
    const closed = fast.close();
    if (slow.before !== undefined) meet(symbol, closed, slow.before);
    if (slow.last !== undefined) meet(symbol, closed, slow.last);
  };
  const closeSlow = (symbol: number): void => {
    const { fast, slow } = symbols[symbol] as (typeof symbols)[number];
    const closed = slow.close();
    if (fast.before !== undefined) meet(symbol, fast.before, closed);
    if (fast.last !== undefined) meet(symbol, fast.last, closed);
  };
  return {
    lines: [
      {
        ...TICK,
        take(time, symbol, price) {
          symbols[symbol] ??= { fast: new Averages(12), slow: new Averages(26) };
          const { fast, slow } = symbols[symbol];
          const isFastDone = fast.add(price, time);
          const isSlowDone = slow.add(price, time);
          if (isFastDone) closeFast(symbol);
          if (isSlowDone) closeSlow(symbol);
        },
      },
    ],
    end() {
      symbols.forEach(({ fast }, symbol) => void (fast.isOpen && closeFast(symbol)));
      symbols.forEach(({ slow }, symbol) => void (slow.isOpen && closeSlow(symbol)));
    },
  };
};

interface Reading {
  readonly mean: number;
  readonly spread: number;
  readonly time: number;
}

/** Values of one kind by place: windows of a hundred, and the newest window whose spread was large enough. */
class Places {
  readonly #least: number;
  readonly #windows: Spread[] = [];
  readonly newest: Reading[] = [];

  constructor(least: number) {
    this.#least = least;
  }

  /** What the value completes, if its spread is large enough. */
  add(place: number, value: number, time: number): Reading | undefined {
    this.#windows[place] ??= new Spread();
    const window = this.#windows[place];
    window.add(value, time);
    return window.count === 100 ? this.close(place) : undefined;
  }

  close(place: number): Reading | undefined {
    const { mean, deviation: spread, time } = this.#windows[place] as Spread;
    this.#windows[place]?.clear();
    if (!(spread > this.#least)) return undefined;
    const reading = { mean, spread, time };
    this.newest[place] = reading;
    return reading;
  }

  /** Places with an unfinished window, by its last value. */
  open(): number[] {
    const open = this.#windows.flatMap((window, place) => (window.count > 0 ? [{ place, time: window.time }] : []));
    return open.sort((a, b) => a.time - b.time).map(({ place }) => place);
  }
}

const SENSORS_NEAR_MS = 30_000;
const SCORE = 0.5;

/** The newest windows of warmth and load at each place; whichever closes meets the other. */
export const sensorsBound: MakeBound = ({ names, output }) => {
  const warmths = new Places(5);
  const loads = new Places(10);
  const meet = (place: number, warmth: Reading | undefined, load: Reading | undefined): void => {
    if (warmth === undefined || load === undefined || Math.abs(warmth.time - load.time) > SENSORS_NEAR_MS) return;
    const score = (warmth.spread / 10) * (load.spread / 20);
    if (!(score > SCORE)) return;
    const numbers = { warmth: warmth.mean, warmth_spread: warmth.spread, load: load.mean, load_spread: load.spread, score };
    output('Anomaly', Math.max(warmth.time, load.time), { place: names.text(place), ...numbers }, score);
  };
  const fields = { sensor: 'name', place: 'name', value: 'number' } as const;
  const meetWarmth = (place: number, warmth: Reading | undefined): void => meet(place, warmth, loads.newest[place]);
  const meetLoad = (place: number, load: Reading | undefined): void => meet(place, warmths.newest[place], load);
  return {
    lines: [
      { type: 'Temperature', fields, take: (time, _, place, value) => meetWarmth(place, warmths.add(place, value, time)) },
      { type: 'Pressure', fields, take: (time, _, place, value) => meetLoad(place, loads.add(place, value, time)) },
    ],
    end() {
      for (const place of warmths.open()) meetWarmth(place, warmths.close(place));
      for (const place of loads.open()) meetLoad(place, loads.close(place));
    },
  };
};

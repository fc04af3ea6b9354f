import type { MakeBound } from './bound.ts';
import {
  TO_AMOUNT,
  TO_DEVICE,
  TO_IP,
  TO_LOGIN_USER,
  TO_PAYMENT_USER,
  TO_PLACE,
  TO_PRESSURE_SENSOR,
  TO_PRICE,
  TO_SHOP,
  TO_TEMPERATURE_SENSOR,
  TO_TICK_SYMBOL,
  TO_VALUE,
  TO_VOLUME,
} from './line-words.ts';
import { Spread } from './spread.ts';

const LOGIN = 'L'.charCodeAt(0);
const TEMPERATURE = 'T'.charCodeAt(0);

interface Login {
  readonly time: number;
  readonly ip: number;
}

interface Payment extends Login {
  readonly amount: number;
}

const NEAR_MS = 5_000;
const AMOUNT = 5_000;

/** The newest login and the newest payment of each user; whichever comes meets the other. */
export const temporalJoinBound: MakeBound = ({ line, names, output }) => {
  const logins: Login[] = [];
  const payments: Payment[] = [];
  const meet = (user: number, time: number, login: Login | undefined, payment: Payment | undefined): void => {
    if (login === undefined || payment === undefined || Math.abs(login.time - payment.time) > NEAR_MS) return;
    const { amount, ip } = payment;
    if (!(amount > AMOUNT) || ip === login.ip) return;
    const fields = { user: names.text(user), login_ip: names.text(login.ip), payment_ip: names.text(ip), amount };
    output('Suspicious', time, fields, amount);
  };
  return {
    event(time) {
      if (line.type() === LOGIN) {
        const user = line.name(TO_LOGIN_USER);
        const login = { time, ip: line.name(TO_IP) };
        line.name(TO_DEVICE);
        logins[user] = login;
        meet(user, time, login, payments[user]);
      } else {
        const user = line.name(TO_PAYMENT_USER);
        const amount = line.number(TO_AMOUNT);
        const payment = { time, amount, ip: line.name(TO_IP) };
        line.name(TO_SHOP);
        payments[user] = payment;
        meet(user, time, logins[user], payment);
      }
      line.endLine();
    },
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
export const crossoverBound: MakeBound = ({ line, names, output }) => {
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
    event(time) {
      const symbol = line.name(TO_TICK_SYMBOL);
      const price = line.number(TO_PRICE);
      line.number(TO_VOLUME);
      line.endLine();
      symbols[symbol] ??= { fast: new Averages(12), slow: new Averages(26) };
      const { fast, slow } = symbols[symbol];
      const isFastDone = fast.add(price, time);
      const isSlowDone = slow.add(price, time);
      if (isFastDone) closeFast(symbol);
      if (isSlowDone) closeSlow(symbol);
    },
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
export const sensorsBound: MakeBound = ({ line, names, output }) => {
  const warmths = new Places(5);
  const loads = new Places(10);
  const meet = (place: number, warmth: Reading | undefined, load: Reading | undefined): void => {
    if (warmth === undefined || load === undefined || Math.abs(warmth.time - load.time) > SENSORS_NEAR_MS) return;
    const score = (warmth.spread / 10) * (load.spread / 20);
    if (!(score > SCORE)) return;
    const numbers = { warmth: warmth.mean, warmth_spread: warmth.spread, load: load.mean, load_spread: load.spread, score };
    output('Anomaly', Math.max(warmth.time, load.time), { place: names.text(place), ...numbers }, score);
  };
  const meetWarmth = (place: number, warmth: Reading | undefined): void => meet(place, warmth, loads.newest[place]);
  const meetLoad = (place: number, load: Reading | undefined): void => meet(place, warmths.newest[place], load);
  return {
    event(time) {
      const isWarmth = line.type() === TEMPERATURE;
      line.name(isWarmth ? TO_TEMPERATURE_SENSOR : TO_PRESSURE_SENSOR);
      const place = line.name(TO_PLACE);
      const value = line.number(TO_VALUE);
      line.endLine();
      if (isWarmth) meetWarmth(place, warmths.add(place, value, time));
      else meetLoad(place, loads.add(place, value, time));
    },
    end() {
      for (const place of warmths.open()) meetWarmth(place, warmths.close(place));
      for (const place of loads.open()) meetLoad(place, loads.close(place));
    },
  };
};

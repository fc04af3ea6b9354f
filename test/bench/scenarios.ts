import { fileURLToPath } from 'node:url';
import type { MakeBound } from './bounds/bound.ts';
import { detectionBound } from './bounds/detection.ts';
import { filterBound, manyRulesBound } from './bounds/filters.ts';
import { crossoverBound, sensorsBound, temporalJoinBound } from './bounds/joins.ts';
import { risingRunBound, sequenceBound } from './bounds/patterns.ts';
import { aggregationBound, manyKeysBound } from './bounds/windows.ts';
import { type DetectionRule, detectionLine, detectionProgram, detectionRules } from './detection.ts';

/** A program, its events and the same work by hand. */
export interface Scenario {
  readonly name: string;
  readonly what: string;
  /** Event number `i` of `count` without its time, which is `i` ms; of a file of JSON lines the whole line. */
  readonly line: (i: number, count: number) => string;
  /** @default evt */
  readonly format?: 'evt' | 'jsonl';
  /** Path of a program that is made, not kept. */
  readonly program?: () => string;
  readonly bound: MakeBound;
  /** The number in each output that the checksum is made of. */
  readonly checked: string;
  /** Of the events asked for, where one event is so much work for the reference evaluator that all would take too long. @default 1 */
  readonly share?: number;
  /** More events are not worth their time. */
  readonly eventsMax?: number;
}

/** How many events a scenario has when this many are asked for. */
export function eventsOf({ share = 1 }: Pick<Scenario, 'share'>, asked: number): number {
  return Math.ceil(asked * share);
}

/** So many where the reference evaluator does not run. */
export function eventsOfGate({ eventsMax = Infinity }: Pick<Scenario, 'eventsMax'>, asked: number): number {
  return Math.min(asked, eventsMax);
}

/** Sigma-like rules over undeclared types. */
function detection(name: string, rules: readonly DetectionRule[], share: number): Scenario {
  return {
    name,
    what: `${rules.length.toLocaleString('en')} rules over texts, undeclared types`,
    line: (i) => detectionLine(i, rules),
    format: 'jsonl',
    program: () => detectionProgram(rules),
    bound: detectionBound(rules),
    checked: 'number',
    share,
    eventsMax: 100_000,
  };
}

/** The `.vpl` file of a scenario. */
export function programOf({ name, program }: Scenario, root = new URL('../..', import.meta.url)): string {
  return program?.() ?? fileURLToPath(new URL(`test/bench/programs/${name}.vpl`, root));
}

export const scenarios: readonly Scenario[] = [
  {
    name: '01-filter',
    what: 'filter and projection',
    line: (i) => tick(SYMBOLS[i % 3], 40 + (i % 100), 1000 + (i % 5000)),
    bound: filterBound,
    checked: 'price',
  },
  {
    name: '02-aggregation',
    what: 'count window of 100, three aggregates',
    line: (i) => `Trade { symbol: "ACME", price: ${decimal(100 + (i % 50) * 0.1)}, volume: ${decimal(100 + (i % 900))} }`,
    bound: aggregationBound,
    checked: 'average',
  },
  {
    name: '03-temporal-join',
    what: 'join within 5 s, newest per user',
    line: loginOrPayment,
    bound: temporalJoinBound,
    checked: 'amount',
  },
  {
    name: '04-rising-run',
    what: 'first, rising+, last within 60 s',
    line: (i) => tick(SYMBOLS[i % 2], 100 + Math.floor(i / 10) * 10 + (i % 10), 1000),
    bound: risingRunBound,
    checked: 'to_price',
  },
  {
    name: '05-crossover',
    what: 'two moving averages, joined',
    line: (i) => tick('AAPL', 100 + Math.sin(i / 100) * 10 + (i % 5) * 0.1, 1000),
    bound: crossoverBound,
    checked: 'strength',
  },
  {
    name: '06-sensors',
    what: 'two spreads, joined within 30 s',
    line: temperatureOrPressure,
    bound: sensorsBound,
    checked: 'score',
  },
  {
    name: '07-sequence',
    what: 'A then B, one open run',
    line: (i) => `${i % 2 === 0 ? 'A' : 'B'} { id: ${i >> 1} }`,
    bound: sequenceBound,
    checked: 'second',
  },
  {
    name: '08-open-runs',
    what: 'A then B, 1,000 open runs',
    line: (i) => blockOf(i, 1_000),
    bound: sequenceBound,
    checked: 'second',
  },
  {
    name: '09-many-rules',
    what: '1,000 filters on one type',
    line: (i) => tick(`S${scattered(i) & 1023}`, 40 + (i % 100), 1000),
    bound: manyRulesBound,
    checked: 'price',
    share: 0.05,
  },
  {
    name: '10-many-keys',
    what: 'count windows of 5, a tenth as many keys as events',
    line: (i, count) => `Reading { device: "dev-${scattered(i) % Math.ceil(count / 10)}", value: ${decimal(20 + (i % 30))} }`,
    bound: manyKeysBound,
    checked: 'spread',
  },
  detection('11-detection', detectionRules(500), 0.01),
  detection('11-detection-5000', detectionRules(5_000), 0.001),
];

const SYMBOLS: readonly string[] = ['AAPL', 'GOOG', 'MSFT'];

/** A number as a float of an event file. */
function decimal(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Whole numbers below 2^32 in an order that looks random, the same in every run (Knuth's multiplicative hash). */
function scattered(i: number): number {
  return Math.imul(i, 2654435761) >>> 0;
}

function tick(symbol: string | undefined, price: number, volume: number): string {
  return `Tick { symbol: "${symbol}", price: ${decimal(price)}, volume: ${volume} }`;
}

function loginOrPayment(i: number): string {
  if (i % 3 === 0) return `Login { user: "user_${i % 100}", ip: "192.168.1.${i % 255}", device: "mobile" }`;
  const amount = decimal(1000 + (i % 10000));
  return `Payment { user: "user_${(i - 1) % 100}", amount: ${amount}, ip: "192.168.1.${(i + 50) % 255}", shop: "Store" }`;
}

function temperatureOrPressure(i: number): string {
  const place = `zone_${i % 5}`;
  const [type, sensor, value] =
    i % 2 === 0
      ? ['Temperature', `temp_${i % 10}`, 20 + (i % 30) + (i % 50 === 0 ? 5 : 0)]
      : ['Pressure', `press_${i % 10}`, 1000 + (i % 100) + (i % 50 === 0 ? 20 : 0)];
  return `${type} { sensor: "${sensor}", place: "${place}", value: ${decimal(Number(value))} }`;
}

/** As many As as runs shall be open, then their Bs, and so on. */
function blockOf(i: number, runs: number): string {
  const block = Math.floor(i / (2 * runs));
  const at = i % (2 * runs);
  return `${at < runs ? 'A' : 'B'} { id: ${block * runs + (at % runs)} }`;
}

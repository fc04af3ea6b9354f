import { equalityBound, filterBound, type Range, rangesBound } from './bounds/filters.ts';
import { latestBound, withinBound } from './bounds/joins.ts';
import { chainBound, closureBound, trendsBound } from './bounds/patterns.ts';
import { slidingBound, tumblingBound } from './bounds/windows.ts';
import type { MakeMicroBound, MicroCase, MicroType, NextEvent } from './case.ts';
import { seeded } from './seeded.ts';

const KEYED: readonly MicroType[] = [{ name: 'T', fields: ['key', 'value'] }];
const KEYED_DECLARED = 'event T:\n    key: str\n    value: float\n';
const LETTERS: readonly MicroType[] = ['A', 'B', 'C'].map((name) => ({ name, fields: ['id', 'value'] }));
const LETTERS_DECLARED = declared(LETTERS, 'id: int', 'value: int');
const RULES = 1_000;
const CLOSURE_MS = 100;
/** A beginning and what follows it. */
const TREND_EVENTS = 21;
const BLOCK = 100_000;
/** Of events that cost much, or give much. */
const SMALL_BLOCK = 20_000;
/** What a push must take at most in 99 of 100 cases. */
const P99 = { gateNs: 2_000, targetNs: 500 };

const thresholds = new Map(
  ((random) => Array.from({ length: RULES }, (_, i): [string, number] => [`K${i}`, 500 + random(500)]))(seeded(5)),
);
const ranges = ((random) =>
  Array.from({ length: RULES }, (): Range => {
    const above = random(9_900) / 10;
    return { above, below: above + 10 };
  }))(seeded(6));

export const microCases: readonly MicroCase[] = [
  {
    name: 'filter',
    what: 'filter and projection',
    program: `${KEYED_DECLARED}stream S = T.where(value > 50.0).emit(key: key, value: value)\n`,
    types: KEYED,
    before: 0,
    block: BLOCK,
    events: keyed({ keys: 100 }),
    bound: filterBound,
    checked: 'value',
    p99: P99,
  },
  { ...chain(100), p99: P99 },
  chain(10_000),
  {
    name: 'filters-1000',
    what: '1,000 equality filters on one type',
    program: `${KEYED_DECLARED}${[...thresholds].map(([key, least], i) => `stream S${i} = T.where(key == "${key}" and value > ${least}.0).emit(key: key, value: value)\n`).join('')}`,
    types: KEYED,
    before: 0,
    block: SMALL_BLOCK,
    events: keyed({ keys: RULES, isRandom: true, scale: 10 }),
    bound: equalityBound(thresholds),
    checked: 'value',
  },
  {
    name: 'ranges-1000',
    what: '1,000 ranges on one type, of which 10 fit',
    program: `${KEYED_DECLARED}${ranges.map(({ above, below }, i) => `stream S${i} = T.where(value > ${decimal(above)} and value < ${decimal(below)}).emit(key: key, value: value)\n`).join('')}`,
    types: KEYED,
    before: 0,
    block: SMALL_BLOCK,
    events: keyed({ keys: 100, scale: 10 }),
    bound: rangesBound(ranges),
    checked: 'value',
  },
  { ...tumbling(1_000, 100), p99: P99, smallShare: 0.15 },
  { ...tumbling(100_000, 10), smallShare: 0.5 },
  sliding(1_000, 1),
  { ...sliding(100_000, 30), smallShare: 0.06 },
  closure('none', '', false),
  closure('any', '\n    .after_match(skip_past_last)', true),
  trends(1),
  trends(50),
  join('join-latest', 'newest of each side within 5 s, 1,000 keys', ', policy: latest', 1_000, latestBound),
  join('join-within', 'every pair within 5 s, 10,000 keys', '', 10_000, withinBound),
];

function declared(types: readonly MicroType[], ...fields: string[]): string {
  return types.map(({ name }) => `event ${name}:\n${fields.map((field) => `    ${field}\n`).join('')}`).join('');
}

function decimal(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** A, B and C of one id; a run begins when the oldest has ended, so the number of open ones stays. */
function chain(runs: number): MicroCase {
  return {
    name: `chain-${runs}`,
    what: `A -> B -> C by id, ${runs.toLocaleString('en-US')} open runs`,
    program: `${LETTERS_DECLARED}stream S = A as a -> B where id == a.id and value > a.value as b -> C where id == a.id as c\n    .within(60s)\n    .emit(id: a.id, value: b.value)\n`,
    types: LETTERS,
    before: runs,
    block: BLOCK,
    events: () => (i, event) => {
      const step = i < runs ? 2 : (i - runs) % 3;
      event.type = (step + 1) % 3;
      event.time = i;
      event.first = i < runs ? i : Math.floor((i - runs) / 3) + (step === 2 ? runs : 0);
      event.second = step === 0 ? 2 : 1;
    },
    bound: chainBound,
    checked: 'value',
  };
}

function tumbling(keys: number, size: number): MicroCase {
  return {
    name: `tumbling-${keys}`,
    what: `count window of ${size}, ${keys.toLocaleString('en-US')} keys`,
    program: windowed(`.window(${size})`),
    types: KEYED,
    before: keys,
    block: BLOCK,
    events: keyed({ keys, isRandom: true }),
    bound: tumblingBound(size),
    checked: 'total',
  };
}

/** One event per ms; slides as long as one or two results come for each event. */
function sliding(keys: number, slideSeconds: number): MicroCase {
  return {
    name: `sliding-${keys}`,
    what: `window of 60 s every ${slideSeconds} s, ${keys.toLocaleString('en-US')} keys`,
    program: windowed(`.window(60s, sliding: ${slideSeconds}s)`),
    types: KEYED,
    before: 60_000,
    block: 60_000,
    events: keyed({ keys, isRandom: true }),
    bound: slidingBound(60_000, slideSeconds * 1_000),
    checked: 'total',
  };
}

function windowed(window: string): string {
  const aggregates = 'total: sum(value), mean: avg(value), spread: stddev(value)';
  return `${KEYED_DECLARED}stream S = T.partition_by(key)${window}.aggregate(${aggregates})\n    .emit(key: key, total: total, mean: mean, spread: spread)\n`;
}

/** Types at random, one event per ms: a hundred events are within the time. */
function closure(consumed: string, after: string, isAny: boolean): MicroCase {
  return {
    name: `closure-${consumed}`,
    what: `A -> B+ -> C within 100 events, a match ends ${isAny ? 'all runs' : 'its own run'}`,
    program: `${LETTERS_DECLARED}stream S = A as a -> B+ as b -> C as c\n    .within(${CLOSURE_MS}ms)${after}\n    .emit(id: a.id, taken: count(b))\n`,
    types: LETTERS,
    before: 1_000,
    block: BLOCK,
    events: () => {
      const random = seeded(11);
      return (i, event) => {
        event.type = random(3);
        event.time = i;
        event.first = i;
        event.second = 1;
      };
    },
    bound: closureBound(CLOSURE_MS, isAny),
    checked: 'taken',
  };
}

/** One beginning, then twenty Bs, and so on; beginnings in turn. */
function trends(queries: number): MicroCase {
  const beginnings = Math.min(queries, 10);
  const types = [...Array.from({ length: beginnings }, (_, i) => `A${i}`), 'B'].map((name) => ({ name, fields: ['id', 'value'] }));
  const stream = (query: number): string =>
    `stream S${query} = A${query % beginnings} as a -> B+ as b\n    .window(${TREND_EVENTS}ms)\n    .trend_aggregate(trends: count_trends())\n    .emit(trends: trends)\n`;
  return {
    name: `trends-${queries}`,
    what: `trends of A -> B+ over 20 Bs, ${queries === 1 ? '1 query' : `${queries} queries`}`,
    program: `${declared(types, 'id: int', 'value: int')}${Array.from({ length: queries }, (_, query) => stream(query)).join('')}`,
    types,
    before: TREND_EVENTS * 10,
    block: queries === 1 ? BLOCK : SMALL_BLOCK,
    events: () => (i, event) => {
      const isFirst = i % TREND_EVENTS === 0;
      event.type = isFirst ? (i / TREND_EVENTS) % beginnings : beginnings;
      event.time = i;
      event.first = i;
      event.second = 1;
    },
    bound: trendsBound(TREND_EVENTS, beginnings, queries),
    checked: 'trends',
  };
}

function join(name: string, what: string, policy: string, keys: number, bound: MakeMicroBound): MicroCase {
  const types = ['A', 'B'].map((type) => ({ name: type, fields: ['key', 'value'] }));
  return {
    name,
    what,
    program: `${declared(types, 'key: str', 'value: int')}stream S = join(A, B).on(A.key == B.key).window(5s${policy}).where(A.value > 0 and B.value > 90)\n    .emit(key: A.key, a: A.value, b: B.value)\n`,
    types,
    before: 10_000,
    block: BLOCK,
    events: () => {
      const names = keyNames(keys);
      const random = seeded(7);
      return (i, event) => {
        event.type = random(2);
        event.time = i;
        event.first = names[random(keys)] as string;
        event.second = random(100);
      };
    },
    bound,
    checked: 'b',
  };
}

interface Keyed {
  readonly keys: number;
  /** Keys at random rather than in turn. */
  readonly isRandom?: boolean;
  /** Of values from 0 to 100. */
  readonly scale?: number;
}

/** Events of one type, one per ms. */
function keyed({ keys, isRandom = false, scale = 1 }: Keyed): () => NextEvent {
  return () => {
    const names = keyNames(keys);
    const random = seeded(1);
    return (i, event) => {
      event.type = 0;
      event.time = i;
      event.first = names[isRandom ? random(keys) : i % keys] as string;
      event.second = (random(10_000) / 100) * scale;
    };
  };
}

function keyNames(keys: number): string[] {
  return Array.from({ length: keys }, (_, i) => `K${i}`);
}

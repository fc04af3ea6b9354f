import type { InputEvent } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import { seeded } from './seeded.ts';

/** A program and events made in memory: what a push costs without reading and writing. */
export interface MicroCase {
  readonly name: string;
  readonly what: string;
  readonly program: string;
  /** Events that bring the engine to the state in which it is measured: open runs, keys, full windows. */
  readonly before: number;
  /** Events that are measured. */
  readonly events: number;
  readonly event: () => (i: number) => InputEvent;
}

export const microCases: readonly MicroCase[] = [
  {
    name: 'filter',
    what: 'filter and projection, one push',
    program: 'event T:\n    key: int\n    value: float\nstream S = T.where(value > 50.0).emit(key: key, value: value)\n',
    before: 20_000,
    events: 300_000,
    event: keyed(100),
  },
  chain(100),
  chain(10_000),
  {
    name: 'filters-1000',
    what: '1,000 equality filters on one type',
    program:
      'event T:\n    key: int\n    value: float\nfor i in 0..1000:\n    stream S{i} = T.where(key == {i} and value > 90.0).emit(key: key)\n',
    before: 500,
    events: 5_000,
    event: keyed(1_000),
  },
  tumbling(1_000),
  tumbling(100_000),
  {
    name: 'sliding-60s',
    what: 'window of 60 s every second, 1,000 keys, 100 events per second',
    program: windowed('.window(60s, sliding: 1s)'),
    before: 7_000,
    events: 10_000,
    event: keyed(1_000, 10),
  },
  {
    name: 'closure',
    what: 'A -> B+ -> C, twenty Bs, longest',
    program: `${declaredLetters()}stream S = A as a -> B+ where id == a.id as b -> C where id == a.id as c\n    .within(60s)\n    .emit(id: a.id, taken: count(b))\n`,
    before: 22_000,
    events: 220_000,
    event: () => (i) => letter(i % 22 === 0 ? 'A' : i % 22 === 21 ? 'C' : 'B', Math.floor(i / 22), i),
  },
  join('join-latest', 'newest of each side within 5 s, 1,000 keys', 'policy: latest', 1_000),
  join('join-within', 'every pair within 5 s, 1,000 keys', '', 1_000),
];

function declaredLetters(): string {
  return ['A', 'B', 'C'].map((type) => `event ${type}:\n    id: int\n    value: int\n`).join('');
}

/** A, B and C of one id; a run begins when the oldest has ended, so the number of open ones stays. */
function chain(runs: number): MicroCase {
  return {
    name: `chain-${runs}`,
    what: `A -> B -> C by id, ${runs.toLocaleString('en-US')} open runs`,
    program: `${declaredLetters()}stream S = A as a -> B where id == a.id and value > a.value as b -> C where id == a.id as c\n    .within(60s)\n    .emit(id: a.id, value: b.value)\n`,
    before: runs,
    events: 150_000,
    event: () => (i) => {
      if (i < runs) return letter('A', i, i);
      const id = Math.floor((i - runs) / 3);
      const step = (i - runs) % 3;
      return step === 2 ? letter('A', id + runs, i) : letter(step === 0 ? 'B' : 'C', id, i);
    },
  };
}

/** One event per ms; a B's value is above that of its A. */
function letter(type: string, id: number, time: number): InputEvent {
  return inputEvent(type, time, { id, value: type === 'B' ? 2 : 1 });
}

function tumbling(keys: number): MicroCase {
  return {
    name: `tumbling-${keys}`,
    what: `count window of 100, ${keys.toLocaleString('en-US')} keys`,
    program: windowed('.window(100)'),
    before: keys,
    events: 200_000,
    event: keyed(keys),
  };
}

function windowed(window: string): string {
  const aggregates = 'total: sum(value), mean: avg(value), spread: stddev(value)';
  return `event T:\n    key: int\n    value: float\nstream S = T.partition_by(key)${window}.aggregate(${aggregates})\n    .emit(key: key, total: total, mean: mean, spread: spread)\n`;
}

function join(name: string, what: string, policy: string, keys: number): MicroCase {
  const window = policy === '' ? '.window(5s)' : `.window(5s, ${policy})`;
  return {
    name,
    what,
    program: `${declaredLetters()}stream S = join(A, B).on(A.id == B.id)${window}.where(A.value > 0 and B.value > 90)\n    .emit(id: A.id, a: A.value, b: B.value)\n`,
    before: 10_000,
    events: 100_000,
    event: () => {
      const random = seeded(7);
      return (i) => inputEvent(random(2) === 0 ? 'A' : 'B', i, { id: random(keys), value: random(100) });
    },
  };
}

/** Events of one type over so many keys, each with the same number of events before one comes again. */
function keyed(keys: number, everyMs = 1): () => (i: number) => InputEvent {
  return () => {
    const random = seeded(1);
    return (i) => inputEvent('T', i * everyMs, { key: i % keys, value: random(10_000) / 100 });
  };
}

function inputEvent(type: string, fallbackTime: number, fields: Readonly<Record<string, Value>>): InputEvent {
  return { type, fields: new Map(Object.entries(fields)), fallbackTime };
}

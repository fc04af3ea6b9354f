import type { Tape } from '../../../fuzz/tape.ts';

const HEAD = `event A:
    id: int
    u: str
    v: float
    ok: bool

event B extends A:
    w: float?

event K:
    id: int
    u: str
    v: float

event Z:
    n: int

connector Screen = console()
connector Away = http(url: "http://localhost/away")
`;

type Key = 'u' | 'id';

interface Made {
  readonly name: string;
  /** Its results have the key. */
  readonly isKeyed: boolean;
}

/** Random programs that mostly keep all they remember by one field, in every way there is. */
export function keyedProgram(tape: Tape): string {
  const key = tape.pick<Key>(['u', 'id']);
  const made: Made[] = [];
  const texts = tape.list(1, 4, (position) => {
    const { text, isKeyed } = stream(tape, `S${position}`, key, made);
    made.push({ name: `S${position}`, isKeyed });
    return text;
  });
  return `${[HEAD, ...texts].join('\n\n')}\n`;
}

function stream(tape: Tape, name: string, key: Key, before: readonly Made[]): { readonly text: string; readonly isKeyed: boolean } {
  const keyed = before.filter(({ isKeyed }) => isKeyed);
  const upstream = keyed[tape.below(Math.max(1, keyed.length))]?.name;
  return tape.pick([
    windowed,
    windowed,
    running,
    kept,
    sequence,
    sequence,
    equality,
    joined,
    upstream === undefined ? windowed : follower,
    bare,
  ])({
    tape,
    name,
    key,
    upstream: upstream ?? 'A',
  });
}

interface Needs {
  readonly tape: Tape;
  readonly name: string;
  readonly key: Key;
  readonly upstream: string;
}

const TYPES = ['A', 'K', 'B'] as const;

function source({ tape }: Needs): string {
  return tape.pick(['A', 'K', 'B', 'A', 'merge(A, K)', 'merge(A.where(v > 1.0), K)']);
}

function before(tape: Tape): string {
  return tape.pick(['', '', '\n    .where(v > 0.5)', '\n    .where(id / (id - 1) >= 0)', '\n    .where(id != 3)']);
}

function partition({ tape, key }: Needs): string {
  const expire = tape.chance(20) ? ', expire: 5s' : '';
  return `\n    .partition_by(${tape.chance(20) ? 'u, id' : key}${expire})`;
}

function behind(tape: Tape): string {
  const tap = tape.pick([
    '',
    '',
    '\n    .print(s)',
    '\n    .log(level: "warn", message: "seen {s}")',
    '\n    .tap(counter: "seen")',
    '\n    .to(Screen)',
  ]);
  return `${tap}${tape.pick(['', '', '\n    .to(Away)', '\n    .where(s / (n - 2) > 0)', '\n    .on_error(null)', '\n    .on_error(dlq)'])}`;
}

function windowed(needs: Needs): { text: string; isKeyed: boolean } {
  const { tape, name, key } = needs;
  const window = tape.pick(['3', '2', '3, sliding: 1', '2s', '1s', 'session: 1s', 'session: 700ms', '2s, align: first', '4s, sliding: 2s']);
  const emit = tape.pick([`.emit(${key}: ${key}, s: s, n: n)`, '.emit()', `.where(n > 1)\n    .emit(s: s, n: n, ${key}: ${key})`]);
  const aggregate = tape.pick([
    's: sum(v), n: count()',
    's: avg(v), n: count()',
    's: max(v), n: count_distinct(v)',
    's: median(v), n: count()',
  ]);
  const text = `stream ${name} = ${source(needs)}${before(tape)}${partition(needs)}\n    .window(${window})\n    .aggregate(${aggregate})${behind(tape)}\n    ${emit}`;
  return { text, isKeyed: true };
}

function running(needs: Needs): { text: string; isKeyed: boolean } {
  const { tape, name, key } = needs;
  const text = `stream ${name} = ${source(needs)}${before(tape)}${partition(needs)}\n    .aggregate(s: sum(v), n: count())${behind(tape)}\n    .emit(${key}: ${key}, s: s, n: n)`;
  return { text, isKeyed: true };
}

function kept(needs: Needs): { text: string; isKeyed: boolean } {
  const { tape, name, key } = needs;
  const operator = tape.pick([
    '.distinct(v, within: 3s)',
    '.dedupe(v, within: 2s)',
    '.throttle(2, per: 2s)',
    '.limit(4)',
    '.distinct(v)',
    '.limit(1)',
  ]);
  return {
    text: `stream ${name} = ${source(needs)}${before(tape)}${partition(needs)}\n    ${operator}\n    .emit(${key}: ${key}, v: v, id2: id)`,
    isKeyed: true,
  };
}

function sequence(needs: Needs): { text: string; isKeyed: boolean } {
  const { tape, name, key } = needs;
  const [one, two, three] = [tape.pick(TYPES), tape.pick(TYPES), tape.pick(TYPES)];
  const middle = tape.pick([
    `${two} as b`,
    `${two}+ where v > a.v as b`,
    `${two} where v > a.v as b`,
    `NOT ${two} where v > a.v -> ${three} as b`,
    `${two}{1,2} as b`,
    `${two}? as b`,
  ]);
  const policy = tape.pick([
    '',
    '',
    '\n    .strict()',
    '\n    .stam()',
    '\n    .each()',
    '\n    .after_match(skip_past_last)',
    '\n    .after_match(no_skip)',
    '\n    .not(D)',
    '\n    .max_runs(4)',
    '\n    .max_runs(9)',
    '\n    .max_closure(3)',
  ]);
  const alias = tape.pick(['a', 'c']);
  const text = `stream ${name} = ${one} as a -> ${middle} -> ${three} as c\n    .within(${1 + tape.below(5)}s)\n    .partition_by(${key})${policy}\n    .emit(${key}: ${alias}.${key}, v: a.v, id2: c.id, took: match_duration_ms, m: match_id)`;
  return { text, isKeyed: true };
}

function equality({ tape, name, key }: Needs): { text: string; isKeyed: boolean } {
  const [one, two, three] = [tape.pick(TYPES), tape.pick(TYPES), tape.pick(TYPES)];
  const other = tape.pick(['', ` -> ${three} where ${key} == b.${key} as c`, ` -> ${three} where v > b.v and ${key} == a.${key} as c`]);
  const most = tape.pick(['', '', '\n    .max_runs(5)']);
  const within = tape.chance(80) ? `\n    .within(${1 + tape.below(5)}s)` : '\n    .within(1h)';
  const text = `stream ${name} = ${one} as a -> ${two}${tape.chance(20) ? '+' : ''} where ${key} == a.${key} as b${other}${within}${most}\n    .emit(${key}: a.${key}, v: a.v, id2: b.id)`;
  return { text, isKeyed: true };
}

function joined({ tape, name, key, upstream }: Needs): { text: string; isKeyed: boolean } {
  const window = tape.pick(['3s', '2s, policy: latest', '2']);
  const right = tape.chance(60) || upstream === 'A' ? 'K' : upstream;
  const other = right === 'K' && tape.chance(30) ? ' and A.v > K.v' : '';
  const kind = window === '2' || tape.chance(90) ? 'join' : 'left_join';
  const text = `stream ${name} = ${kind}(A, ${right})\n    .on(A.${key} == ${right}.${key}${other})\n    .window(${window})\n    .emit(${key}: A.${key}, v: A.v, id2: A.id)`;
  return { text, isKeyed: true };
}

function follower({ tape, name, key, upstream }: Needs): { text: string; isKeyed: boolean } {
  const way = tape.pick([
    `\n    .partition_by(${key})\n    .window(2)\n    .aggregate(s: count())\n    .emit(${key}: ${key}, s: s)`,
    `\n    .partition_by(${key})\n    .aggregate(s: count())\n    .emit(${key}: ${key}, s: s)`,
    `\n    .partition_by(${key})\n    .limit(3)\n    .emit(${key}: ${key})`,
    `\n    .emit(${key}: ${key}, all: 1)`,
  ]);
  return { text: `stream ${name} = ${upstream}${way}`, isKeyed: true };
}

function bare({ tape, name }: Needs): { text: string; isKeyed: boolean } {
  const text = tape.pick([
    `stream ${name} = Z\n    .where(n > 2)\n    .emit(n: n)`,
    `stream ${name} = A\n    .where(ok)\n    .emit(v: v)`,
    `stream ${name} = Z\n    .limit(2)\n    .emit(n: n)`,
    `stream ${name} = D\n    .where(v > 1)\n    .emit(v: v)`,
  ]);
  return { text, isKeyed: false };
}

const USERS = [
  'a',
  'b',
  'é',
  '😀',
  '',
  '1',
  'null',
  'a long name that is no key of any table, as it has more than sixty-four bytes',
  'c',
  'd',
];

/** A line of an event file: mostly an event, sometimes late, odd, or none. */
export function keyedLine(tape: Tape, at: number): string {
  const time = Math.max(0, at * 250 - (tape.chance(10) ? tape.below(4000) : 0));
  const offset = tape.chance(92) ? `@${time} ` : '';
  const id = tape.pick(['1', '2', '3', '4', '1.0', '2.0']);
  const user = JSON.stringify(tape.chance(85) ? USERS[tape.below(4)] : USERS[tape.below(USERS.length)]);
  const v = `${tape.below(9)}.${tape.below(2) * 5}`;
  const type = tape.pick(['A', 'K', 'B', 'A', 'K']);
  const more = type === 'K' ? '' : `, ok: ${tape.chance(50)}${type === 'B' && tape.chance(50) ? `, w: ${v}` : ''}`;
  if (tape.chance(82)) return `${offset}${type} { id: ${id}, u: ${user}, v: ${v}${more} }`;
  return tape.pick([
    `${offset}${type} { id: ${id}, v: ${v}${more} }`,
    `${offset}${type} { u: ${user}, v: ${v}${more} }`,
    `${offset}${type} { id: null, u: null, v: ${v}${more} }`,
    `${offset}${type} { id: "1", u: ${user}, v: ${v}${more} }`,
    `${offset}${type} { id: ${id}, u: 1, v: ${v}${more} }`,
    `${offset}${type} { id: ${id}, u: ${user}, v: "x"${more} }`,
    `${offset}${type} { id: ${id}, u: ${user}, v: ${v}${more}, extra: [1] }`,
    `${offset}${type} { v: ${v}, id: ${id}, u: ${user}${more} }`,
    `${offset}Z { n: ${tape.below(9)} }`,
    `${offset}D { id: ${tape.pick(['1', '"1"', 'true', 'null', '[1]', '1.5'])}, u: ${user}, v: ${tape.pick(['2', '"t"', 'null'])} }`,
    `${offset}Unread { x: 1 }`,
    `${offset}A { id: 1`,
    `BATCH ${at * 250}`,
    '# a comment',
    '\u0000',
  ]);
}

/** The same of a file of JSON lines. */
export function keyedJsonLine(tape: Tape, at: number): string {
  const timestamp = 1_700_000_000_000 + Math.max(0, at * 250 - (tape.chance(10) ? tape.below(4000) : 0));
  const time = tape.chance(92) ? { timestamp } : {};
  const type = tape.pick(['A', 'K', 'B', 'A', 'K']);
  const user = tape.chance(85) ? USERS[tape.below(4)] : USERS[tape.below(USERS.length)];
  const more = type === 'K' ? {} : { ok: tape.chance(50) };
  const data = { id: 1 + tape.below(4), u: user, v: tape.below(18) / 2, ...more };
  const event = { event_type: type, ...time, data };
  if (tape.chance(85) || at === 0) return JSON.stringify(event);
  return tape.pick([
    JSON.stringify({ ...event, data: { ...data, u: undefined } }),
    JSON.stringify({ ...event, data: { ...data, id: null, u: null } }),
    JSON.stringify({ ...event, data: { ...data, id: String(data.id) } }),
    JSON.stringify({ ...event, data: { ...data, id: true, u: 1 } }),
    JSON.stringify(event).replace('"v":', '"v": -0.0, "x":'),
    JSON.stringify({ event_type: type, ...time, ...data }),
    JSON.stringify({ event_type: 'Z', ...time, data: { n: tape.below(9) } }),
    JSON.stringify({ event_type: 'D', ...time, data: { id: [1], u: user, v: 2 } }),
    '{"event_type":',
    '',
  ]);
}

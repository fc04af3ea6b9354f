import { expression, type Kind, type Names } from './expressions.ts';
import type { Tape } from './tape.ts';
import { WHOLE_FIELDS } from './whole-fields.ts';

/**
 * Random programs, well-typed by construction as far as that goes: a few event types, functions, variables, and streams that
 * build on each other. `A` and `B` are declared, `D` is open and names its fields badly on purpose.
 */
export function program(tape: Tape): string {
  const functions = tape.list(0, 2, (position) => programFunction(tape, `f${position}`));
  const variables = tape.list(0, 1, (position) => `var seen${position} = ${tape.below(3)}`);
  const streams: Stream[] = [];
  const texts = tape.list(1, 5, (position) => {
    const made = stream(tape, `S${position}`, streams, functions.length);
    streams.push(made);
    return made.text;
  });
  return [declarations(tape), OF_ANYTHING, ...functions, ...variables, ...texts].join('\n\n').concat('\n');
}

/** What the one gives, and the other emits, are numbers by their declarations alone. */
const OF_ANYTHING = `fn number(x) -> float: x

fn give(id: int, v: float):
    emit A(id: id, v: v, s: f"{id}", ok: v is null)`;

/** Of some types the events come whole: one of their fields is neither number, text, bool nor time. */
function declarations(tape: Tape): string {
  const whole = tape.pick(['', '', 'A', 'B', 'K', 'AK']);
  const field = tape.pick(WHOLE_FIELDS);
  const own = (type: string): string => (whole.includes(type) ? `\n    ${field}` : '');
  return `event A:
    id: int
    v: float
    s: str
    ok: bool${own('A')}

event B extends A:
    w: float?
    at: timestamp?${own('B')}

event K:
    id: int
    v: float${own('K')}`;
}

interface Stream {
  readonly name: string;
  readonly text: string;
  /** Fields of its results by kind. */
  readonly names: Names;
}

const names = (num: string[], str: string[] = [], bool: string[] = [], any: string[] = [], functions: string[] = []): Names => ({
  num,
  str,
  bool,
  any,
  functions,
});

const BASIC = {
  A: names(['id', 'v'], ['s'], ['ok']),
  B: names(['id', 'v', 'w'], ['s'], ['ok']),
  K: names(['id', 'v']),
  D: names(['number(id)'], [], [], ['id', 'v', '__proto__', 'constructor']),
};
type EventType = keyof typeof BASIC;

function programFunction(tape: Tape, name: string): string {
  const body = tape.pick([
    () => `    return ${expression(tape, 'num', names(['x']), 2)}`,
    () => `    var total = 0\n    for i in 0..${1 + tape.below(4)}:\n        total := total + x * i\n    return total`,
    () =>
      `    if ${expression(tape, 'bool', names(['x']), 1)}:\n        return ${expression(tape, 'num', names(['x']), 1)}\n    ${expression(tape, 'num', names(['x']), 1)}`,
    () => `    var n = 0\n    while n < ${tape.below(5)}:\n        n := n + 1\n        if n == 3:\n            break\n    return n + x`,
    () => `    return if x > 20 then x else ${name}(x + 9)`,
  ])();
  return `fn ${name}(x: float) -> float:\n${body}`;
}

function stream(tape: Tape, name: string, before: readonly Stream[], functionCount: number): Stream {
  const functions = Array.from({ length: functionCount }, (_, i) => `f${i}`);
  const source = tape.pick([
    eventSource,
    eventSource,
    openSource,
    streamSource,
    mergeSource,
    patternSource,
    patternSource,
    joinSource,
    timerSource,
  ])(tape, before);
  const withFunctions = { ...source.names, functions };
  const lines = [`stream ${name} = ${source.text}`];
  const end = operators(tape, lines, withFunctions, source);
  return { name, text: lines.join('\n    '), names: end };
}

interface Source {
  readonly text: string;
  readonly names: Names;
  readonly isJoin: boolean;
  /** What a stream that ends without `.emit` hands on, where that is not what it reads; null = it is not tried. */
  readonly handedOn?: Names | null;
}

function eventSource(tape: Tape): Source {
  const type = tape.pick<EventType>(['A', 'B', 'K', 'D']);
  return { text: type, names: BASIC[type], isJoin: false };
}

function streamSource(tape: Tape, before: readonly Stream[]): Source {
  const upstream = before[tape.below(Math.max(1, before.length))];
  return upstream === undefined ? eventSource(tape) : { text: upstream.name, names: upstream.names, isJoin: false };
}

function mergeSource(tape: Tape): Source {
  return { text: `merge(A${tape.chance(40) ? `.where(${expression(tape, 'bool', BASIC.A, 1)})` : ''}, K)`, names: BASIC.K, isJoin: false };
}

function timerSource(tape: Tape): Source {
  return { text: `timer(${1 + tape.below(4)}s)`, names: names([]), isJoin: false };
}

function joinSource(tape: Tape): Source {
  const kind = tape.pick(['join', 'join', 'left_join', 'full_join']);
  const on = `A.id == K.id${kind === 'join' && tape.chance(40) ? ' and A.v > K.v' : ''}`;
  const window = kind === 'join' ? tape.pick(['.window(5s)', '.window(2s, policy: latest)', '.window(2)']) : '.window(3s)';
  return {
    text: `${kind}(A, K)\n    .on(${on})\n    ${window}`,
    names: names(['A.id', 'A.v', 'K.id', 'K.v'], ['A.s'], ['A.ok']),
    isJoin: true,
    handedOn: null,
  };
}

/** Rows of which a declared type is known, and nothing of what they hold. */
function openSource(tape: Tape): Source {
  return {
    text: tape.pick(['D.emit as A ()', 'D.select(id: number(id), v: number(v), s: f"{id}", ok: v is null)', 'D.process(give(id, v))']),
    names: BASIC.A,
    isJoin: false,
  };
}

const STEP_TYPES = ['A', 'K', 'B'] as const;

/** What must not come: a step, or one of two. */
function absent(tape: Tape, later: Names): string {
  const one = (): string => `${tape.pick(STEP_TYPES)}${where(tape, later)}`;
  return tape.chance(30) ? `(${one()} OR ${one()})` : one();
}

function patternSource(tape: Tape): Source {
  const own = BASIC.K;
  const later = names(['id', 'v', 'a.id', 'a.v']);
  const steps = [`${tape.pick(STEP_TYPES)}${where(tape, own)} as a`];
  const count = 1 + tape.below(2);
  const aliases = ['a'];
  for (let position = 0; position < count; position++) {
    const alias = `b${position}`;
    const quantifier = tape.pick(['', '', '', '+', '*', '?', '{1,2}']);
    const isLast = position === count - 1;
    if (tape.chance(15) && !isLast) steps.push(`NOT ${absent(tape, later)}`);
    steps.push(
      `${tape.pick(STEP_TYPES)}${quantifier}${quantifier === '+' && tape.chance(40) ? ` where v > ${alias}.v` : where(tape, later)} as ${alias}`,
    );
    aliases.push(alias);
  }
  const lines = [steps.join('\n    -> '), `.within(${1 + tape.below(9)}s)`];
  if (tape.chance(40)) lines.push('.partition_by(id)');
  const hasClosure = steps.some((step) => /[+*}]/.test(step.split(' ')[0] ?? ''));
  const policy = tape.pick(['', '', '', '.strict()', hasClosure ? '' : '.stam()', hasClosure ? '.each()' : '']);
  if (policy !== '') lines.push(policy);
  else if (tape.chance(25)) lines.push(`.after_match(${hasClosure ? 'no_skip' : tape.pick(['skip_past_last', 'skip_to_next'])})`);
  if (tape.chance(15)) lines.push('.not(D)');
  const fields = aliases.flatMap((alias) => [`${alias}.id`, `${alias}.v`]);
  const handedOn = names(['a_id', 'a_v', 'match_duration_ms']);
  return { text: lines.join('\n    '), names: names(fields), isJoin: true, handedOn };
}

function where(tape: Tape, scope: Names): string {
  return tape.chance(50) ? ` where ${expression(tape, 'bool', scope, 1)}` : '';
}

/** Appends operators to the lines of a stream; gives the names readable behind them. */
function operators(tape: Tape, lines: string[], start: Names, { isJoin: isBound, handedOn }: Source): Names {
  let known = start;
  let isKeyed = lines.some((line) => line.includes('.partition_by'));
  if (!isBound && known.num.includes('id') && tape.chance(40) && !isKeyed) {
    lines.push(`.partition_by(id${tape.chance(15) ? ', expire: 5s' : ''})`);
    isKeyed = true;
  }
  for (let n = tape.below(3); n > 0; n--) lines.push(rowOperator(tape, known));
  if (!isBound && tape.chance(45)) known = aggregation(tape, lines, known, isKeyed);
  for (let n = tape.below(2); n > 0; n--) lines.push(rowOperator(tape, known));
  if (tape.chance(30)) lines.push(`.on_error(${tape.pick(['skip', 'null'])})`);
  const bare = known === start && handedOn !== undefined ? handedOn : known;
  if (bare !== null && tape.chance(20)) return { ...bare, functions: start.functions };
  const items: [string, Kind][] = tape.list(1, 3, (position) => [
    `o${position}`,
    tape.pick<Kind>(['num', 'num', 'str', 'bool', 'any', 'list']),
  ]);
  lines.push(`.emit(${items.map(([name, kind]) => `${name}: ${expression(tape, kind, known, 2)}`).join(', ')})`);
  const of = (kind: Kind) => items.filter(([, one]) => one === kind).map(([name]) => name);
  return { ...names(of('num'), of('str'), of('bool'), of('any')), functions: start.functions };
}

function rowOperator(tape: Tape, known: Names): string {
  return tape.pick([
    () => `.where(${expression(tape, 'bool', known, 2)})`,
    () => `.where(${expression(tape, 'bool', known, 3)})`,
    () => `.distinct(${expression(tape, 'any', known, 1)}, within: 3s)`,
    () => `.dedupe(${expression(tape, 'num', known, 1)}, within: 2s)`,
    () => `.throttle(${1 + tape.below(3)}, per: 2s)`,
    () => `.limit(${1 + tape.below(6)})`,
  ])();
}

function aggregation(tape: Tape, lines: string[], known: Names, isKeyed: boolean): Names {
  lines.push(
    tape.pick([
      '.window(3s)',
      '.window(4s, sliding: 2s)',
      '.window(3)',
      '.window(3, sliding: 1)',
      '.window(session: 2s)',
      '.window(6s, early: 2s)',
      '.window(3s, align: first)',
    ]),
  );
  const calls = tape.list(1, 3, (position) => `g${position}: ${aggregateCall(tape, known)}`);
  lines.push(`.aggregate(${calls.join(', ')})`);
  return { ...names([...calls.map((_, position) => `g${position}`), ...(isKeyed ? ['id'] : [])]), functions: known.functions };
}

function aggregateCall(tape: Tape, known: Names): string {
  const argument = tape.chance(60) ? `abs(${expression(tape, 'num', known, 0)}) * 2` : expression(tape, 'num', known, 0);
  const filter = tape.chance(20) ? ` where ${expression(tape, 'bool', known, 1)}` : '';
  return tape.pick([
    () => `count()${filter}`,
    () => `sum(${argument})${filter}`,
    () => `avg(${argument})`,
    () => `max(${argument}) - min(${argument})`,
    () => `stddev(${argument})`,
    () => `median(${argument})`,
    () => `count_distinct(${argument})`,
    () => `ema(${argument}, 3)`,
    () => `last(${argument})`,
  ])();
}

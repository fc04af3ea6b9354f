import type { InputEvent } from '../../shared/events/event.ts';
import type { Value } from '../../shared/events/value.ts';
import type { Tape } from './tape.ts';
import { addWholeField, WHOLE_FIELDS } from './whole-fields.ts';

/** Of `whole` types the events come whole: one of their fields is neither number, text, bool nor time. */
function declarations(whole: string, field: string): string {
  const own = (type: string): string => (whole.includes(type) ? `\n    ${field}` : '');
  return `event A:
    k: int
    v: float
    s: str
    d: duration?${own('A')}

event B:
    k: int
    v: float
    s: str${own('B')}

event C extends B:
    at: timestamp?${own('C')}
`;
}

/** What all streams of a program have in common, so that some of them share their windows. */
interface Common {
  readonly window: string;
  readonly partition: string;
  readonly lateness: string;
}

/** Programs of a few streams that count trends, of patterns that are alike. `rare`: in percent, what only the engine that works row by row can do. */
export function trendProgram(tape: Tape, rare: number): string {
  const common: Common = {
    window: tape.pick(['5s', '2s', '20s', '1500ms']),
    partition: tape.pick(['', '', '.partition_by(k)', '.partition_by(s)', '.partition_by(k, s)']),
    lateness: tape.pick(['', '', '.allowed_lateness(1s)', '.allowed_lateness(4s)']),
  };
  const declared = declarations(tape.pick(['', '', 'A', 'B', 'C', 'AB']), tape.pick(WHOLE_FIELDS));
  const heads = tape.list(1, 3, () => pattern(tape, rare));
  const streams = tape.list(1, 5, (position) => stream(tape, position, tape.pick(heads as [Head, ...Head[]]), common, rare));
  const follower = tape.chance(20) ? 'stream N = S0\n    .emit(first: n, at: timestamp, type: event_type)\n' : '';
  return [declared, ...streams, follower].join('\n');
}

interface Head {
  readonly text: string;
  readonly aliases: readonly [string, ...string[]];
}

/** What must not come: a step, or one of two. */
function absent(tape: Tape): string {
  const one = (): string => `${type(tape)}${where(tape, [], 0)}`;
  return tape.chance(30) ? `(${one()} OR ${one()})` : one();
}

function pattern(tape: Tape, rare: number): Head {
  const count = 1 + tape.below(3);
  const aliases = Array.from({ length: count }, (_, at) => `e${at}`) as [string, ...string[]];
  const steps = aliases.map((alias, at) => step(tape, alias, aliases.slice(0, at), rare));
  const text = tape.pick([
    () => steps.map((one, at) => (at > 0 && tape.chance(25) ? `NOT ${absent(tape)}\n    -> ${one}` : one)).join('\n    -> '),
    () => steps.map((one, at) => (at > 0 && tape.chance(25) ? `NOT ${absent(tape)}\n    -> ${one}` : one)).join('\n    -> '),
    () => `${tape.pick(['AND', 'OR', 'SEQ'])}(${steps.join(', ')})`,
    () => `(${steps.join(' -> ')})${tape.pick(['+', '{1,2}', '{2}'])}`,
  ])();
  const isEnding = tape.chance(rare / 4);
  return { text: isEnding ? `${text}\n    -> NOT C within 1s` : text, aliases };
}

function type(tape: Tape): string {
  return tape.pick(['B', 'A', 'B', 'C']);
}

function step(tape: Tape, alias: string, before: readonly string[], rare: number): string {
  const quantifier = tape.pick(['', '+', '+', '*', '?', '{2}', '{1,2}', '{2,}']);
  return `${type(tape)}${quantifier}${where(tape, before, rare)} as ${alias}`;
}

function where(tape: Tape, before: readonly string[], rare: number): string {
  const parts = tape.list(0, 2, () => {
    const plain: [string, ...string[]] = ['v > 1', 's == "x"', 'k == 1', 'v + 1 > 2', 'abs(v - 2) < 1'];
    if (!tape.chance(rare)) return tape.pick(plain);
    const [other] = before;
    return other === undefined ? 'len(set([1, 2], k, 0)) == 2' : `k == ${other}.k`;
  });
  return parts.length === 0 ? '' : ` where ${parts.join(' and ')}`;
}

function stream(tape: Tape, position: number, { text, aliases }: Head, common: Common, rare: number): string {
  const isUnlike = tape.chance(15);
  const lines = [text, isUnlike ? '.partition_by(k)' : common.partition, isUnlike ? '' : common.lateness, `.window(${common.window})`];
  if (tape.chance(5)) lines.push('.within(1s)');
  if (tape.chance(rare / 6)) lines.push('.watermark(out_of_order: 1s)');
  const items = tape.chance(30) ? [] : tape.list(0, 4, (at) => `o${at}: ${item(tape, aliases)}`);
  lines.push(`.trend_aggregate(${['n: count_trends()', ...items].join(', ')})`);
  const names = ['n', ...items.map((_, at) => `o${at}`)];
  if (tape.chance(15)) lines.push(tape.pick(['.where(n > 2)', '.where(to_int(n) > 1)', '.limit(2)', '.order_by(n)']));
  if (tape.chance(10)) lines.push('.on_error(null)');
  lines.push(
    `.emit(${[...names, 'from: window_start', 'of: event_type'].map((one) => (one.includes(':') ? one : `${one}: ${one}`)).join(', ')})`,
  );
  return `stream S${position} = ${lines.filter((line) => line !== '').join('\n    ')}\n`;
}

function item(tape: Tape, aliases: readonly [string, ...string[]]): string {
  const alias = tape.pick(aliases);
  return tape.pick([
    `count_events(${alias})`,
    `sum_trends(${alias}.v)`,
    `sum_trends(${alias}.k)`,
    `avg_trends(${alias}.k)`,
    `min_trends(${alias}.v)`,
    `max_trends(${alias}.k)`,
    `avg_trends(${alias}.v * 2)`,
    'count_trends() + 1',
    tape.chance(30) ? `${alias}.v` : `max_trends(${alias}.v)`,
    tape.chance(30) ? `${alias}.timestamp` : `min_trends(${alias}.timestamp)`,
    tape.chance(30) ? `len(set([1, 2], count_trends(), 0))` : `round(avg_trends(${alias}.k), 2)`,
  ]);
}

/** Events of few kinds, in bursts; time mostly goes forward, and something is missing now and then. */
export function trendEvents(tape: Tape, most: number): InputEvent[] {
  let time = 1_000;
  const steps: readonly [number, ...number[]] = tape.pick<readonly [number, ...number[]]>([
    [500, 0, 250, 1, 1_000, 100.5, 3_000, 10, -900],
    [10, 0, 1, 5, 20],
    [100, 0, 1, 50, 700, -60],
  ]);
  return tape.list(most / 2, most, () => {
    time = Math.max(0, time + tape.pick(steps));
    const type = tape.pick(['B', 'A', 'B', 'B', 'C']);
    const fields = new Map<string, Value>([
      ['k', 1 + tape.below(2)],
      ['v', tape.pick([1, 2, 3, tape.chance(30) ? tape.pick([1.5, 0.1, -0.3]) : 2])],
      ['s', tape.pick(['x', 'y'])],
    ]);
    if (type === 'C' && tape.chance(10)) fields.set('at', '1970-01-01T00:00:20Z');
    if (tape.chance(5)) fields.delete(tape.pick(['k', 'v', 's']));
    if (tape.chance(3)) fields.set('odd', 1);
    addWholeField(tape, fields, 10);
    return { type, fields, fallbackTime: time };
  });
}

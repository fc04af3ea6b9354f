import type { InputEvent } from '../../../../../shared/events/event.ts';
import { Timestamp, type Value } from '../../../../../shared/events/value.ts';
import type { Tape } from '../../../../fuzz/tape.ts';
import { addWholeField, WHOLE_FIELDS } from '../../../../fuzz/whole-fields.ts';

const FIELDS = 'id: int\n    s: str\n    ok: bool\n    v: float\n    t: timestamp';

/** Of some types the events come whole: one of their fields is neither number, text, bool nor time. */
function declarations(tape: Tape): string {
  const whole = tape.pick(['', '', 'A', 'B']);
  const field = tape.pick(WHOLE_FIELDS);
  return ['A', 'B', 'X'].map((type) => `event ${type}:\n    ${FIELDS}\n${type === whole ? `    ${field}\n` : ''}`).join('');
}

/** A program with one join, `J`: of events, of what other streams make of them, of inputs with operators of their own. */
export function joinProgram(tape: Tape, windows: readonly [string, ...string[]]): string {
  const [left, right] = [side(tape, 'A', 'L'), side(tape, tape.chance(15) ? 'A' : 'B', 'R')];
  const streams = [left, right].map(({ stream }) => stream).join('');
  const inner = tape.chance(75);
  const kind = inner ? 'join' : tape.pick(['left_join', 'right_join', 'full_join']);
  const window = inner ? tape.pick(windows) : '.window(30ms)';
  const lateness = tape.chance(20) ? '.allowed_lateness(10ms)' : '';
  const residual = tape.chance(40) ? ` and ${tape.pick(['L.v > R.v', 'L.v + 2 > R.v and R.v > 0', 'R.v != 3 or L.id == 1'])}` : '';
  const heir = tape.chance(15) ? `event C extends ${tape.pick(['A', 'B'])}:\n    w: int?\n` : '';
  return `${declarations(tape)}${heir}${streams}stream J = ${kind}(${left.text}, ${right.text})${lateness}\n    .on(${key(tape)}${residual})\n    ${window}${chain(tape)}\n${followers(tape)}`;
}

function key(tape: Tape): string {
  return tape.pick(['L.id == R.id', 'L.id == R.id', 'L.s == R.s', 'L.id == R.id and L.s == R.s', 'L.id + 1 == R.id', 'L.id == R.v']);
}

interface Side {
  /** What it needs before. */
  readonly stream: string;
  readonly text: string;
}

function side(tape: Tape, type: string, name: string): Side {
  const fields = 'id: id, s: s, ok: ok, v: v + 0, t: t';
  return tape.pick<() => Side>([
    () => ({ stream: '', text: `${type} as ${name}` }),
    () => ({ stream: '', text: `${type} as ${name}` }),
    () => ({ stream: '', text: `stream ${name} = ${type}.where(v > 1)` }),
    () => ({ stream: '', text: `stream ${name} = ${type}.select(s, id: id, v: v * 2)` }),
    () => ({ stream: `stream S${name} = ${type}.where(ok).select(${fields})\n`, text: `S${name} as ${name}` }),
    () => ({ stream: `stream S${name} = ${type}.where(v < 9)\n`, text: `S${name} as ${name}` }),
    () => ({ stream: `stream S${name} = ${type}.emit(${fields})\n`, text: `S${name} as ${name}` }),
    () => ({
      stream: `stream S${name} = ${type}.partition_by(id).window(2).aggregate(v: sum(v), s: last(s), n: count())\n`,
      text: `S${name} as ${name}`,
    }),
  ])();
}

function chain(tape: Tape): string {
  return tape.pick([
    '\n    .emit(a: L.id, b: R.id, x: L.v, y: R.v, s: R.s)',
    '\n    .where(L.v > 2 and L.s != R.s)\n    .emit(a: L.id, b: R.v)',
    '\n    .where(R.v < 6)\n    .where(L.timestamp <= R.timestamp)\n    .emit(a: L.id, t: L.timestamp, e: event_type, now: timestamp)',
    '\n    .select(id: L.id, d: L.v - R.v)\n    .where(abs(d) > 0.5)\n    .emit(id: id, d: d)',
    '\n    .emit()',
    '\n    .where(L.v > 2)\n    .emit()',
    '\n    .limit(5)\n    .emit(a: L.v, b: R.v)',
    '\n    .window(3)\n    .aggregate(n: count(), m: sum(L.v), o: last(R.v))\n    .emit(n: n, m: m, o: o)',
    '\n    .distinct(L.id)\n    .where(R.v > 0)\n    .emit(a: L.id, e: R.event_type)',
    '\n    .where(1 / L.v > 0.1 or L.s in ["a"])\n    .select(q: L_id, w: R_s ?? "none")\n    .emit(q: q, w: w)',
    '\n    .emit(a: L_id, b: R_v, t: R.t)',
    '',
  ]);
}

function followers(tape: Tape): string {
  return tape.pick(['', 'stream F = J.emit(n: 1)\n', 'stream F = J.window(2).aggregate(n: count()).emit(n: n)\n']);
}

/** Events in and out of order, of `C` declared or not; some with nulls, without a field, with one that is not declared. `X` moves time alone. */
export function joinEvents(tape: Tape, count: number): readonly InputEvent[] {
  let now = 1_000;
  return Array.from({ length: count }, () => {
    const displaced = tape.chance(12);
    if (!displaced) now += tape.pick([0, 1, 2, 5, 5, 10, 40]);
    const fields = fieldsOf(tape);
    if (tape.chance(8)) fields.set(tape.pick(['id', 's', 'v', 'ok']), null);
    if (tape.chance(5)) fields.delete('t');
    if (tape.chance(6)) fields.set('more', 'n');
    addWholeField(tape, fields, 5);
    return { type: tape.pick(['A', 'A', 'A', 'B', 'B', 'B', 'X', 'C']), fields, fallbackTime: displaced ? now - tape.below(60) : now };
  });
}

function fieldsOf(tape: Tape): Map<string, Value> {
  return new Map<string, Value>([
    ['id', tape.below(3)],
    ['s', tape.pick(['a', 'b', 'c'])],
    ['ok', tape.chance(70)],
    ['v', tape.below(16) / 2],
    ['t', new Timestamp(1_000 + tape.below(3))],
  ]);
}

import type { InputEvent } from '../../shared/events/event.ts';
import type { Value } from '../../shared/events/value.ts';
import type { Tape } from './tape.ts';
import { addWholeField } from './whole-fields.ts';

const NUMBERS: readonly [number, ...number[]] = [1, 2, 3, 0, -1, 2.5, 100, 0.1];
const TEXTS: readonly [string, ...string[]] = ['a', 'b', '', 'ab', '😀', "'"];

/** Events for the random programs: few ids so that they meet, times that mostly go forward and sometimes back. */
export function events(tape: Tape, most: number): InputEvent[] {
  let time = 0;
  return tape.list(most / 2, most, () => {
    time = Math.max(0, time + tape.pick([500, 0, 1_000, 250, 3_000, 1, tape.chance(30) ? -700 : 100]));
    return event(tape, time);
  });
}

function event(tape: Tape, time: number): InputEvent {
  const type = tape.pick(['A', 'K', 'B', 'D', 'A', 'K']);
  const fields = new Map<string, Value>([
    ['id', 1 + tape.below(3)],
    ['v', tape.pick(NUMBERS)],
  ]);
  if (type === 'A' || type === 'B') fields.set('s', tape.pick(TEXTS)).set('ok', tape.chance(50));
  if (type === 'B' && tape.chance(50)) fields.set('w', tape.pick(NUMBERS));
  if (type === 'D') addOddFields(tape, fields);
  if (tape.chance(8)) fields.delete('v');
  addWholeField(tape, fields, 10);
  return { type, fields, fallbackTime: time };
}

/** An undeclared type holds anything, under any name. */
function addOddFields(tape: Tape, fields: Map<string, Value>): void {
  fields.set('id', tape.pick<Value>(['x', 1, null, true, [1, 'a'], new Map([['k', 1]])]));
  if (tape.chance(40)) fields.set('__proto__', tape.pick<Value>(['p', 2, null]));
  if (tape.chance(40)) fields.set('constructor', tape.pick<Value>([3, 'c']));
}

import type { InputEvent } from '../../../../shared/events/event.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { Tape } from '../../../fuzz/tape.ts';
import { addWholeField, WHOLE_FIELDS } from '../../../fuzz/whole-fields.ts';

const EVENTS = `event A:
    k: int
    v: float
    s: str

event B:
    k: int
    v: float
    s: str

event C extends B:
    at: timestamp?
`;

const DERIVED = `stream D = A
    .where(v > 1)
    .emit(k: k, v: v + 1, s: s)
`;

const HEAD = `${EVENTS}\n${DERIVED}`;

/** Rows of all types but `A` come whole: a field is a list, and `.limit` takes rows. */
const WHOLE_HEAD = HEAD.replace('event B:', 'event B:\n    tags: [int]?').replace('.emit(', '.limit(1_000)\n    .emit(');

/** What a random pattern is made of. */
export interface PatternKinds {
  readonly quantifiers: readonly [string, ...string[]];
  /** One step at random has these instead. */
  readonly closure?: readonly [string, ...string[]];
  readonly policies: readonly [string, ...string[]];
  /** Chance in a hundred of a `NOT` before a step, and at the end. */
  readonly negated: number;
  /** Chance in a hundred that a step has a `within` of its own. */
  readonly timed: number;
  /** Chance in a hundred that a part of a condition is one that may fail. */
  readonly failing: number;
  /** Chance in a hundred that a step's event must have a number of an earlier one. @default 0 */
  readonly found?: number;
  /** What stands before the pattern. */
  readonly head?: string;
}

const single: readonly [string] = [''];
const closures: readonly [string, ...string[]] = ['', '+', '*', '?', '{2}', '{1,2}', '{2,}'];
const steps = { quantifiers: single, policies: single, negated: 0, timed: 0, failing: 0 };

/** What random patterns are made of; `fusedShare`: how many of them become generated code, at least. */
export const patternKinds: { readonly [name: string]: PatternKinds & { readonly fusedShare: number } } = {
  'sequences of single steps': { ...steps, fusedShare: 0.75 },
  'sequences that numbers find': { ...steps, found: 95, negated: 10, failing: 5, fusedShare: 0.6 },
  'sequences that numbers find, out of order': {
    ...steps,
    policies: ['.watermark(out_of_order: 2s)', '.watermark(out_of_order: 5s)'],
    found: 95,
    fusedShare: 0.6,
  },
  'closures and optional steps': { ...steps, quantifiers: closures, policies: ['.longest()'], fusedShare: 0.6 },
  'closures with a match for each event': {
    ...steps,
    quantifiers: ['', '', '', '+', '*', '{1,2}'],
    policies: ['', '.each()'],
    fusedShare: 0.15,
  },
  'sequences with absences': { ...steps, quantifiers: ['', '', '', '+', '?'], negated: 30, timed: 20, fusedShare: 0.2 },
  'sequences with conditions that fail': { ...steps, quantifiers: ['', '', '', '?', '+'], failing: 40, fusedShare: 0.35 },
  'patterns whose matches end other runs': {
    ...steps,
    quantifiers: ['', '', '+', '*', '{1,2}'],
    policies: [
      '.after_match(skip_past_last)',
      '.longest()\n    .after_match(skip_past_last)',
      '.longest()\n    .after_match(skip_to_next)',
      '.each()\n    .after_match(skip_to_next)',
    ],
    negated: 15,
    timed: 10,
    failing: 10,
    fusedShare: 0.15,
  },
  'patterns without gaps between their events': {
    ...steps,
    quantifiers: ['', '', '', '+', '*', '?', '{1,2}', '{2}'],
    policies: [
      '.strict()',
      '.strict()\n    .each()',
      '.strict()\n    .longest()',
      '.strict()\n    .longest()\n    .after_match(skip_past_last)',
      '.strict()\n    .after_match(skip_past_last)',
      '.strict()\n    .after_match(skip_to_next)',
    ],
    negated: 4,
    timed: 10,
    failing: 6,
    fusedShare: 0.25,
  },
  'closures that rise or fall': {
    ...steps,
    quantifiers: [''],
    closure: ['+', '+', '*', '{1,2}'],
    policies: [
      '.increasing(v)',
      '.decreasing(v)',
      '.increasing(v)\n    .after_match(skip_past_last)',
      '.decreasing(k)\n    .after_match(skip_to_next)',
      '.increasing(v)\n    .strict()',
    ],
    negated: 6,
    failing: 4,
    fusedShare: 0.15,
  },
  'sequences with gaps': { ...steps, quantifiers: ['', '', '+', '*'], policies: ['.longest()', ''], timed: 50, fusedShare: 0.35 },
  'patterns of events out of order': {
    ...steps,
    quantifiers: ['', '', '', '+', '?'],
    policies: [
      '.watermark(out_of_order: 2s)',
      '.watermark(out_of_order: 700ms)\n    .longest()',
      '.watermark(out_of_order: 1s)\n    .after_match(skip_past_last)',
      '.watermark(out_of_order: 5s)\n    .strict()',
    ],
    negated: 20,
    timed: 20,
    failing: 5,
    fusedShare: 0.25,
  },
  'patterns of rows that come whole': {
    ...steps,
    quantifiers: ['', '', '', '+', '*', '?'],
    policies: ['', '.longest()', '.after_match(skip_past_last)', '.strict()'],
    negated: 10,
    timed: 10,
    failing: 5,
    head: WHOLE_HEAD,
    fusedShare: 0.3,
  },
};

interface Step {
  readonly alias: string;
  readonly isList: boolean;
  readonly text: string;
}

/** A program with one pattern over a tiny alphabet, so that much of it matches. */
export function patternProgram(tape: Tape, kinds: PatternKinds): string {
  const count = 2 + tape.below(3);
  const closure = kinds.closure === undefined ? -1 : tape.below(count);
  const kindsAt = (position: number): PatternKinds => (position === closure ? { ...kinds, quantifiers: kinds.closure ?? [''] } : kinds);
  const steps: [Step, ...Step[]] = [step(tape, 0, [], kindsAt(0), false)];
  for (let position = 1; position < count; position++) steps.push(step(tape, position, steps, kindsAt(position), position === count - 1));
  const lines = [steps.map(({ text }) => text).join('\n    -> ')];
  const partition = tape.pick(['', '', '.partition_by(k)', '.partition_by(s)', '.partition_by(k, s)']);
  if (partition !== '') lines.push(partition);
  if (tape.chance(85)) lines.push(`.within(${tape.pick(['2s', '5s', '1500ms', '1ms', '20s'])})`);
  const policy = tape.pick(kinds.policies);
  if (policy !== '') lines.push(policy);
  if (tape.chance(kinds.negated / 2)) lines.push(`.not(${tape.pick(['A', 'B', 'C'])}${condition(tape, steps, '', false, kinds)})`);
  if (tape.chance(20)) lines.push(`.max_runs(${1 + tape.below(4)})`);
  if (tape.chance(20)) lines.push(`.max_closure(${1 + tape.below(3)})`);
  if (tape.chance(30)) {
    const failing = tape.chance(kinds.failing) ? [failsForTwo('e0.k'), failsForTwo('e1.k')] : [];
    lines.push(`.where(${tape.pick(['match_duration_ms > 1', 'e0.v > 1', 'e1.k > 1', ...failing])})`);
  }
  const items = tape.list(1, 5, (position) => `o${position}: ${tape.pick(reads(steps))}`);
  if (tape.chance(10)) lines.push(`.distinct(${tape.pick(reads(steps))}, within: 3s)`);
  lines.push(`.emit(${items.join(', ')})`);
  const follower = tape.chance(20) ? `\nstream N = M\n    .emit(first: o0, id: match_id, at: timestamp)\n` : '';
  const head = tape.chance(25) ? HEAD.replace(tape.pick(['event A:', 'event B:']), `$&\n    ${tape.pick(WHOLE_FIELDS)}`) : HEAD;
  return `${kinds.head ?? head}\nstream M = ${lines.join('\n    ')}\n${follower}`;
}

function step(tape: Tape, position: number, before: readonly Step[], kinds: PatternKinds, isLast: boolean): Step {
  const alias = `e${position}`;
  const quantifier = tape.pick(kinds.quantifiers);
  const isList = /[+*}]/.test(quantifier);
  const type = tape.pick(['A', 'B', 'C', 'D', 'A', 'B']);
  const where = condition(tape, before, alias, isList && !/[0{]/.test(quantifier), kinds);
  const absence = (isAtEnd: boolean): string => {
    if (position === 0 || !tape.chance(kinds.negated)) return '';
    const within = tape.chance(isAtEnd ? 70 : 50) ? ` within ${tape.pick(['1s', '2s', '250ms'])}` : '';
    const text = `NOT ${tape.pick(['A', 'B', 'C'])}${condition(tape, before, '', false, kinds)}${within}`;
    return isAtEnd ? ` -> ${text}${absence(true)}` : `${text} -> ${absence(false)}`;
  };
  const within = position > 0 && !isLast && tape.chance(kinds.timed) ? ` within ${tape.pick(['1s', '500ms', '3s'])}` : '';
  return { alias, isList, text: `${absence(false)}${type}${quantifier}${where} as ${alias}${within}${isLast ? absence(true) : ''}` };
}

/** A condition that fails where the value is 2. */
function failsForTwo(value: string): string {
  return `len(set([1, 2], ${value}, 0)) == 2`;
}

function condition(tape: Tape, before: readonly Step[], own: string, readsOwn: boolean, kinds: PatternKinds): string {
  const parts = tape.list(0, 2, () => {
    const other = before.length === 0 ? undefined : tape.pick(before as [Step, ...Step[]]);
    const plain: [string, ...string[]] = ['v > 1', 's == "x"', 'k == 1', 'v + 1 > 2', 'k in [1, 3]'];
    if (tape.chance(kinds.failing))
      return tape.pick([...plain, failsForTwo('k'), failsForTwo('k'), failsForTwo(`${other?.alias ?? own}.k`)]);
    if (other === undefined) return tape.pick(plain);
    const { alias, isList } = other;
    const held: [string, ...string[]] = [
      `k == ${alias}.k`,
      `${alias}.k == k`,
      `s == ${alias}.s`,
      `v > ${alias}.v`,
      `v >= ${alias}.v`,
      `timestamp > ${alias}.timestamp`,
    ];
    const ofList = isList ? [`len(${alias}) > 1`, `v > first(${alias}).v`] : [];
    return tape.pick([...held, ...held, ...ofList, ...(readsOwn ? [`v > ${own}.v`, `v >= ${own}.v`] : []), plain[0]]);
  });
  const [first] = before;
  if (first !== undefined && kinds.found !== undefined && tape.chance(kinds.found)) {
    const { alias } = tape.pick([first, ...before]);
    parts.unshift(tape.pick([`k == ${alias}.k`, `k == ${alias}.k`, `${alias}.v == v`, `timestamp == ${alias}.timestamp`]));
  }
  return parts.length === 0 ? '' : ` where ${parts.join(' and ')}`;
}

function reads(steps: readonly [Step, ...Step[]]): readonly [string, ...string[]] {
  const each = steps.flatMap(({ alias, isList }) => [
    `${alias}.k`,
    `${alias}.v`,
    `${alias}.s`,
    `${alias}.timestamp`,
    ...(isList ? [`len(${alias})`, `first(${alias}).v`, `last(${alias}).k`, ...ofList(alias)] : []),
  ]);
  const texts = [`"is " + to_string(${steps[0].alias}.v)`, `upper(${steps[0].alias}.s)`];
  return ['match_duration_ms', 'timestamp', 'match_id', ...texts, ...each, ...each];
}

function ofList(alias: string): readonly string[] {
  return [
    `sum(${alias}.v)`,
    `avg(${alias}.v)`,
    `max(${alias}.k)`,
    `collect(${alias}.s)`,
    `prev(${alias}).v`,
    `${alias}[0].s`,
    `${alias}[-1].timestamp`,
  ];
}

/** Events of few kinds and values; time mostly goes forward, and something is missing now and then. */
export function patternEvents(tape: Tape, most: number): InputEvent[] {
  let time = 1_000;
  return tape.list(most / 2, most, () => {
    time = Math.max(0, time + tape.pick([500, 0, 250, 1, 1_000, 100.5, 3_000, tape.chance(40) ? tape.pick([-900, -6_000]) : 10]));
    const type = tape.pick(['A', 'B', 'C', 'A', 'B']);
    const fields = new Map<string, Value>([
      ['k', 1 + tape.below(2)],
      ['v', tape.pick([1, 2, 3, 1.5])],
      ['s', tape.pick(['x', 'y'])],
    ]);
    if (type === 'C' && tape.chance(10)) fields.set('at', '1970-01-01T00:00:20Z');
    if (tape.chance(5)) fields.delete(tape.pick(['k', 'v', 's']));
    if (tape.chance(3)) fields.set('odd', 1);
    addWholeField(tape, fields, 5);
    return { type, fields, fallbackTime: time };
  });
}

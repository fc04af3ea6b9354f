import type { Tape } from './tape.ts';

/** The kinds of expressions that can be asked for. */
export type Kind = 'num' | 'str' | 'bool' | 'any' | 'list' | 'time' | 'span';

/** What an expression may name where it stands. */
export interface Names {
  readonly num: readonly string[];
  readonly str: readonly string[];
  readonly bool: readonly string[];
  readonly any: readonly string[];
  /** Program functions of one number that give a number. */
  readonly functions: readonly string[];
}

const NUMBERS = ['0', '1', '2', '7', '-1', '0.5', '-2.5', '100', '1e3', '9007199254740991', '3'] as const;
const STRINGS = [
  '""',
  '"a"',
  '"b"',
  '"abc"',
  `'a\\b'`,
  '"ü😀"',
  '"10.0.0.1"',
  '"__proto__"',
  '"constructor"',
  '"$' + '{x}"',
  '"x\\u{2028}y"',
  `"'"`,
  '"7"',
] as const;

/** A well-typed expression of a kind, at most `depth` operators deep. */
export function expression(tape: Tape, kind: Kind, names: Names, depth: number): string {
  const make = (wanted: Kind): string => expression(tape, wanted, names, depth - 1);
  if (depth <= 0) return leaf(tape, kind, names);
  switch (kind) {
    case 'num':
      return number(tape, names, make);
    case 'str':
      return string(tape, names, make);
    case 'bool':
      return bool(tape, names, make);
    case 'list':
      return tape.pick<() => string>([
        () => `[${tape.list(0, 3, () => make('num')).join(', ')}]`,
        () => `range(${tape.below(5)})`,
        () => `sort(${make('list')})`,
        () => `reverse(${make('list')})`,
        () => `map(${make('list')}, x => x ?? ${make('num')})`,
        () => `filter(${make('list')}, x => x != ${make('num')})`,
        () => `unique(${make('list')})`,
        () => `${make('list')}[${tape.below(3)}:${tape.below(4)}]`,
      ])();
    case 'time':
      return tape.pick<() => string>([
        () => 'timestamp',
        () => 'now()',
        () => `(${make('time')} + ${make('span')})`,
        () => '@2026-01-31T10:00:00Z',
      ])();
    case 'span':
      return tape.pick<() => string>([
        () => '5s',
        () => `(${make('time')} - ${make('time')})`,
        () => `(${make('span')} * ${make('num')})`,
        () => '1h30m',
      ])();
    case 'any':
      return tape.pick<() => string>([
        () => leaf(tape, 'any', names),
        () => make('num'),
        () => make('str'),
        () => make('bool'),
        () => make('list'),
        () => `(if ${make('bool')} then ${make('any')} else ${make('any')})`,
        () => `(${make('any')} ?? ${make('any')})`,
        () => make('time'),
        () => `{a: ${make('any')}, "b c": ${make('num')}}`,
      ])();
  }
}

function leaf(tape: Tape, kind: Kind, names: Names): string {
  const of = (known: readonly string[], literal: () => string): string =>
    known.length > 0 && !tape.chance(35) ? (known[tape.below(known.length)] as string) : literal();
  switch (kind) {
    case 'num':
      return of(names.num, () => tape.pick(NUMBERS));
    case 'str':
      return of(names.str, () => tape.pick(STRINGS));
    case 'bool':
      return of(names.bool, () => tape.pick(['true', 'false']));
    case 'any':
      return of([...names.any, ...names.num, ...names.str], () => 'null');
    case 'list':
      return tape.pick(['[1, 2, 3]', '[]', '[2, 1]']);
    case 'time':
      return tape.pick(['timestamp', '@1970-01-01']);
    case 'span':
      return tape.pick(['1s', '0s', '2m']);
  }
}

function number(tape: Tape, names: Names, make: (kind: Kind) => string): string {
  return tape.pick<() => string>([
    () => leaf(tape, 'num', names),
    () => `(${make('num')} ${tape.pick(['+', '-', '*', '/', '%', '**', '&', '|', '^', '<<', '>>'])} ${make('num')})`,
    () => `-(${make('num')})`,
    () => `(if ${make('bool')} then ${make('num')} else ${make('num')})`,
    () => `(${make('num')} ?? ${make('num')})`,
    () => `${tape.pick(['abs', 'floor', 'ceil', 'sqrt', 'sign', 'round'])}(${make('num')})`,
    () => `${tape.pick(['min', 'max', 'div'])}(${make('num')}, ${make('num')})`,
    () => `len(${make(tape.pick(['str', 'list']))})`,
    () => `sum(${make('list')})`,
    () => (names.functions.length > 0 ? `${names.functions[tape.below(names.functions.length)]}(${make('num')})` : make('num')),
    () => `(${make('span')} / 1s)`,
    () => `${make('list')}[${tape.below(4)}]`,
  ])();
}

function string(tape: Tape, names: Names, make: (kind: Kind) => string): string {
  return tape.pick<() => string>([
    () => leaf(tape, 'str', names),
    () => `(${make('str')} + ${make('str')})`,
    () => `upper(${make('str')})`,
    () => `to_string(${make('any')})`,
    () => `f"<{${make('num')}}>"`,
    () => `substring(${make('str')}, ${tape.below(3)}, ${tape.below(5)})`,
    () => `replace(${make('str')}, "a", ${make('str')})`,
    () => `(if ${make('bool')} then ${make('str')} else ${make('str')})`,
    () => `hash(${make('any')})`,
    () => `type_of(${make('any')})`,
  ])();
}

function bool(tape: Tape, names: Names, make: (kind: Kind) => string): string {
  return tape.pick<() => string>([
    () => `${make('num')} ${tape.pick(['>', '<', '>=', '<=', '==', '!='])} ${make('num')}`,
    () => `(${make('bool')}) and (${make('bool')})`,
    () => `(${make('bool')}) or (${make('bool')})`,
    () => `not (${make('bool')})`,
    () => `${make('any')} is ${tape.pick(['', 'not '])}null`,
    () => `${make('str')} == ${make('str')}`,
    () => `${make('str')} < ${make('str')}`,
    () => `contains(${make('str')}, ${make('str')})`,
    () => `regex_match(${make('str')}, "a+b?")`,
    () => `${make('num')} in ${make('list')}`,
    () => `any(${make('list')}, x => x > ${make('num')})`,
    () => leaf(tape, 'bool', names),
    () => `(${make('time')}) > (${make('time')})`,
  ])();
}

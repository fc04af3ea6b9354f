import { isArray, type Value } from '../../../../shared/events/value.ts';
import type { NumericState } from '../../../../shared/language/functions/descriptor.ts';
import type { Typed } from '../typed.ts';
import type { AggregateInput } from './aggregate-inputs.ts';
import type { CallForm, SlotNames } from './call-forms.ts';
import { EXACT_WIDTH, LARGEST_SQUARED, type Slots } from './slots.ts';

/** Names in the generated function that takes a row into a window. */
export interface TakingNames extends SlotNames {
  readonly time: string;
  /** Arrival number at the window. */
  readonly order: string;
}

/** Some of the numbers of a slot, kept up to date by one piece of code. */
export interface Column extends ColumnCode {
  readonly key: string;
  /** Place in the order in which a row is taken in. */
  readonly rank: number;
  readonly at: number;
  /** Null: every row counts. */
  readonly input: AggregateInput | null;
}

export interface ColumnCode {
  readonly clear: (names: TakingNames) => string;
  /** Null is a value like any other to `add`. */
  readonly takesNulls?: true;
  /** What a value does. */
  readonly add: (names: TakingNames, value: string) => string;
  /** What takes it out again, where values leave. */
  readonly remove?: (names: TakingNames, value: string) => string;
  /** Another column that is kept up to date by the same code, but for its being cleared. */
  readonly covers?: Column;
}

/** Where the columns of a call are allotted. */
export interface ColumnSpace {
  /** Values leave again. Then they come from where null is NaN. */
  readonly slides: boolean;
  /** The call has a filter. */
  readonly isFiltered: boolean;
  /** The constant NaN. */
  readonly nan: string;
  /** A column of so many doubles, one for all calls that keep the same of the same input. */
  column(name: string, width: number, code: (at: number) => ColumnCode): Column;
  /** The place of the number of values. */
  count(): number;
}

/**
 * What each kind of aggregate keeps in numbers, with the code that adds to them, and what is read and saved of them. Null where values
 * leave of which what is kept tells nothing about the others, and where an accumulator has to keep it.
 */
export function numericForm(state: NumericState, constants: readonly Value[], space: ColumnSpace): CallForm | null {
  const sum = (): Column => space.column('sum', EXACT_WIDTH, sumCode);
  switch (state.keeps) {
    case 'count':
      return state.per === 'second' ? rateForm(space.count()) : countForm(space.count());
    case 'sum':
      return sumForm(sum().at);
    case 'mean':
      return meanForm(space.count(), sum().at);
    case 'moments': {
      const [count, total] = [space.count(), sum()];
      if (!space.slides) {
        const squares = space.column('squares', EXACT_WIDTH, (at) => squaresCode(at, total)).at;
        return spreadForm(state.gives, { count, sum: total.at, squares });
      }
      const squares = space.column('squares', EXACT_WIDTH + 1, (at) => slidingSquaresCode(at, total)).at;
      return slidingSpreadForm(state.gives, { count, sum: total.at, squares, overflows: squares + EXACT_WIDTH });
    }
    case 'extreme':
      return space.slides ? null : extremeForm(space.column(`extreme ${state.sign}`, 1, (at) => extremeCode(at, state.sign, space.nan)).at);
    case 'average': {
      const weight = state.weight(constants);
      return space.slides ? null : emaForm(space.column(`average ${weight}`, 1, (at) => emaCode(at, weight, space.nan)).at);
    }
    case 'end':
      if (space.slides || space.isFiltered) return null;
      return endForm(space.column(state.end, 3, (at) => endCode(at, state.end === 'first', space.nan)).at);
  }
}

const number = (text: string, isNullable = true): Typed => ({ text, as: 'number', isNullable, isSimple: false, canFail: false });

export function countCode(at: number): ColumnCode {
  const step =
    (sign: '+' | '-') =>
    ({ numbers, base }: TakingNames): string =>
      `${numbers}[${base}+${at}]=${numbers}[${base}+${at}]${sign}1;`;
  return { clear: ({ numbers, base }) => `${numbers}[${base}+${at}]=0;`, add: step('+'), remove: step('-') };
}

function countForm(at: number): CallForm {
  return {
    result: ({ numbers, base }) => number(`${numbers}[${base}+${at}]`, false),
    save: ({ slots }, slot) => cell(slots, slot, at),
    load: ({ slots }, slot, saved) => put(slots, slot, at, Number(saved)),
  };
}

function rateForm(at: number): CallForm {
  const count = countForm(at);
  return { ...count, result: ({ numbers, base, lengthMs }) => number(`(${lengthMs}>0?${numbers}[${base}+${at}]*1000/${lengthMs}:null)`) };
}

/** An exact sum. */
function sumCode(at: number): ColumnCode {
  return {
    clear: ({ slots, base }) => `${slots}.clear(${base}+${at});`,
    add: ({ slots, base }, value) => `${slots}.add(${base}+${at},${value});`,
    remove: ({ slots, base }, value) => `${slots}.add(${base}+${at},-${value});`,
  };
}

function sumForm(at: number): CallForm {
  return {
    result: ({ slots, base }) => number(`${slots}.total(${base}+${at},1)`),
    save: ({ slots }, slot) => ['number', slots.exact(slot * slots.width + at).save()],
    load: ({ slots }, slot, saved) => loadExact(slots, slot, at, parts(parts(saved)[1])),
  };
}

/** The mean, from the exact sum. */
function meanForm(count: number, sum: number): CallForm {
  return {
    result: ({ slots, numbers, base }) => {
      const n = `${numbers}[${base}+${count}]`;
      return number(`(${n}===0?null:${slots}.total(${base}+${sum},${n}))`);
    },
    save: ({ slots }, slot) => ['number', [...slots.exact(slot * slots.width + sum).save(), cell(slots, slot, count)]],
    load: ({ slots }, slot, saved) => {
      const state = parts(parts(saved)[1]);
      loadExact(slots, slot, sum, state);
      put(slots, slot, count, Number(state[2]));
    },
  };
}

/** The exact sum of squares beside that of the values. */
function squaresCode(at: number, sum: Column): ColumnCode {
  return {
    covers: sum,
    clear: ({ slots, base }) => `${slots}.clear(${base}+${at});`,
    add: ({ slots, base }, value) => `${slots}.moments(${base}+${sum.at},${base}+${at},${value},1);`,
  };
}

/** Behind the squares how many values were too large to be among them. */
function slidingSquaresCode(at: number, sum: Column): ColumnCode {
  const large = LARGEST_SQUARED.toExponential();
  const step =
    (sign: '' | '-') =>
    ({ slots, numbers, base }: TakingNames, value: string): string => {
      const overflows = `${numbers}[${base}+${at + EXACT_WIDTH}]`;
      const counted = `{${overflows}=${overflows}${sign || '+'}1;${slots}.add(${base}+${sum.at},${sign}${value});}`;
      const added = `${slots}.moments(${base}+${sum.at},${base}+${at},${value},${sign}1);`;
      return `if(${value}>${large}||${value}<-${large})${counted}else ${added}`;
    };
  return {
    covers: sum,
    clear: ({ slots, numbers, base }) => `${slots}.clear(${base}+${at});${numbers}[${base}+${at + EXACT_WIDTH}]=0;`,
    add: step(''),
    remove: step('-'),
  };
}

function spreadForm(gives: 'variance' | 'deviation', { count, sum, squares }: { count: number; sum: number; squares: number }): CallForm {
  return {
    result: ({ slots, numbers, base }) => number(`${slots}.${gives}(${numbers}[${base}+${count}],${base}+${sum},${base}+${squares})`),
    save: ({ slots }, slot) => {
      const base = slot * slots.width;
      const isOverflow = cell(slots, slot, squares) === Infinity;
      const [sums, ofSquares] = isOverflow ? [[], []] : [slots.exact(base + sum).parts, slots.exact(base + squares).parts];
      return ['number', [cell(slots, slot, count), isOverflow, sums, ofSquares]];
    },
    load: ({ slots }, slot, saved) => {
      const [n = 0, isOverflow, sums, ofSquares] = parts(parts(saved)[1]);
      put(slots, slot, count, Number(n));
      loadExact(slots, slot, squares, [ofSquares ?? []]);
      if (isOverflow === true) put(slots, slot, squares, Infinity);
      else loadExact(slots, slot, sum, [sums ?? []]);
    },
  };
}

/** The same where values leave again: those whose squares are too large are counted, and while there is one there is no result. */
function slidingSpreadForm(
  gives: 'variance' | 'deviation',
  { overflows, ...moments }: { count: number; sum: number; squares: number; overflows: number },
): CallForm {
  const form = spreadForm(gives, moments);
  return {
    ...form,
    result: (names, objects) => number(`(${names.numbers}[${names.base}+${overflows}]>0?null:${form.result(names, objects).text})`),
  };
}

/** NaN: nothing yet. `nan`: the constant. */
function extremeCode(at: number, sign: '<' | '>', nan: string): ColumnCode {
  return {
    clear: ({ numbers, base }) => `${numbers}[${base}+${at}]=${nan};`,
    add: ({ numbers, base }, value) => {
      const best = `${numbers}[${base}+${at}]`;
      return `if(${value}${sign}${best}||!(${best}===${best}))${best}=${value};`;
    },
  };
}

/** The largest or the smallest number; NaN while there is none. */
function extremeForm(at: number): CallForm {
  return {
    result: ({ numbers, base }) => unlessNaN(`${numbers}[${base}+${at}]`),
    save: ({ slots }, slot) => nullIfNaN(cell(slots, slot, at)),
    load: ({ slots }, slot, saved) => put(slots, slot, at, naNIfNull(saved)),
  };
}

/** NaN: nothing yet. */
function emaCode(at: number, weight: number, nan: string): ColumnCode {
  return {
    clear: ({ numbers, base }) => `${numbers}[${base}+${at}]=${nan};`,
    add: ({ numbers, base }, value) => {
      const average = `${numbers}[${base}+${at}]`;
      return `${average}=${average}===${average}?${value}*${weight}+${average}*${1 - weight}:${value};`;
    },
  };
}

function emaForm(at: number): CallForm {
  return {
    result: ({ numbers, base }) => number(`finiteOf(${numbers}[${base}+${at}])`),
    save: ({ slots }, slot) => ['number', nullIfNaN(cell(slots, slot, at))],
    load: ({ slots }, slot, saved) => put(slots, slot, at, naNIfNull(parts(saved)[1])),
  };
}

/** The value (NaN for null), its time and its arrival number, which is 0 while there is none. */
function endCode(at: number, isFirst: boolean, nan: string): ColumnCode {
  return {
    takesNulls: true,
    clear: ({ numbers, base }) => `${numbers}[${base}+${at + 2}]=0;`,
    add: ({ numbers, base, time, order }, value) => {
      const [old, since] = [`${numbers}[${base}+${at + 2}]`, `${numbers}[${base}+${at + 1}]`];
      const isBetter = isFirst ? `${time}<${since}` : `${time}>=${since}`;
      const put = `${numbers}[${base}+${at}]=${value}===null?${nan}:${value};${since}=${time};${old}=${order};`;
      return `if(${old}===0||${isBetter}){${put}}`;
    },
  };
}

/** The value of the first or of the last event: NaN for null; its time; its arrival number, 0 while there is none. */
function endForm(at: number): CallForm {
  return {
    result: ({ numbers, base }) => {
      const value = `${numbers}[${base}+${at}]`;
      return number(`(${numbers}[${base}+${at + 2}]===0||!(${value}===${value})?null:${value})`);
    },
    save: ({ slots }, slot) => {
      const order = cell(slots, slot, at + 2);
      return order === 0 ? null : [nullIfNaN(cell(slots, slot, at)), cell(slots, slot, at + 1), order];
    },
    load: ({ slots }, slot, saved) => {
      const [value = null, time = 0, order = 0] = parts(saved);
      put(slots, slot, at, naNIfNull(value));
      put(slots, slot, at + 1, Number(time));
      put(slots, slot, at + 2, Number(order));
    },
  };
}

function unlessNaN(text: string): Typed {
  return number(`(${text}===${text}?${text}:null)`);
}

function cell({ numbers, width }: Slots, slot: number, at: number): number {
  return numbers[slot * width + at] as number;
}

function put({ numbers, width }: Slots, slot: number, at: number, value: number): void {
  numbers[slot * width + at] = value;
}

function nullIfNaN(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

function naNIfNull(value: Value | undefined): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function parts(saved: Value | undefined): readonly Value[] {
  return saved !== undefined && isArray(saved) ? saved : [];
}

function loadExact(slots: Slots, slot: number, at: number, [sum, huge]: readonly Value[]): void {
  slots.load(slot * slots.width + at, parts(sum).map(Number), parts(huge).map(Number));
}

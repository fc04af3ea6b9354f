import type { AggregateInput } from './aggregate-inputs.ts';
import { EXACT_WIDTH, LARGEST_SQUARED } from './slots.ts';

/** Names in the generated function that takes a row into a window. */
export interface TakingNames {
  /** The slots of the operator, the number of the slot, and where its numbers begin. */
  readonly slots: string;
  readonly slot: string;
  readonly numbers: string;
  readonly base: string;
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

export function countCode(at: number): ColumnCode {
  const step =
    (sign: '+' | '-') =>
    ({ numbers, base }: TakingNames): string =>
      `${numbers}[${base}+${at}]=${numbers}[${base}+${at}]${sign}1;`;
  return { clear: ({ numbers, base }) => `${numbers}[${base}+${at}]=0;`, add: step('+'), remove: step('-') };
}

/** An exact sum. */
export function sumCode(at: number): ColumnCode {
  return {
    clear: ({ slots, base }) => `${slots}.clear(${base}+${at});`,
    add: ({ slots, base }, value) => `${slots}.add(${base}+${at},${value});`,
    remove: ({ slots, base }, value) => `${slots}.add(${base}+${at},-${value});`,
  };
}

/** The exact sum of squares beside that of the values. */
export function squaresCode(at: number, sum: Column): ColumnCode {
  return {
    covers: sum,
    clear: ({ slots, base }) => `${slots}.clear(${base}+${at});`,
    add: ({ slots, base }, value) => `${slots}.moments(${base}+${sum.at},${base}+${at},${value},1);`,
  };
}

/** Behind the squares how many values were too large to be among them. */
export function slidingSquaresCode(at: number, sum: Column): ColumnCode {
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

/** NaN: nothing yet. `nan`: the constant. */
export function extremeCode(at: number, sign: '<' | '>', nan: string): ColumnCode {
  return {
    clear: ({ numbers, base }) => `${numbers}[${base}+${at}]=${nan};`,
    add: ({ numbers, base }, value) => {
      const best = `${numbers}[${base}+${at}]`;
      return `if(${value}${sign}${best}||!(${best}===${best}))${best}=${value};`;
    },
  };
}

/** NaN: nothing yet. */
export function emaCode(at: number, weight: number, nan: string): ColumnCode {
  return {
    clear: ({ numbers, base }) => `${numbers}[${base}+${at}]=${nan};`,
    add: ({ numbers, base }, value) => {
      const average = `${numbers}[${base}+${at}]`;
      return `${average}=${average}===${average}?${value}*${weight}+${average}*${1 - weight}:${value};`;
    },
  };
}

/** The value (NaN for null), its time and its arrival number, which is 0 while there is none. */
export function endCode(at: number, isFirst: boolean, nan: string): ColumnCode {
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

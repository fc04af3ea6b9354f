import type { Names } from '../compile/names.ts';
import type { EntryField } from '../fusion/event-entry.ts';
import { powersOfTen } from './decimal.ts';
import { type ScalarKind, scalarKind } from './fast-path.ts';
import { printMatch } from './literal.ts';
import type { PlainTimes } from './plain-time.ts';
import { printSkippedDigits } from './print-digits.ts';
import { printFound } from './recent-texts.ts';
import type { TextTable } from './text-table.ts';

/**
 * Statements that read one value from the bytes at `p0` and move behind it, or leave the function with 0. Names in them:
 * `b0` the bytes, `w0` a view of them for words, `c0` the byte at `p0` less 48 (so that a digit is itself), `s0` the first
 * digit of a number, `q0` its point, `g0` its sign.
 */
export interface ValueText {
  readonly text: string;
  /** Name of the constant or variable that then holds the value; undefined when it was only checked. */
  readonly value: string | undefined;
  /** Name of what then tells the place of the text, where that is asked for. */
  readonly place?: string | undefined;
}

export interface ValueContext {
  readonly names: Names;
  /** Prints the definition of a name for an entry of the constants table. */
  readonly define: (constant: unknown) => string;
  readonly texts: TextTable;
  readonly plainTimes: PlainTimes;
}

/** Digits of a whole number that certainly fits a double. */
const EXACT_DIGITS_MAX = 15;
const SAFE_MAX = Number.MAX_SAFE_INTEGER;
/** A number with this many digits in front of its point is certainly finite. */
const FINITE_DIGITS_MAX = 300;
/** The byte of a point, less 48. */
const POINT = -2;
const NEXT_DIGIT = '(c0=b0[++p0]-48)>=0&&c0<=9';

/** `isWanted`: the value is needed, not only that it is one. */
export function printValue(field: EntryField, isWanted: boolean, context: ValueContext): ValueText {
  switch (scalarKind(field.type) as ScalarKind) {
    case 'str':
      return isWanted ? printText(field, context) : { text: 'p0=skipText(b0,w0,p0);if(p0===0)return 0;', value: undefined };
    case 'bool':
      return printBool(isWanted, context);
    case 'int':
      return isWanted ? wantedNumber(context, wantedWhole) : { text: skippedNumber(''), value: undefined };
    case 'float':
    case 'duration':
      if (isWanted) return wantedNumber(context, wantedFloat);
      return { text: skippedNumber(field.isChecked ? checkedFraction : skippedFraction), value: undefined };
    case 'timestamp':
      return printTime(context);
  }
}

/** A text whose opening quote has been read. */
function printText(text: EntryField, { names, define, texts }: ValueContext): ValueText {
  const value = names.mint('v');
  const reader = texts.fieldOf(text, text.isKey);
  const field = define(reader);
  const isKey = text.isKey === true;
  const found = `${field}.lookups++;${isKey ? `${field}.at=h3;` : ''}${value}=${field}.texts[h3];p0+=h2+1;`;
  const other = `${value}=${field}.read(b0,w0,p0);if(${value}===null)return 0;p0=${field}.end+1;`;
  return {
    text: `let ${value}=null;{${printFound(define(reader.recent))}{${found}}else{${other}}}`,
    value,
    place: isKey ? field : undefined,
  };
}

function printBool(isWanted: boolean, { names }: ValueContext): ValueText {
  const value = names.mint('v');
  const set = isWanted ? `${value}=true;` : '';
  const text = `if(${printMatch('true')}){${set}p0+=4;}else if(${printMatch('false')})p0+=5;else return 0;`;
  return isWanted ? { text: `let ${value}=false;${text}`, value } : { text, value: undefined };
}

const NO_LEADING_ZERO = 'if(b0[s0]===48&&p0-s0>1)return 0;';

/** Sign, digits and what follows them. */
function wantedNumber({ names, define }: ValueContext, rest: (value: string, powers: string) => string): ValueText {
  const value = names.mint('v');
  const sign = 'const g0=c0===-3;if(g0)c0=b0[++p0]-48;';
  const digits = `const s0=p0;if(c0<0||c0>9)return 0;${value}=c0;while(${NEXT_DIGIT})${value}=${value}*10+c0;`;
  const end = `${NO_LEADING_ZERO}${rest(value, define(powersOfTen))}if(g0)${value}=-${value};`;
  return { text: `let ${value}=0;{let c0=b0[p0]-48;${sign}${digits}${end}}`, value };
}

/** A number that is only checked; `fraction` takes what stands behind a point. */
function skippedNumber(fraction: string): string {
  const whole = `const s0=p0;${printSkippedDigits('p0')}if(p0===s0)return 0;${NO_LEADING_ZERO}`;
  return `{if(b0[p0]===45)p0++;${whole}${fraction}if(p0-s0>${EXACT_DIGITS_MAX})return 0;}`;
}

const skippedFraction =
  `if(b0[p0]===46){if(p0-s0>${FINITE_DIGITS_MAX})return 0;` + `const q0=++p0;${printSkippedDigits('p0')}if(p0===q0)return 0;}else `;

/** Only what `wantedFloat` can make a number of. */
const checkedFraction =
  `if(b0[p0]===46){const q0=p0++;${printSkippedDigits('p0')}if(p0-q0===1)return 0;` +
  `if(p0-s0>${EXACT_DIGITS_MAX + 1}){const d0=decimal(b0,s0,q0,p0);if(d0!==d0)return 0;}}else `;

function wantedWhole(value: string): string {
  return `if(${value}>${SAFE_MAX})return 0;`;
}

function wantedFloat(value: string, powers: string): string {
  const long = `{${value}=decimal(b0,s0,q0,p0);if(${value}!==${value})return 0;}`;
  const scaled = `if(p0-s0<=${EXACT_DIGITS_MAX + 1})${value}=${value}/${powers}[p0-q0-1];else${long}`;
  return (
    `if(c0===${POINT}){const q0=p0;while(${NEXT_DIGIT})${value}=${value}*10+c0;if(p0-q0===1)return 0;${scaled}}` +
    `else if(${value}>${SAFE_MAX})return 0;`
  );
}

/** Text in one of the usual forms, or a number. Also a time that nothing reads must be one. */
function printTime(context: ValueContext): ValueText {
  const { names, define, plainTimes: times } = context;
  const value = names.mint('v');
  const number = wantedNumber(context, wantedFloat);
  const fromText = `${value}=${define(times)}.read(b0,w0,p0+1);p0=p0+1+plainTimeBytes(b0,p0+1);`;
  const fromNumber = `${number.text}${value}=numberTime(${number.value});`;
  return { text: `let ${value}=0;if(b0[p0]===34){${fromText}}else{${fromNumber}}if(${value}!==${value})return 0;`, value };
}

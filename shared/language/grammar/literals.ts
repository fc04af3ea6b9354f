/** Reads the text of literals. A bad literal is reported and read as something harmless, so that the line is read on. */
import type { DurationLiteral, NumberLiteral, Span, TimestampLiteral } from '../ast/nodes.ts';
import { unitOf } from '../diagnostics/foreign-words.ts';
import type { Problems } from './notes.ts';

const intMax = Number.MAX_SAFE_INTEGER;
const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const number = /^\d+(?:_\d+)*(\.\d+(?:_\d+)*)?([eE][+-]?\d+)?$/;
const durationPart = /(\d+(?:_\d+)*(?:\.\d+)?)([a-z]+)/gy;

/** A token as messages show it: code points past the fortieth are left out. */
export function clipped(token: string): string {
  return token.length > 40 ? `${[...token.slice(0, 80)].slice(0, 38).join('')}..` : token;
}

/** An int, float or duration. */
export function readNumeric(text: string, span: Span, problems: Problems): NumberLiteral | DurationLiteral {
  const found = number.exec(text);
  if (!found) return readDuration(text, span, problems);
  const type = found[1] === undefined && found[2] === undefined ? 'int' : 'float';
  const value = Number(text.replaceAll('_', ''));
  if (type === 'int' && value > intMax) {
    problems.report(span, `the int ${clipped(text)} is outside +-(2^53-1)`, 'write an id that long as a string');
  } else if (value === Number.POSITIVE_INFINITY) problems.report(span, `the float ${clipped(text)} is too large`);
  return { kind: 'NumberLiteral', span, type, value: Math.min(value, Number.MAX_VALUE), text };
}

function readDuration(text: string, span: Span, problems: Problems): NumberLiteral | DurationLiteral {
  let ms = 0;
  let lastUnit = Number.POSITIVE_INFINITY;
  let end = 0;
  durationPart.lastIndex = 0;
  for (let part = durationPart.exec(text); part; part = durationPart.exec(text)) {
    const unit = unitMs[part[2] as string];
    if (unit === undefined) return notAQuantity(text, span, problems, part[2] as string);
    if (unit >= lastUnit) {
      problems.report(
        span,
        `the parts of the duration \`${clipped(text)}\` are out of order`,
        'write the larger unit first, each once: `1h30m`',
      );
      return { kind: 'DurationLiteral', span, ms, text };
    }
    ms += Number((part[1] as string).replaceAll('_', '')) * unit;
    lastUnit = unit;
    end = durationPart.lastIndex;
  }
  if (end !== text.length) return notAQuantity(text, span, problems);
  if (ms > intMax) problems.report(span, `the duration ${clipped(text)} is too long`);
  return { kind: 'DurationLiteral', span, ms: roundedToNs(ms), text };
}

/** Takes out the error of adding fractions: 0.1 + 0.2 ms is 0.3 ms. */
function roundedToNs(ms: number): number {
  return Number.isInteger(ms) ? ms : Math.round(ms * 1e6) / 1e6;
}

function notAQuantity(text: string, span: Span, problems: Problems, unit?: string): NumberLiteral {
  problems.report(span, `\`${clipped(text)}\` is neither a number nor a duration`, quantityHint(text, unit));
  return { kind: 'NumberLiteral', span, type: 'int', value: 0, text: '0' };
}

function quantityHint(text: string, unit: string | undefined): string {
  const known = unit === undefined ? undefined : unitOf(unit);
  if (known !== undefined && unit !== undefined) return `write \`${clipped(text.replace(unit, known))}\``;
  if (/^0[xXbBoO]/.test(text)) return 'write the number in decimal';
  if (/^\d[\d_]*$/.test(text)) return 'an underscore stands between two digits';
  if (/^[\d._]+[fFlLuU]$/.test(text)) return 'numbers have no suffix';
  return 'the units of durations are ns us ms s m h d w';
}

// ------------------------------------------------------------------------------------------------ timestamps

const timestamp = /^@(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?:Z|([+-])(\d\d):(\d\d))?)?$/;

/** `@2026-01-31T10:00:00.5+01:00`; without a zone it is UTC. */
export function readTimestamp(text: string, span: Span, problems: Problems): TimestampLiteral {
  const parts = timestamp.exec(text);
  const ms = parts ? timestampMs(parts) : undefined;
  if (ms === undefined) {
    const why = parts ? 'is no date or time of day' : 'is no timestamp';
    problems.report(span, `\`${clipped(text)}\` ${why}`, 'write `@2026-01-31` or `@2026-01-31T10:00:00Z`');
  }
  return { kind: 'TimestampLiteral', span, ms: ms ?? 0, text };
}

function timestampMs(parts: RegExpExecArray): number | undefined {
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((index) => Number(parts[index] ?? 0)) as number[] as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const zone = Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || Number(parts[10] ?? 0) > 59 || zone > 18 * 60) return undefined;
  const minutes = (daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute - (parts[8] === '-' ? -zone : zone);
  const fractionMs = Math.round(Number(parts[7] ?? 0) * 1e6) / 1e3;
  return minutes * 60_000 + second * 1000 + fractionMs;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Days from 1970-01-01 in the proleptic Gregorian calendar; years are counted from March so that leap days come last. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return marchYear * 365 + leapDays + dayOfYear - 719_468;
}

// ------------------------------------------------------------------------------------------------ strings

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' };

/** The value of what stands between double quotes. `start` is the offset of the first character. */
export function readString(text: string, start: number, problems: Problems): string {
  if (!text.includes('\\')) return text;
  const pieces: string[] = [];
  let copied = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', copied)) {
    const read = readEscape(text, at, start, problems);
    pieces.push(text.slice(copied, at), read.value);
    copied = at + read.length;
  }
  pieces.push(text.slice(copied));
  return pieces.join('');
}

const unicodeEscape = /\\u\{([0-9A-Fa-f]{1,6})\}/y;

function readEscape(text: string, at: number, start: number, problems: Problems): { value: string; length: number } {
  const char = text[at + 1] as string;
  const known = escapes[char];
  if (known !== undefined) return { value: known, length: 2 };
  const span = { start: start + at, end: start + at + 2 };
  if (char !== 'u') {
    problems.report(span, `\`\\${char}\` is no escape`, `in '...' a backslash is a backslash; in "..." write \`\\\\\``);
    return { value: `\\${char}`, length: 2 };
  }
  unicodeEscape.lastIndex = at;
  const digits = unicodeEscape.exec(text)?.[1];
  const code = digits === undefined ? -1 : Number.parseInt(digits, 16);
  if (digits !== undefined && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff))
    return { value: String.fromCodePoint(code), length: digits.length + 4 };
  problems.report(span, 'this escape names no character', 'write `\\u{e9}`: one to six hexadecimal digits in braces');
  return { value: '', length: digits === undefined ? 2 : digits.length + 4 };
}

/** The value of what stands between single quotes. */
export function readRawString(text: string): string {
  return text.replaceAll("''", "'");
}

import { type TimeParts, timeParts } from '../../events/calendar.ts';
import { BoundedCache } from './bounded-cache.ts';
import { EvaluationError } from './descriptor.ts';

/** What letters stand for, from the local time and its offset from UTC. */
type Letters = (time: TimeParts, offsetMs: number) => string;

type Piece = string | Letters;
type Pattern = { readonly pieces: readonly Piece[] } | { readonly problem: string };

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');
const twelveHour = (hour: number): number => ((hour + 11) % 12) + 1;

/** Every run of letters that a pattern may have, with the text it stands for. */
const LETTERS: Readonly<Record<string, Letters>> = {
  yyyy: ({ year }) => (year < 0 ? `-${pad(-year, 4)}` : pad(year, 4)),
  yy: ({ year }) => pad(((year % 100) + 100) % 100, 2),
  MMMM: ({ month }) => MONTHS[month - 1] ?? '',
  MMM: ({ month }) => (MONTHS[month - 1] ?? '').slice(0, 3),
  MM: ({ month }) => pad(month, 2),
  M: ({ month }) => String(month),
  dd: ({ day }) => pad(day, 2),
  d: ({ day }) => String(day),
  EEEE: ({ weekday }) => WEEKDAYS[weekday - 1] ?? '',
  EEE: ({ weekday }) => (WEEKDAYS[weekday - 1] ?? '').slice(0, 3),
  HH: ({ hour }) => pad(hour, 2),
  H: ({ hour }) => String(hour),
  hh: ({ hour }) => pad(twelveHour(hour), 2),
  h: ({ hour }) => String(twelveHour(hour)),
  a: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  mm: ({ minute }) => pad(minute, 2),
  m: ({ minute }) => String(minute),
  ss: ({ second }) => pad(second, 2),
  s: ({ second }) => String(second),
  SSSSSS: ({ microsecond }) => pad(microsecond, 6),
  SSS: ({ microsecond }) => pad(Math.floor(microsecond / 1000), 3),
  XXX: (_, offsetMs) => (offsetMs === 0 ? 'Z' : offsetText(offsetMs)),
  xxx: (_, offsetMs) => offsetText(offsetMs),
  T: () => 'T',
};

function offsetText(offsetMs: number): string {
  const minutes = Math.floor(Math.abs(offsetMs) / 60_000);
  return `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`;
}

const patterns = new BoundedCache<Pattern>(256, readPattern);

/** Runs of one letter, text in quotes (`''` is a quote), and everything else as it stands. */
function readPattern(pattern: string): Pattern {
  const pieces: Piece[] = [];
  for (const [piece] of pattern.matchAll(/'(?:[^']|'')*'|'|([A-Za-z])\1*|[^A-Za-z']+/g)) {
    const letters = Object.hasOwn(LETTERS, piece) ? LETTERS[piece] : undefined;
    if (letters) pieces.push(letters);
    else if (piece === "'") return { problem: "a quote without its end in the time pattern: write '' for a quote" };
    else if (/^[A-Za-z]/.test(piece)) return { problem: unknownLetters(piece) };
    else pieces.push(piece === "''" ? "'" : piece.startsWith("'") ? piece.slice(1, -1).replaceAll("''", "'") : piece);
  }
  return { pieces };
}

function unknownLetters(letters: string): string {
  const known = Object.keys(LETTERS).join(' ');
  return `unknown letters ${letters} in the time pattern: known are ${known}; other letters stand in single quotes`;
}

/** What is wrong with a time pattern, or undefined when nothing is. */
export function timePatternProblem(pattern: string): string | undefined {
  const read = patterns.get(pattern);
  return 'problem' in read ? read.problem : undefined;
}

/**
 * A time as a pattern such as `yyyy-MM-dd HH:mm:ss.SSS` shows it, where clocks are ahead of UTC by an offset.
 * @throws EvaluationError for a pattern with unknown letters.
 */
export function formatTime(ms: number, pattern: string, offsetMs: number): string {
  const read = patterns.get(pattern);
  if ('problem' in read) throw new EvaluationError(`format_time: ${read.problem}`);
  const time = timeParts(ms + offsetMs);
  return read.pieces.map((piece) => (typeof piece === 'string' ? piece : piece(time, offsetMs))).join('');
}

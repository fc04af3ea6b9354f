import { type TimeParts, timeParts } from '../../events/calendar.ts';
import { readTimestamp } from '../../events/time-text.ts';
import { Timestamp, type Value } from '../../events/value.ts';
import { DURATION, INT, STR, TIMESTAMP } from '../plan/types.ts';
import { subtract, timestamp } from './arithmetic.ts';
import { always, defineFunction, NUMBER, oneOf, optional, str, time } from './define.ts';
import type { FunctionDescriptor } from './descriptor.ts';
import { formatTime, timePatternProblem } from './format-time.ts';
import { fromLocalTime, zoneOffset, zoneProblem } from './time-zone.ts';

type Check = NonNullable<FunctionDescriptor['checkConstants']>;

/** Looks at a zone that is known when the program is checked. */
const checkZone =
  (position: number): Check =>
  (args) => {
    const zone = args[position];
    const message = typeof zone === 'string' ? zoneProblem(zone) : undefined;
    return message === undefined ? undefined : { code: 'E051', message };
  };

interface ClockPart {
  readonly name: string;
  readonly summary: string;
  readonly examples: FunctionDescriptor['examples'];
  readonly part: (parts: TimeParts) => number;
}

/** A function that reads one part of a time, in UTC or in a zone. */
function clockPart({ name, summary, examples, part }: ClockPart): FunctionDescriptor {
  return defineFunction({
    name,
    category: 'time',
    parameters: [time('t'), optional(str('zone'))],
    result: always(INT),
    summary: `${summary} In UTC, or in the zone given.`,
    examples,
    checkConstants: checkZone(1),
    evaluate: (t, zone) => part(timeParts(t.ms + offsetAt(t, zone))),
  });
}

function offsetAt(t: Timestamp, zone: string | undefined): number {
  return zone === undefined ? 0 : zoneOffset(zone, t.ms);
}

const clockParts = [
  clockPart({
    name: 'year',
    summary: 'The year.',
    examples: [{ code: 'year(@2026-01-31T10:20:30Z)', result: '2026' }],
    part: ({ year }) => year,
  }),
  clockPart({
    name: 'month',
    summary: 'The month, 1 to 12.',
    examples: [{ code: 'month(@2026-01-31T10:20:30Z)', result: '1' }],
    part: ({ month }) => month,
  }),
  clockPart({
    name: 'day',
    summary: 'The day of the month, 1 to 31.',
    examples: [
      { code: 'day(@2026-01-31T23:20:30Z)', result: '31' },
      { code: 'day(@2026-01-31T23:20:30Z, "Europe/Berlin")', result: '1' },
    ],
    part: ({ day }) => day,
  }),
  clockPart({
    name: 'hour',
    summary: 'The hour, 0 to 23.',
    examples: [
      { code: 'hour(@2026-07-01T10:20:30Z)', result: '10' },
      { code: 'hour(@2026-07-01T10:20:30Z, "America/New_York")', result: '6' },
      { code: 'hour(@2026-07-01T10:20:30Z, "+05:30")', result: '15' },
    ],
    part: ({ hour }) => hour,
  }),
  clockPart({
    name: 'minute',
    summary: 'The minute, 0 to 59.',
    examples: [{ code: 'minute(@2026-01-31T10:20:30Z)', result: '20' }],
    part: ({ minute }) => minute,
  }),
  clockPart({
    name: 'second',
    summary: 'The second, 0 to 59, without its fraction.',
    examples: [{ code: 'second(@2026-01-31T10:20:30.5Z)', result: '30' }],
    part: ({ second }) => second,
  }),
  clockPart({
    name: 'weekday',
    summary: 'The day of the week, Monday 1 to Sunday 7.',
    examples: [{ code: 'weekday(@2026-02-01)', result: '7' }],
    part: ({ weekday }) => weekday,
  }),
];

const durationBetween = defineFunction({
  name: 'duration_between',
  category: 'time',
  parameters: [time('start'), time('end')],
  result: always(DURATION),
  summary: 'The time from start to end, negative when end is before start: `end - start`.',
  examples: [{ code: 'duration_between(@2026-01-31T10:00:00Z, @2026-01-31T11:30:00Z)', result: '1h30m' }],
  evaluate: (start, end) => subtract(end, start),
});

const toTimestamp = defineFunction({
  name: 'to_timestamp',
  aliases: ['parse'],
  category: 'time',
  parameters: [oneOf<string | number | Timestamp>('x', STR, ...NUMBER, TIMESTAMP), optional(str('zone'))],
  result: always(TIMESTAMP),
  summary:
    'A time from ISO 8601 text or from epoch milliseconds; null of text that is no time. Text without an offset is in UTC, or in the zone given.',
  examples: [
    { code: 'to_timestamp("2026-01-31T10:00:00+01:00")', result: '@2026-01-31T09:00:00Z' },
    { code: 'to_timestamp("2026-01-31", "Europe/Berlin")', result: '@2026-01-30T23:00:00Z' },
    { code: 'to_timestamp(1500)', result: '@1970-01-01T00:00:01.5Z' },
    { code: 'to_timestamp("yesterday")', result: 'null' },
  ],
  checkConstants: checkZone(1),
  evaluate: (x, zone) => {
    if (x instanceof Timestamp) return x;
    return typeof x === 'number' ? timestamp(x) : textToTimestamp(x, zone);
  },
});

function textToTimestamp(text: string, zone: string | undefined): Value {
  const read = readTimestamp(text.trim());
  if (!read) return null;
  return timestamp(zone === undefined || read.hasOffset ? read.ms : fromLocalTime(zone, read.ms));
}

const formatTimeFunction = defineFunction({
  name: 'format_time',
  category: 'time',
  parameters: [time('t'), str('pattern'), optional(str('zone'))],
  result: always(STR),
  summary:
    "The time as the pattern shows it, in UTC or in the zone given: `yyyy MM dd HH mm ss SSS` and their like, `EEE` and `MMM` names, `a` AM or PM, `XXX` the offset; other letters stand in '...'.",
  examples: [
    { code: 'format_time(@2026-01-31T10:20:30.5Z, "yyyy-MM-dd HH:mm:ss.SSS")', result: '"2026-01-31 10:20:30.500"' },
    { code: 'format_time(@2026-07-01T10:20:30Z, "EEE d MMM, h:mm a XXX", "Europe/Berlin")', result: '"Wed 1 Jul, 12:20 PM +02:00"' },
  ],
  checkConstants: (args) => {
    const message = typeof args[1] === 'string' ? timePatternProblem(args[1]) : undefined;
    return message === undefined ? checkZone(2)(args) : { code: 'E051', message };
  },
  evaluate: (t, pattern, zone) => formatTime(t.ms, pattern, offsetAt(t, zone)),
});

const now: FunctionDescriptor = {
  name: 'now',
  category: 'time',
  parameters: [],
  result: always(TIMESTAMP),
  summary: 'The time of the current event or result, never that of the wall clock.',
  examples: [{ code: 'now()', result: '@1970-01-01T00:00:00Z' }],
  nulls: 'propagate',
  evaluate: (_, context) => timestamp(context.now),
};

export const timeFunctions: readonly FunctionDescriptor[] = [...clockParts, durationBetween, toTimestamp, formatTimeFunction, now];

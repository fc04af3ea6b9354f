import type { Fields } from './event.ts';
import { readEventTime } from './event-time.ts';
import { compareText } from './text.ts';
import type { Value } from './value.ts';

/** A field that seems to say when events happened. */
export interface TimeLikeField {
  readonly name: string;
  /** Its values can be read as times; otherwise it has but the name of one. */
  readonly isTime: boolean;
  /** The first of them. */
  readonly example: Value;
}

const NAME_OF_TIME = /^@?(?:time_?stamp|ts|time|date_?time|event_?time|utc_?time|date|at)$/i;
const ENDS_AS_TIME = /(?:time|timestamp|date|_ts|_at|[a-z]At|Ts)$/;
/** Of a number that stands for a time: between 1990 and 2100. */
const [EARLIEST_MS, LATEST_MS] = [631_152_000_000, 4_102_444_800_000];
const DATE_LENGTH = 10;

/** Whether these values of a field are points in time: text with a date, or under the name of a time numbers as large as times are. */
export function areTimes(name: string, values: Iterable<Value>): boolean {
  let count = 0;
  for (const value of values) {
    if (value === null) continue;
    if (!isTimeValue(name, value)) return false;
    count++;
  }
  return count > 0;
}

function isTimeValue(name: string, value: Value): boolean {
  const ms = readEventTime(value);
  if (ms === undefined) return false;
  return typeof value === 'number' ? isNameOfTime(name) && ms >= EARLIEST_MS && ms <= LATEST_MS : true;
}

function isNameOfTime(name: string): boolean {
  return NAME_OF_TIME.test(name) || ENDS_AS_TIME.test(name);
}

/** Orders fields that hold times: first the one that says most likely when the event itself happened. */
export function compareTimeLike(one: Pick<TimeLikeField, 'name' | 'example'>, other: Pick<TimeLikeField, 'name' | 'example'>): number {
  return rankOf(one) - rankOf(other) || compareText(one.name, other.name);
}

function rankOf({ name, example }: Pick<TimeLikeField, 'name' | 'example'>): number {
  const isDateAlone = typeof example === 'string' && example.length === DATE_LENGTH;
  return (NAME_OF_TIME.test(name) ? 0 : ENDS_AS_TIME.test(name) ? 1 : 2) + (isDateAlone ? 3 : 0);
}

/** The field of these events that most likely says when they happened; undefined when none looks so. */
export function timeLikeField(events: readonly Fields[]): TimeLikeField | undefined {
  const values = new Map<string, Value[]>();
  for (const fields of events) {
    for (const [name, value] of fields) {
      if (value === null) continue;
      const known = values.get(name);
      if (known === undefined) values.set(name, [value]);
      else known.push(value);
    }
  }
  const found = Array.from(values, ([name, all]): TimeLikeField => ({ name, isTime: areTimes(name, all), example: all[0] ?? null }));
  const [time] = found.filter(({ isTime }) => isTime).sort(compareTimeLike);
  return time ?? found.filter(({ name, example }) => NAME_OF_TIME.test(name) && typeof example === 'string').sort(compareTimeLike)[0];
}

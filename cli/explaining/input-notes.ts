import { timestampText } from '../../shared/events/time-text.ts';
import type { UnreadType } from '../../worker/engine/streams/unread-types.ts';
import type { EventNotes, UnknownMember } from '../../worker/runtime/programs/event-notes.ts';
import { counted } from '../counts.ts';
import { clockText, literalText, visible } from '../event-text.ts';
import type { UntimedEvents } from '../simulation/untimed-events.ts';

/** What of the input could not have the effect that it was to have. All of it is counted; none of it is an error. */
export interface InputNotes extends Pick<EventNotes, 'late' | 'watermark' | 'unread' | 'unreadTypes' | 'unknownMembers'> {
  /** Undefined when all events have a time. */
  readonly untimed?: UntimedEvents | undefined;
}

/** Types that are named. */
const TYPES_SHOWN_MAX = 10;
const EXAMPLE_LENGTH_MAX = 40;

/** A line for each thing to know; none where there is nothing. */
export function noteLines({
  late,
  watermark,
  unread,
  unreadTypes: types,
  unknownMembers: unknown,
  untimed,
}: InputNotes): readonly string[] {
  const shown = types.slice(0, TYPES_SHOWN_MAX);
  const hidden = unread - shown.reduce((sum, { events }) => sum + events, 0);
  return [
    ...shown.map(unreadLine),
    ...(hidden > 0 ? [`${counted(hidden, 'event')} of further types, which no stream reads`] : []),
    ...unknownLines(unknown),
    ...(untimed === undefined ? [] : [untimedLine(untimed)]),
    ...(late > 0
      ? [
          `${counted(late, 'event')} ${late === 1 ? 'was' : 'were'} late${watermark === null ? '' : `: time stands at ${momentText(watermark)}`}`,
        ]
      : []),
  ];
}

/** The members that answers and summaries have for the notes. */
export function noteData({ late, unread, unreadTypes: types, unknownMembers: unknown, untimed }: InputNotes): object {
  return {
    events_late: late,
    events_unread: unread,
    unread_types: types.map(({ type, events, nearest }) => ({
      event_type: type,
      events,
      ...hintOf(nearest),
    })),
    events_untimed: untimed?.count ?? 0,
    ...(unknown.length === 0
      ? {}
      : { unknown_members: unknown.map(({ member, events, nearest }) => ({ member, events, ...hintOf(nearest) })) }),
    ...(untimed?.field?.isTime ? { time_field: untimed.field.name } : {}),
  };
}

function hintOf(nearest: string | null): object {
  return nearest === null ? {} : { did_you_mean: nearest };
}

/** A line for each of the most frequent. */
export function unknownLines(unknown: readonly UnknownMember[]): readonly string[] {
  return unknown.slice(0, TYPES_SHOWN_MAX).map(unknownLine);
}

function unknownLine({ member, events, nearest }: UnknownMember): string {
  const hint = nearest === null ? '' : ` (did you mean ${visible(nearest)}?)`;
  return `${counted(events, 'event')} with a member \`${visible(member)}\` beside the fields, which is passed over${hint}`;
}

function unreadLine({ type, events, nearest }: UnreadType): string {
  const hint = nearest === null ? '' : ` (did you mean ${visible(nearest)}?)`;
  return `${counted(events, 'event')} of type ${visible(type)}, which no stream reads${hint}`;
}

/** Where events without a time count. */
const TIMES_INSTEAD = {
  epoch: ['counts at 1970-01-01', 'all count at 1970-01-01'],
  before: ['counts at the time of the event before', 'count at the time of the event before'],
  arrival: ['counts at its arrival', 'count at their arrival'],
} as const;

function untimedLine({ count, time, field, timeField }: UntimedEvents): string {
  const verb = count === 1 ? 'carries' : 'carry';
  const where = `and ${TIMES_INSTEAD[time][count === 1 ? 0 : 1]}`;
  const named = timeField === undefined ? '' : ` (\`${visible(timeField)}\` is missing or no time)`;
  return `${counted(count, 'event')} ${verb} no time ${where}${named}${fieldText(field)}`;
}

function fieldText(field: UntimedEvents['field']): string {
  if (field === undefined) return '';
  const name = visible(field.name);
  if (field.isTime) return `; field \`${name}\` looks like one: --time-field ${name}`;
  const example = literalText(field.example);
  const short = example.length > EXAMPLE_LENGTH_MAX ? `${example.slice(0, EXAMPLE_LENGTH_MAX)}..` : example;
  return `; field \`${name}\` looks like one, but ${visible(short)} is neither ISO 8601 nor an epoch number`;
}

/** `03:35:59` on the first day of the epoch, where offsets of an event file lie; later with the date. */
function momentText(ms: number): string {
  const clock = clockText(ms);
  return /^\d\d:/.test(clock) ? clock.replace(/\.000$/, '') : timestampText(ms);
}

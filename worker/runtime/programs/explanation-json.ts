import { fieldsToJson, toJson } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { Explanation } from '../../engine/trace/explanation.ts';
import type { EventNotes } from './event-notes.ts';

const UNRECORDED =
  'what kept events back is remembered while a pipeline is watched (cep alerts watch, or POST ../watch), as none of a cluster can be; ' +
  'cep explain tells it of an event file';

/**
 * An explanation, and under `input` what of the input had no effect, as one line of JSON without its end: names in `snake_case`, times
 * as epoch milliseconds. `isRecorded`: the engine remembered what kept events back.
 */
export function explanationJson(explanation: Explanation, notes: EventNotes, isRecorded: boolean): string {
  const { late, watermark, unread, unreadTypes, incomplete, incompleteFields, unknownMembers } = notes;
  const input = {
    eventsLate: late,
    watermark,
    eventsUnread: unread,
    unreadTypes: unreadTypes.map(({ type, events, nearest }) => ({ eventType: type, events, ...(nearest && { didYouMean: nearest }) })),
    eventsIncomplete: incomplete,
    incompleteFields: incompleteFields.map(({ type, field, events }) => ({ eventType: type, field, events })),
    ...(unknownMembers.length > 0 && {
      unknownMembers: unknownMembers.map(({ member, events, nearest }) => ({ member, events, ...(nearest && { didYouMean: nearest }) })),
    }),
  };
  return write({ ...explanation, recorded: isRecorded, ...(!isRecorded && { hint: UNRECORDED }), input });
}

/** Fields and values are maps; everything else is plain data. */
function write(data: unknown): string {
  if (data instanceof Map) return fieldsToJson(data as ReadonlyMap<string, Value>);
  if (Array.isArray(data)) return `[${data.map(write).join(',')}]`;
  if (typeof data !== 'object' || data === null) return toJson(data as Value);
  const members = Object.entries(data).map(([name, value]) => `${JSON.stringify(snakeCase(name))}:${write(value)}`);
  return `{${members.join(',')}}`;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

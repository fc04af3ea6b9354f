import type { Static } from 'typebox';
import type { eventNotesSchema } from '../../shared/protocol/events.ts';

/** Why events that a worker has taken may have caused nothing. Members that mean nothing are counted where events come in. */
export type DeliveryNotes = Omit<Static<typeof eventNotesSchema>, 'unknown_members'>;

/** What a worker says of a batch; undefined when it has nothing to tell, as is usual. */
export function notesIn(result: DeliveryNotes): DeliveryNotes | undefined {
  const { events_late, watermark, events_unread, unread_types, events_incomplete, incomplete_fields } = result;
  if (events_late === undefined && events_unread === undefined && events_incomplete === undefined) return undefined;
  return {
    ...(events_late !== undefined && { events_late, ...(watermark !== undefined && { watermark }) }),
    ...(events_unread !== undefined && { events_unread, ...(unread_types !== undefined && { unread_types }) }),
    ...(events_incomplete !== undefined && { events_incomplete, ...(incomplete_fields !== undefined && { incomplete_fields }) }),
  };
}

interface NotesOfPipeline {
  readonly pipeline: string;
  readonly notes: DeliveryNotes;
}

interface Takers {
  /** Pipelines that events of the request went to. */
  readonly all: ReadonlySet<string>;
  /** Those of them that events of a type went to. */
  readonly of: (type: string) => readonly string[];
}

type UnreadType = NonNullable<DeliveryNotes['unread_types']>[number];
type IncompleteField = NonNullable<DeliveryNotes['incomplete_fields']>[number];

/**
 * What workers say of the events of a request. An event that is late in several pipelines, or incomplete, counts in each; one is unread when none
 * of them reads its type.
 */
export function joinedNotes(parts: readonly NotesOfPipeline[], takers: Takers): DeliveryNotes | undefined {
  const late = sum(parts, 'events_late');
  const incomplete = sum(parts, 'events_incomplete');
  const { unread, types } = unreadIn(parts, takers);
  const marks = parts.flatMap(({ notes: { watermark } }) => (watermark === undefined ? [] : watermark));
  const notes: DeliveryNotes = {
    ...(late > 0 && { events_late: late, ...(marks.length > 0 && { watermark: Math.max(...marks) }) }),
    ...(unread > 0 && { events_unread: unread, unread_types: types }),
    ...(incomplete > 0 && { events_incomplete: incomplete, incomplete_fields: fieldsIn(parts) }),
  };
  return Object.keys(notes).length === 0 ? undefined : notes;
}

function sum(parts: readonly NotesOfPipeline[], member: 'events_late' | 'events_unread' | 'events_incomplete'): number {
  return parts.reduce((total, { notes }) => total + (notes[member] ?? 0), 0);
}

function fieldsIn(parts: readonly NotesOfPipeline[]): IncompleteField[] {
  const fields = new Map<string, IncompleteField>();
  for (const one of parts.flatMap(({ notes }) => notes.incomplete_fields ?? [])) {
    const key = `${one.event_type}\0${one.field}`;
    fields.set(key, { ...one, events: one.events + (fields.get(key)?.events ?? 0) });
  }
  return [...fields.values()];
}

function unreadIn(parts: readonly NotesOfPipeline[], takers: Takers): { readonly unread: number; readonly types: UnreadType[] } {
  const byType = new Map<string, Map<string, UnreadType>>();
  for (const { pipeline, notes } of parts) {
    for (const one of notes.unread_types ?? []) {
      const byPipeline = byType.get(one.event_type) ?? new Map<string, UnreadType>();
      byType.set(one.event_type, byPipeline);
      byPipeline.set(pipeline, { ...one, events: one.events + (byPipeline.get(pipeline)?.events ?? 0) });
    }
  }
  const types: UnreadType[] = [];
  for (const [type, byPipeline] of byType) {
    if (!takers.of(type).every((name) => byPipeline.has(name))) continue;
    const [first] = byPipeline.values();
    if (first) types.push({ ...first, events: Math.max(...Array.from(byPipeline.values(), ({ events }) => events)) });
  }
  types.sort((one, other) => other.events - one.events);
  // A worker names the first hundred types.
  const named = types.reduce((total, { events }) => total + events, 0);
  return { unread: takers.all.size === 1 ? sum(parts, 'events_unread') : named, types };
}

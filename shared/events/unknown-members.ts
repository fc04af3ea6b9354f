import { nearestName } from '../language/diagnostics/nearest-name.ts';

/** Members of an event beside its fields. */
const MEMBERS = ['event_type', 'fields', 'data', 'timestamp', 'id'];
const READ: ReadonlySet<string> = new Set(['event_type', 'type', 'timestamp', '@timestamp', 'id']);
/** What others call the time of an event. */
const TIME_WORDS = /^(?:ts|time|date|datetime|event_?time|occurred_?at|created_?at)$/i;

const NONE: readonly string[] = [];

/** Members beside an object with the fields of an event that mean nothing: they are passed over. `timeField`: the one that says its time. */
export function unknownMembers(beside: ReadonlyMap<string, unknown>, timeField: string | undefined): readonly string[] {
  // Of nearly all events there are none, and each comes by here.
  for (const name of beside.keys()) if (!isRead(name, timeField)) return [...beside.keys()].filter((one) => !isRead(one, timeField));
  return NONE;
}

function isRead(name: string, timeField: string | undefined): boolean {
  return READ.has(name) || name === timeField;
}

/** So many names are counted each for itself: a file may have another one in each event. */
const NAMES_MAX = 100;

export function countUnknown(counts: Map<string, number>, name: string, events = 1): void {
  const before = counts.get(name);
  if (before !== undefined || counts.size < NAMES_MAX) counts.set(name, (before ?? 0) + events);
}

/** What whoever wrote such a name perhaps meant; null when nothing is near. */
export function meantMember(name: string): string | null {
  return nearestName(name, MEMBERS) ?? (TIME_WORDS.test(name) ? 'timestamp' : null);
}

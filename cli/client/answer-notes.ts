import { countUnknown } from '../../shared/events/unknown-members.ts';
import { unknownMembers } from '../../worker/runtime/programs/event-notes.ts';
import { counted, thousands } from '../counts.ts';
import { visible } from '../event-text.ts';
import type { InputNotes } from '../explaining/input-notes.ts';
import type { InjectAnswer } from './server-api.ts';

interface MissingField {
  readonly event_type: string;
  readonly field: string;
  events: number;
}

/** What a server said of the events of several requests: why they may have caused nothing. */
export class AnswerNotes {
  #late = 0;
  #watermark: number | null = null;
  #unread = 0;
  readonly #types = new Map<string, { events: number; readonly nearest: string | null }>();
  #incomplete = 0;
  readonly #fields = new Map<string, MissingField>();
  readonly #unknown = new Map<string, number>();

  add(answer: InjectAnswer): void {
    const { events_late: late = 0, watermark, events_unread: unread = 0, events_incomplete: incomplete = 0 } = answer;
    this.#late += late;
    if (watermark !== undefined) this.#watermark = Math.max(watermark, this.#watermark ?? watermark);
    this.#unread += unread;
    this.#incomplete += incomplete;
    for (const { event_type: type, events, did_you_mean: nearest = null } of answer.unread_types ?? []) {
      this.#types.set(type, { events: events + (this.#types.get(type)?.events ?? 0), nearest });
    }
    for (const { member, events } of answer.unknown_members ?? []) countUnknown(this.#unknown, member, events);
    for (const { event_type, field, events } of answer.incomplete_fields ?? []) {
      const key = `${event_type}.${field}`;
      this.#fields.set(key, { event_type, field, events: events + (this.#fields.get(key)?.events ?? 0) });
    }
  }

  /** Members that were passed over before the events were sent. */
  addUnknown(members: readonly string[]): void {
    for (const member of members) countUnknown(this.#unknown, member);
  }

  /** Events, not fields. */
  get incomplete(): number {
    return this.#incomplete;
  }

  get incompleteFields(): readonly MissingField[] {
    return [...this.#fields.values()];
  }

  /** As in an answer, but for members of events that mean nothing: what there is to tell. */
  get members(): Pick<
    InjectAnswer,
    'events_late' | 'watermark' | 'events_unread' | 'unread_types' | 'events_incomplete' | 'incomplete_fields'
  > {
    const { late, watermark, unread, unreadTypes } = this.input;
    const types = unreadTypes.map(({ type, events, nearest }) => {
      return { event_type: type, events, ...(nearest !== null && { did_you_mean: nearest }) };
    });
    return {
      ...(late > 0 && { events_late: late, ...(watermark !== null && { watermark }) }),
      ...(unread > 0 && { events_unread: unread, unread_types: types }),
      ...(this.#incomplete > 0 && { events_incomplete: this.#incomplete, incomplete_fields: [...this.#fields.values()] }),
    };
  }

  get input(): InputNotes {
    const types = Array.from(this.#types, ([type, of]) => ({ type, ...of })).sort((one, other) => other.events - one.events);
    return {
      ...{ late: this.#late, watermark: this.#watermark, unread: this.#unread, unreadTypes: types },
      unknownMembers: unknownMembers(this.#unknown),
    };
  }
}

/** Lines for people about events that lack declared fields. */
export function incompleteLines({ incomplete, incompleteFields }: AnswerNotes): readonly string[] {
  if (incomplete === 0) return [];
  const fields = incompleteFields.map(
    ({ event_type: type, field, events }) => `  ${visible(`${type}.${field}`)} missing in ${counted(events, 'event')}`,
  );
  return [`Incomplete events: ${thousands(incomplete)}`, ...fields];
}

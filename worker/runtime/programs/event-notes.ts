import { meantMember } from '../../../shared/events/unknown-members.ts';
import type { EngineCounters } from '../../engine/engine.ts';
import { NamedCounts } from '../../engine/streams/named-counts.ts';
import { type UnreadType, unreadTypes } from '../../engine/streams/unread-types.ts';

/** A member of events that means nothing. */
export interface UnknownMember {
  readonly member: string;
  readonly events: number;
  /** What was perhaps meant; null where nothing is near. */
  readonly nearest: string | null;
}

/** What became of events that were taken, besides what they caused: why they may have caused nothing. */
export interface EventNotes {
  /** Events that came too late for some stream, and where event time stands behind them, epoch ms. */
  readonly late: number;
  readonly watermark: number | null;
  readonly unread: number;
  /** Of the first hundred types that no stream reads, the most frequent first. */
  readonly unreadTypes: readonly UnreadType[];
  readonly incomplete: number;
  /** Of the first hundred members that mean nothing and were passed over, the most frequent first. */
  readonly unknownMembers: readonly UnknownMember[];
  /** Of the first hundred declared fields that were missing. */
  readonly incompleteFields: readonly { readonly type: string; readonly field: string; readonly events: number }[];
}

const NAMED_MAX = 100;

/** By how many events have them. */
export function unknownMembers(counts: Iterable<readonly [member: string, events: number]>): readonly UnknownMember[] {
  const found = Array.from(counts, ([member, events]) => ({ member, events, nearest: meantMember(member) }));
  return found.sort((one, other) => other.events - one.events);
}

/** Collects the notes of events that an engine takes. */
export class CollectedNotes {
  readonly #lateBefore: number;
  #unread = 0;
  readonly #unreadTypes = new NamedCounts(NAMED_MAX);
  readonly #unknown = new NamedCounts(NAMED_MAX);
  #incomplete = 0;
  readonly #fields = new Map<string, { readonly type: string; readonly field: string; events: number }>();

  /** `lateBefore`: what the engine has counted as late so far. */
  constructor(lateBefore: number) {
    this.#lateBefore = lateBefore;
  }

  unread(type: string, events: number): void {
    this.#unread += events;
    this.#unreadTypes.add(type, events);
  }

  unknownMembers(names: readonly string[]): void {
    for (const name of names) this.#unknown.add(name);
  }

  incomplete(type: string, fields: readonly string[]): void {
    this.#incomplete++;
    for (const field of fields) {
      const key = `${type}\0${field}`;
      const known = this.#fields.get(key);
      if (known !== undefined) known.events++;
      else if (this.#fields.size < NAMED_MAX) this.#fields.set(key, { type, field, events: 1 });
    }
  }

  /** Whether there is something to tell. `eventsLate`: what the engine has counted by now. */
  isSome(eventsLate: number): boolean {
    return eventsLate - this.#lateBefore + this.#unread + this.#incomplete + this.#unknown.all.size > 0;
  }

  /** `read`: the event types that some stream reads. */
  notes({ eventsLate, time }: Pick<EngineCounters, 'eventsLate' | 'time'>, read: ReadonlySet<string>): EventNotes {
    return {
      late: eventsLate - this.#lateBefore,
      watermark: time,
      unread: this.#unread,
      unreadTypes: unreadTypes(this.#unreadTypes.all, read),
      unknownMembers: unknownMembers(this.#unknown.all),
      incomplete: this.#incomplete,
      incompleteFields: [...this.#fields.values()],
    };
  }
}

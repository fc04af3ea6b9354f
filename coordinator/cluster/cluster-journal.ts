import type { GroupMember } from './group-member.ts';

export interface JournalEntry {
  readonly index: number;
  readonly type: string;
  /** What it happened to. */
  readonly id: string;
  /** Epoch ms. */
  readonly timestamp: number;
}

const ENTRIES_MAX = 1_000;
/** What happens all the time. */
const routine = new Set(['IngressAppended', 'CheckpointCommitted']);

/** What has happened in the cluster, as this member saw it since its process started. */
export class ClusterJournal {
  readonly #entries: JournalEntry[] = [];

  constructor(group: GroupMember) {
    group.onChange(({ index, nowMs }, events) => {
      for (const { type, id } of events) if (!routine.has(type)) this.#entries.push({ index, type, id, timestamp: nowMs });
      this.#entries.splice(0, this.#entries.length - ENTRIES_MAX);
    });
  }

  newestFirst(): readonly JournalEntry[] {
    return this.#entries.toReversed();
  }
}

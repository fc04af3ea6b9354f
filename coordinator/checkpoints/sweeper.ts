import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { garbageIn } from './garbage.ts';

export interface SweeperOptions {
  readonly group: GroupMember;
  /** Of this member. */
  readonly store: CheckpointStore;
  /** Of all members. */
  readonly shared?: CheckpointStore | undefined;
  readonly telemetry: Telemetry;
}

/** By then what was being written is there, and a store that did not answer may do so again. */
const AGAIN_MS = 60_000;

/** A group, or all that this member has. Whatever else there is in a shared store is not for it to judge. */
type Swept = string | 'all';

/** Removes checkpoints that nobody needs any more: at once, and again a minute later. */
export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #due = new Set<Swept>();
  readonly #again = new Set<Swept>();
  #timer: NodeJS.Timeout | undefined;
  #isSweeping = false;
  #isClosed = false;

  /** What was left when the process ended is removed too. */
  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#sweepLater('all');
  }

  sweep(swept: Swept): void {
    this.#due.add(swept);
    this.#sweepLater(swept);
    void this.#sweepDue();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #sweepLater(swept: Swept): void {
    if (this.#isClosed) return;
    this.#again.add(swept);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const one of this.#again) this.#due.add(one);
      this.#again.clear();
      void this.#sweepDue();
    }, AGAIN_MS).unref();
  }

  /** One after another: when a log is applied again, many groups change at once. */
  async #sweepDue(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    for (const swept of this.#due) {
      if (this.#isClosed) break;
      this.#due.delete(swept);
      await this.#sweepOne(swept);
    }
    this.#isSweeping = false;
  }

  async #sweepOne(swept: Swept): Promise<void> {
    const { group, store, shared, telemetry } = this.#options;
    const groupId = swept === 'all' ? undefined : swept;
    const isGarbage = garbageIn(group.state, groupId);
    // One member is enough to tidy up what is shared.
    const isForShared = groupId !== undefined && group.status().role === 'leader';
    for (const one of isForShared && shared ? [store, shared] : [store]) {
      try {
        await one.sweep(isGarbage, groupId);
      } catch (error) {
        telemetry.report('CheckpointsNotRemoved', { error: (error as Error).message });
        this.#sweepLater(swept);
      }
    }
  }
}

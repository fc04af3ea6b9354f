import type { CommittedCommand, ReplicatedState } from '../raft/group.ts';
import { apply } from '../state/apply.ts';
import { type ClusterState, emptyState, type LogIndex } from '../state/cluster-state.ts';
import type { ClusterEvent, CommandResult } from '../state/commands/outcome.ts';
import { decodeProposal, type Proposal, UnknownCommand } from '../state/commands.ts';
import { LATEST_FORMAT } from '../state/format.ts';
import { decodeSnapshot, encodeSnapshot } from '../state/snapshot.ts';

export type ReplicaListener = (state: ClusterState, events: readonly ClusterEvent[]) => void;

interface Waiting {
  readonly index: LogIndex;
  readonly resolve: (isReached: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

/** The state of the group as this member has it, and the only copy in the process. */
export class Replica implements ReplicatedState {
  /** The latest format that it reads. */
  readonly formatMax: number;
  #state: ClusterState = emptyState;
  /** Where the log has gone on without a command: the state does not know of that. */
  #passed: LogIndex = 0;
  readonly #listeners = new Set<ReplicaListener>();
  readonly #waiting = new Set<Waiting>();

  constructor(formatMax: number = LATEST_FORMAT) {
    this.formatMax = formatMax;
  }

  get state(): ClusterState {
    return this.#state;
  }

  /** Called after every command that changed something, and after a snapshot took the place of everything, then without events. Gives the way to stop it. */
  onChange(listener: ReplicaListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** @throws Error for an entry that this version cannot apply: it is not skipped, so the process must end */
  readonly apply = ({ index, term, data }: CommittedCommand): CommandResult => {
    const { state, result, events } = apply(this.#state, this.#readable(data, index), { index, term });
    this.#become(state);
    if (events.length > 0) this.#tell(events);
    return result;
  };

  readonly passed = (index: LogIndex): void => {
    this.#passed = index;
    this.#settleReached();
  };

  readonly save = (): Iterable<Uint8Array> => encodeSnapshot(this.#state);

  readonly restore = (bytes: Uint8Array): void => {
    this.#become(bytes.length === 0 ? emptyState : decodeSnapshot(bytes, this.formatMax));
    this.#tell([]);
  };

  /** Resolves with true when everything up to an index is applied, with false when that takes too long. */
  reached(index: LogIndex, withinMs: number): Promise<boolean> {
    if (this.#reachedIndex >= index) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiting: Waiting = { index, resolve, timer: setTimeout(() => this.#settle(waiting, false), withinMs) };
      this.#waiting.add(waiting);
    });
  }

  #readable(data: Uint8Array, index: LogIndex): Proposal {
    try {
      return decodeProposal(data, this.formatMax);
    } catch (cause) {
      if (!(cause instanceof UnknownCommand)) throw cause;
      const message = `entry ${index} of the log cannot be applied: ${cause.message}. Start the version of cep that the other members run`;
      throw new Error(message, { cause });
    }
  }

  get #reachedIndex(): LogIndex {
    return Math.max(this.#state.index, this.#passed);
  }

  #become(state: ClusterState): void {
    this.#state = state;
    this.#settleReached();
  }

  #settleReached(): void {
    for (const waiting of this.#waiting) if (waiting.index <= this.#reachedIndex) this.#settle(waiting, true);
  }

  #tell(events: readonly ClusterEvent[]): void {
    for (const listener of this.#listeners) listener(this.#state, events);
  }

  #settle(waiting: Waiting, isReached: boolean): void {
    clearTimeout(waiting.timer);
    this.#waiting.delete(waiting);
    waiting.resolve(isReached);
  }
}

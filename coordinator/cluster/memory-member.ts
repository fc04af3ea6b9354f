import type { Proposed, RaftMember, RaftStatus, ReplicatedState } from '../raft/group.ts';
import { RaftRefusal } from '../raft/group.ts';
import { LATEST_FORMAT } from '../state/format.ts';

export interface MemoryMemberOptions {
  readonly nodeId: number;
  readonly url: string;
  readonly state: ReplicatedState;
  /** The latest format of commands that it takes. @default the latest that there is */
  readonly formatMax?: number | undefined;
}

/** A group of one member without a disk: everything is agreed on at once, and gone when the process ends. */
export class MemoryMember implements RaftMember {
  readonly port = 0;
  readonly failed = new Promise<Error>(() => undefined);
  readonly #options: MemoryMemberOptions;
  #index = 0;
  #isClosed = false;

  constructor(options: MemoryMemberOptions) {
    this.#options = options;
    options.state.restore(new Uint8Array(0));
  }

  async propose(data: Uint8Array): Promise<Proposed> {
    this.#requireOpen();
    const place = { index: ++this.#index, term: 1 };
    return { ...place, result: this.#options.state.apply({ ...place, data }) };
  }

  async readIndex(): Promise<number> {
    this.#requireOpen();
    return this.#index;
  }

  status(): RaftStatus {
    const { nodeId, url, formatMax = LATEST_FORMAT } = this.#options;
    const index = this.#index;
    return {
      ...{ nodeId, role: 'leader', leader: nodeId, leaderUrl: url, term: 1, isRecovering: false, isRemoved: false },
      ...{ commitIndex: index, appliedIndex: index, lastIndex: index },
      peers: [{ id: nodeId, url, role: 'voter', isReachable: true, formatMax, matchIndex: index, lag: 0 }],
    };
  }

  onStatus(): () => void {
    return () => undefined;
  }

  async changeMembership(): Promise<void> {
    throw new RaftRefusal('invalid', this.#options.nodeId, this.#options.url);
  }

  async transferLeadership(): Promise<void> {
    throw new RaftRefusal('invalid', this.#options.nodeId, this.#options.url);
  }

  setPeers(): void {
    // There are none but itself.
  }

  renewCertificate(): void {
    // It connects with nobody.
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new RaftRefusal('stopped');
  }
}

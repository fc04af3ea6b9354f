import { type RaftMember, type RaftPeer, RaftRefusal } from '../raft/group.ts';
import { indexKey } from '../state/cluster-state.ts';
import { encodeProposal } from '../state/commands.ts';
import { raftPeerOf } from './raft-address.ts';
import type { Replica } from './replica.ts';

export interface MemberDirectoryOptions {
  readonly member: RaftMember;
  readonly replica: Replica;
  /** Those that the operator named. */
  readonly named: readonly RaftPeer[];
  /** Epoch ms. */
  readonly clock: () => number;
}

/**
 * Keeps the member told where the others are, by what the group knows, else by what the operator named; and as a leader tells the group of
 * those whom only the operator named, so that members that join later learn of them.
 */
export class MemberDirectory {
  readonly #options: MemberDirectoryOptions;
  #isTelling = false;
  /** The ids that the group counted when the member was last directed. */
  #configured: readonly number[] = [];

  constructor(options: MemberDirectoryOptions) {
    this.#options = options;
    options.replica.onChange((_state, events) => {
      if (events.length === 0 || events.some(({ type }) => type.startsWith('Member'))) this.#direct();
    });
    options.member.onStatus(({ peers }) => {
      if (peers.map(({ id }) => id).join() !== this.#configured.join()) this.#direct();
      void this.#tell();
    });
    this.#direct();
    void this.#tell();
  }

  #direct(): void {
    const { member, replica, named } = this.#options;
    const known = Array.from(replica.state.members.values(), ({ id, url }) => raftPeerOf(id, url));
    const others = named.filter(({ id }) => !known.some((one) => one.id === id) && !replica.state.removedMembers.includes(id));
    this.#configured = member.status().peers.map(({ id }) => id);
    // One that the group still counts is heard, whatever the state says of it.
    const removed = replica.state.removedMembers.filter((id) => !this.#configured.includes(id));
    member.setPeers([...known, ...others], removed);
  }

  async #tell(): Promise<void> {
    const { member, replica, named, clock } = this.#options;
    if (this.#isTelling || member.status().role !== 'leader') return;
    this.#isTelling = true;
    try {
      const configured = member.status().peers.map(({ id }) => id);
      for (const { id, url } of named) {
        const { members, removedMembers } = replica.state;
        if (members.has(indexKey(id)) || removedMembers.includes(id) || !configured.includes(id)) continue;
        await member.propose(encodeProposal({ command: { type: 'SetMember', payload: { id, url } }, request: undefined, atMs: clock() }));
      }
    } catch (error) {
      // It leads no more; whoever does tells them.
      if (!(error instanceof RaftRefusal)) throw error;
    } finally {
      this.#isTelling = false;
    }
  }
}

import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
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
  /** They are where the operator says, whatever the group knows: its data were brought to other machines. */
  readonly areMoved: boolean;
  readonly telemetry: Telemetry;
  /** Epoch ms. */
  readonly clock: () => number;
}

/**
 * Keeps the member told where the others are, by what the group knows, else by what the operator named; and as a leader tells the group of
 * those whom only the operator named, so that members that join later learn of them. Of those that have moved, what the operator named comes
 * first, and the group is told of it.
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
    const { member, replica, named, areMoved } = this.#options;
    const { members, removedMembers } = replica.state;
    const known = Array.from(members.values(), ({ id, url }) => raftPeerOf(id, url));
    const counted = named.filter(({ id }) => !removedMembers.includes(id));
    const [first, second] = areMoved ? [counted, known] : [known, counted];
    this.#configured = member.status().peers.map(({ id }) => id);
    // One that the group still counts is heard, whatever the state says of it.
    const removed = removedMembers.filter((id) => !this.#configured.includes(id));
    member.setPeers([...first, ...second.filter(({ id }) => !first.some((one) => one.id === id))], removed);
  }

  /** Says whose addresses are taken; and which members the group knows at others than those named, either of which may be the mistake. */
  report(): void {
    const { replica, named, areMoved, telemetry } = this.#options;
    if (areMoved) telemetry.report('RaftAddressesGiven', {});
    for (const { id, url } of named) {
      const known = replica.state.members.get(indexKey(id))?.url;
      if (!areMoved && known !== undefined && known !== url) telemetry.report('RaftAddressesDiffer', { peer: id, known, named: url });
    }
  }

  async #tell(): Promise<void> {
    const { member, named, clock } = this.#options;
    if (this.#isTelling || member.status().role !== 'leader') return;
    this.#isTelling = true;
    try {
      const configured = member.status().peers.map(({ id }) => id);
      for (const { id, url } of named) {
        if (!configured.includes(id) || !this.#isNews(id, url)) continue;
        await member.propose(encodeProposal({ command: { type: 'SetMember', payload: { id, url } }, request: undefined, atMs: clock() }));
      }
    } catch (error) {
      // It leads no more; whoever does tells them.
      if (!(error instanceof RaftRefusal)) throw error;
    } finally {
      this.#isTelling = false;
    }
  }

  /** What the group does not know of a member, and would take. */
  #isNews(id: number, url: string): boolean {
    const { replica, areMoved } = this.#options;
    const { members, removedMembers } = replica.state;
    if (removedMembers.includes(id)) return false;
    const known = members.get(indexKey(id))?.url;
    if (known === undefined) return true;
    // No two members have one URL: one that another has is free once that one has moved. Members that exchange theirs are not told of, as neither goes first.
    return areMoved && known !== url && ![...members.values()].some((one) => one.url === url);
  }
}

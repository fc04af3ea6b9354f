import { expect, it, vi } from 'vitest';
import { MemberDirectory } from '../../../../coordinator/cluster/member-directory.ts';
import { MemoryMember } from '../../../../coordinator/cluster/memory-member.ts';
import { raftPeerOf } from '../../../../coordinator/cluster/raft-address.ts';
import { Replica } from '../../../../coordinator/cluster/replica.ts';
import type { RaftPeer, RaftStatus } from '../../../../coordinator/raft/group.ts';
import { encodeProposal } from '../../../../coordinator/state/commands.ts';
import type { Telemetry } from '../../../../shared/telemetry/internal-events.ts';

/** A leader of three, which keeps where it was told that they are. */
class Leader extends MemoryMember {
  peers: readonly string[] = [];

  override status(): RaftStatus {
    const status = super.status();
    const [own] = status.peers;
    if (own === undefined) return status;
    return { ...status, peers: [1, 2, 3].map((id) => ({ ...own, id })) };
  }

  override setPeers(peers: readonly RaftPeer[] = []): void {
    this.peers = peers.map(({ id, url }) => `${id} ${url}`).sort();
  }
}

/** A group that knows its members at some URLs, and whose operator has named others. */
async function directed(known: readonly string[], named: readonly string[], areMoved: boolean) {
  const replica = new Replica();
  const member = new Leader({ nodeId: 1, url: 'http://a:9100', state: replica });
  for (const [at, url] of known.entries()) {
    await member.propose(encodeProposal({ command: { type: 'SetMember', payload: { id: at + 1, url } }, request: undefined, atMs: 1 }));
  }
  const said: unknown[] = [];
  const telemetry = { report: (...event: unknown[]) => said.push(event) } as unknown as Telemetry;
  const peers = named.map((url, at) => raftPeerOf(at + 1, url));
  const directory = new MemberDirectory({ member, replica, named: peers, areMoved, clock: () => 2, telemetry });
  directory.report();
  return { member, said, urls: () => Array.from(replica.state.members.values(), ({ id, url }) => `${id} ${url}`).sort() };
}

const known = ['http://a:9100', 'http://b:9100', 'http://c:9100'];
// The machine of the second member is the third one's now.
const named = ['http://a:9100', 'http://d:9100', 'http://b:9100'];
const at = (urls: readonly string[]) => urls.map((url, index) => `${index + 1} ${url}`);

it('goes by what the group knows of its members, and says where that is not what was named', async () => {
  const { member, said, urls } = await directed(known, named, false);
  expect(member.peers).toEqual(at(known));
  expect(urls()).toEqual(at(known));
  expect(said).toEqual([
    ['RaftAddressesDiffer', { peer: 2, known: 'http://b:9100', named: 'http://d:9100' }],
    ['RaftAddressesDiffer', { peer: 3, known: 'http://c:9100', named: 'http://b:9100' }],
  ]);
});

it('goes by what was named where members have moved, and tells the group', async () => {
  const { member, said, urls } = await directed(known, named, true);
  expect(member.peers).toEqual(at(named));
  await vi.waitFor(() => expect(urls()).toEqual(at(named)));
  expect(said).toEqual([['RaftAddressesGiven', {}]]);
});

it('tells the group of members that nobody but the operator has named', async () => {
  const { member, said, urls } = await directed([], named, false);
  expect(member.peers).toEqual(at(named));
  await vi.waitFor(() => expect(urls()).toEqual(at(named)));
  expect(said).toEqual([]);
});

import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import type { TlsPair } from '../../../shared/security/tls-files.ts';
import type { NodeId } from '../core/messages.ts';
import type { PeerSecrets, PeerTls, Purpose, Verdict } from './handshake.ts';
import type { KnownIncarnations } from './known-incarnations.ts';
import { type LinkLoss, PeerLink } from './peer-link.ts';
import { PeerListener } from './peer-listener.ts';

/** Time that a connection for snapshots stays without one. */
const snapshotIdleMs = 30_000;

export interface PeerAddress {
  readonly id: NodeId;
  readonly host: string;
  readonly port: number;
}

export interface PeerConnectionsOptions {
  readonly secrets: PeerSecrets;
  readonly listen: { readonly host: string; readonly port: number };
  readonly known: KnownIncarnations;
  readonly door: OutboundDoor;
  /** `0 <= x < 1` */
  readonly random: () => number;
  /** A packet of a member that has shown who it is. Throws `DamagedRecord` for what is none. */
  readonly take: (from: NodeId, packet: Uint8Array) => void;
  readonly changed: (id: NodeId, isOpen: boolean, reason: string) => void;
  /** The process of this member is gone: its connection has closed, and nobody listens where it was. */
  readonly gone: (id: NodeId) => void;
  /** Another member says that this one may not take part. */
  readonly rejected: (by: NodeId, verdict: Exclude<Verdict, 'accepted'>) => void;
  readonly refused: (remote: string, reason: string) => void;
}

interface Link {
  readonly address: PeerAddress;
  readonly link: PeerLink;
  idle?: NodeJS.Timeout;
}

/** All connections of a member: one outward to each other for messages, one for snapshots while there are any, and those that come in. */
export class PeerConnections {
  readonly #options: PeerConnectionsOptions;
  readonly #listener: PeerListener;
  readonly #addresses = new Map<NodeId, PeerAddress>();
  readonly #links: Readonly<Record<Purpose, Map<NodeId, Link>>> = { messages: new Map(), snapshots: new Map() };
  /** Members whose connection has closed since it was last open. */
  readonly #closed = new Set<NodeId>();
  /** Why there is no connection, as it was told. */
  readonly #reasons = new Map<NodeId, string>();

  #tls: PeerTls | undefined;
  #removed: ReadonlySet<NodeId> = new Set();

  private constructor(options: PeerConnectionsOptions, listener: PeerListener) {
    this.#options = options;
    this.#tls = options.secrets.tls;
    this.#listener = listener;
  }

  /** @throws CepError `runtime_error` when it cannot bind */
  static async start(options: PeerConnectionsOptions): Promise<PeerConnections> {
    const { secrets, listen, known, take, refused } = options;
    const { self, clusterId } = secrets;
    let connections: PeerConnections | undefined;
    const listener = await PeerListener.start({
      listen,
      secrets,
      // One that was away has no answer from here before the way to it is open too.
      admitted: (from) => connections?.hurry(from),
      take,
      refused,
      judge: async (hello) => {
        if (hello.clusterId !== clusterId) return 'otherCluster';
        if (hello.to !== self.id) return 'otherNode';
        if (hello.from === self.id || hello.from === 0) return 'notAMember';
        if (connections?.isRemoved(hello.from)) return 'removed';
        return (await known.admits(hello.from, hello.incarnation)) ? 'accepted' : 'identityLost';
      },
    });
    connections = new PeerConnections(options, listener);
    return connections;
  }

  isRemoved(id: NodeId): boolean {
    return this.#removed.has(id);
  }

  get port(): number {
    return this.#listener.port;
  }

  hurry(id: NodeId): void {
    this.#links.messages.get(id)?.link.hurry();
  }

  isReachable(id: NodeId): boolean {
    return this.#links.messages.get(id)?.link.isOpen === true;
  }

  /** The latest format of commands that a member takes; undefined while there is no connection to it. */
  formatOf(id: NodeId): number | undefined {
    return this.#links.messages.get(id)?.link.formatMax;
  }

  /** Where the others are; links to those that are not named any more are closed. Those that were removed are told so, should they come. */
  setPeers(peers: readonly PeerAddress[], removed: readonly NodeId[] = []): void {
    for (const id of removed) if (!this.#removed.has(id)) this.#listener.expel(id);
    this.#removed = new Set(removed);
    const { self } = this.#options.secrets;
    const others = new Map(peers.filter(({ id }) => id !== self.id).map((peer) => [peer.id, peer]));
    for (const links of Object.values(this.#links)) {
      for (const [id, { address }] of links) {
        const now = others.get(id);
        if (now?.host !== address.host || now.port !== address.port) this.#close(links, id);
      }
    }
    this.#addresses.clear();
    for (const [id, address] of others) {
      this.#addresses.set(id, address);
      if (!this.#links.messages.has(id)) this.#links.messages.set(id, { address, link: this.#link(address, 'messages') });
    }
  }

  /** For connections that are made from now on; those that are open keep theirs. */
  renewCertificate(pair: TlsPair): void {
    if (this.#tls === undefined) return;
    this.#tls = { ...this.#tls, ...pair };
    this.#listener.renew(this.#tls);
  }

  /** False when it is dropped; it is made only when there is room for it. */
  send(to: NodeId, make: () => Uint8Array, purpose: Purpose): boolean {
    const link = purpose === 'messages' ? this.#links.messages.get(to)?.link : this.#linkForSnapshots(to);
    return link?.hasRoom === true && link.send(make());
  }

  /** The first part finds no connection and is sent again. */
  #linkForSnapshots(to: NodeId): PeerLink | undefined {
    const address = this.#addresses.get(to);
    if (address === undefined) return undefined;
    const links = this.#links.snapshots;
    const found = links.get(to) ?? { address, link: this.#link(address, 'snapshots') };
    links.set(to, found);
    clearTimeout(found.idle);
    found.idle = setTimeout(() => this.#close(links, to), snapshotIdleMs);
    return found.link;
  }

  #close(links: Map<NodeId, Link>, id: NodeId): void {
    const found = links.get(id);
    clearTimeout(found?.idle);
    found?.link.close();
    links.delete(id);
  }

  #link({ id, host, port }: PeerAddress, purpose: Purpose): PeerLink {
    const { secrets, door, random, known, changed, rejected } = this.#options;
    return new PeerLink({
      to: id,
      host,
      port,
      purpose,
      secrets,
      tls: () => this.#tls,
      door,
      random,
      admits: (incarnation) => known.admits(id, incarnation),
      opened: () => {
        if (purpose !== 'messages') return;
        this.#reasons.delete(id);
        this.#closed.delete(id);
        changed(id, true, '');
      },
      lost: (loss, reason) => {
        if (purpose === 'messages') this.#lost(id, loss, reason);
      },
      rejected: (verdict) => rejected(id, verdict),
    });
  }

  #lost(id: NodeId, loss: LinkLoss, reason: string): void {
    const wasOpen = loss === 'closed';
    if (wasOpen) this.#closed.add(id);
    // One that is being torn down may take a connection yet, and break it off.
    else if (loss === 'refused' && this.#closed.delete(id)) this.#options.gone(id);
    // An attempt that fails like the one before it is no news.
    if (this.#reasons.get(id) === reason) return;
    this.#reasons.set(id, reason);
    this.#options.changed(id, false, reason);
  }

  async close(): Promise<void> {
    for (const links of Object.values(this.#links)) for (const id of [...links.keys()]) this.#close(links, id);
    await this.#listener.close();
  }
}

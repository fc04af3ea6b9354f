import { randomInt } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { type MessagePort, parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import { CepError } from '../../../shared/errors/error.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { FieldsOf, InternalEventName } from '../../../shared/telemetry/internal-events.ts';
import { metrics } from '../../../shared/telemetry/metrics-table.ts';
import { RepeatedReports } from '../../../shared/telemetry/repeated-reports.ts';
import { sentError } from '../../../shared/threads/sent-error.ts';
import type { NodeId } from '../core/messages.ts';
import { raftDefaults } from '../core/state.ts';
import { makeRaftFolder } from '../driver/level-disk.ts';
import { type DriverOutlet, RaftDriver } from '../driver/raft-driver.ts';
import { StandstillWatch } from '../driver/standstill-watch.ts';
import type { MembershipChange } from '../group.ts';
import { KnownIncarnations } from '../peers/known-incarnations.ts';
import { PeerConnections } from '../peers/peer-connections.ts';
import { changeOf } from './membership.ts';
import {
  decodeProposals,
  encodeCommitted,
  type FromRaftThread,
  type ThreadEvent,
  type ThreadSetup,
  type ThreadStatus,
  type ToRaftThread,
} from './messages.ts';

const statusMs = 250;
/** How long refused connections of one machine and reason are counted before they are told again: a member with another key comes back every second. */
const refusalsCountedMs = 60_000;
/** So many machines and reasons are counted each for itself at a time: anybody can be refused as often as they like. */
const refusalKindsMax = 16;
/** Below it a node does not start: a log that cannot grow is of no use to the group. */
const freeBytesMin = 67_108_864;
/** Of a change of members that is refused, in heartbeats: as long as an election takes at most. */
const changeTriesMax = 14;
const writeBuckets = metrics.cep_raft_wal_sync_seconds.buckets;

/** What runs on the Raft thread: the driver with its disk and the connections, for a state machine in another thread. */
class RaftThread {
  readonly #port: MessagePort;
  readonly #setup: ThreadSetup;
  readonly #writes = { counts: new Array<number>(writeBuckets.length + 1).fill(0), sum: 0 };
  #packetsDropped = 0;
  #connectionsRefused = 0;
  readonly #refusals = new RepeatedReports<{ readonly remote: string; readonly reason: string }>({
    ...{ everyMs: refusalsCountedMs, kindsMax: refusalKindsMax },
    tell: (refusal, connections) => this.#event('RaftConnectionRefused', { ...refusal, connections }),
  });
  #driver: RaftDriver | undefined;
  #peers: PeerConnections | undefined;
  #statusTimer: NodeJS.Timeout | undefined;
  #isTelling = false;
  readonly #standstillWatch: StandstillWatch;
  /** Reads that came in this turn of the loop, and so are one to the core. */
  #reads: number[] = [];
  readonly #readsOf = new Map<number, readonly number[]>();
  /** Changes of members that wait for their answer. */
  readonly #changes = new Map<number, { readonly change: MembershipChange; readonly tries: number }>();
  #ended: () => void = () => undefined;
  #isClosing = false;
  #isRemoved = false;

  constructor(port: MessagePort, setup: ThreadSetup) {
    this.#port = port;
    this.#setup = setup;
    this.#standstillWatch = new StandstillWatch(raftDefaults.electionTicks * setup.tickMs);
  }

  async start(): Promise<void> {
    const { dataDir, clusterId, nodeId, peers, listen, key, tls, formatMax, tickMs, snapshotEntries } = this.#setup;
    await requireSpace(dataDir);
    const driver = await RaftDriver.start({
      folder: dataDir,
      identity: { clusterId, nodeId, incarnation: randomInt(1, 2 ** 47), voters: peers.map(({ id }) => id) },
      send: (to, make, purpose) => {
        const isSent = this.#peers?.send(to, make, purpose) === true;
        if (!isSent) this.#packetsDropped++;
        return isSent;
      },
      outlet: this.#outlet(),
      random: (bound) => randomInt(bound),
      report: (problem) => this.#event('RaftLogRepaired', { problem }),
      tickMs,
      snapshotEntries,
    });
    this.#driver = driver;
    this.#peers = await PeerConnections.start({
      secrets: { clusterId, self: { id: nodeId, incarnation: driver.identity.incarnation, formatMax }, key, tls },
      listen,
      known: await KnownIncarnations.open(dataDir),
      door: new OutboundDoor(NetworkPolicy.everywhere),
      random: Math.random,
      take: (from, packet) => driver.receive(from, packet),
      changed: (id, isOpen, reason) => {
        if (isOpen) this.#event('RaftPeerConnected', { peer: id });
        else this.#event('RaftPeerLost', { peer: id, reason });
      },
      gone: (id) => driver.forgetLeader(id),
      rejected: (by, verdict) => {
        if (verdict === 'removed') this.#removed(by);
        else if (verdict === 'identityLost') this.#fail(identityLost(this.#setup, by));
        else this.#connectionRefused(`node ${by}`, verdict);
      },
      refused: (remote, reason) => this.#connectionRefused(remote, reason),
    });
    this.#peers.setPeers(peers);
    this.#post({ kind: 'started', port: this.#peers.port, status: this.#status() });
    driver.begin();
    this.#statusTimer = setInterval(() => {
      const now = performance.now();
      const silentMs = this.#standstillWatch.passed(statusMs, now);
      if (silentMs !== undefined && this.#leaveTo('RaftStandstill', silentMs)) this.#standstillWatch.handsOver(now);
      this.#tellStatus();
    }, statusMs);
  }

  #outlet(): DriverOutlet {
    return {
      restore: (state, index) => this.#post({ kind: 'restore', index, state: state.slice() }),
      committed: (batch) => {
        const message = encodeCommitted(batch);
        this.#post(message, [message.memory]);
      },
      done: (id, index) => {
        const reads = this.#readsOf.get(id) ?? [id];
        this.#readsOf.delete(id);
        this.#changes.delete(id);
        for (const read of reads) this.#post({ kind: 'done', id: read, index });
      },
      refused: (id, reason, leader) => {
        if (reason === 'invalid' && this.#triesAgain(id)) return;
        this.#changes.delete(id);
        const reads = this.#readsOf.get(id) ?? [id];
        this.#readsOf.delete(id);
        for (const read of reads) this.#post({ kind: 'refused', id: read, reason, leader });
      },
      snapshotWanted: () => this.#post({ kind: 'snapshotWanted' }),
      changed: () => {
        if (this.#isTelling) return;
        this.#isTelling = true;
        setImmediate(() => this.#tellStatus());
      },
      written: (ms) => {
        const seconds = ms / 1_000;
        const bucket = writeBuckets.findIndex((bound) => seconds <= bound);
        const at = bucket < 0 ? writeBuckets.length : bucket;
        this.#writes.counts[at] = (this.#writes.counts[at] as number) + 1;
        this.#writes.sum += seconds;
      },
      // Within a step, which another must not begin in.
      diskIsSlow: (lagMs) => setImmediate(() => this.#leaveTo('RaftDiskSlow', lagMs)),
      stalled: (ms) => this.#event('RaftLoopStalled', { seconds: ms / 1_000 }),
      failed: (cause) => this.#fail(cause instanceof Error && cause.name === 'InvariantError' ? cause : diskFailed(this.#setup, cause)),
    };
  }

  take(message: ToRaftThread) {
    const driver = this.#driver;
    this.#standstillWatch.heard();
    if (driver === undefined) return;
    switch (message.kind) {
      case 'awake':
        return;
      case 'propose':
        for (const { id, data } of decodeProposals(message)) driver.propose(id, data);
        return;
      case 'read':
        return this.#read(message.id);
      case 'changeMembers':
        return this.#changeMembers(driver, message.id, message.change);
      case 'transfer':
        return driver.transferTo(message.to);
      case 'applied':
        return driver.applied(message.index);
      case 'snapshot':
        return driver.snapshotTaken(message.index, message.state);
      case 'peers':
        return this.#peers?.setPeers(message.peers, message.removed);
      case 'certificate':
        return this.#peers?.renewCertificate(message.pair);
      case 'close':
        if (this.#isClosing) return;
        this.#isClosing = true;
        void this.#close(message.transfers);
    }
  }

  #read(id: number): void {
    this.#reads.push(id);
    if (this.#reads.length > 1) return;
    setImmediate(() => {
      const reads = this.#reads;
      this.#reads = [];
      this.#readsOf.set(id, reads);
      this.#driver?.read(id);
    });
  }

  #changeMembers(driver: RaftDriver, id: number, change: MembershipChange) {
    const { configuration, configurationIndex, log, role, leader } = driver.view;
    const wanted = changeOf(configuration, change);
    if (wanted === 'invalid') return this.#post({ kind: 'refused', id, reason: 'invalid', leader });
    if (wanted === 'done') {
      // What is in the log and not agreed on yet may come to nothing.
      if (role !== 'leader') return this.#post({ kind: 'refused', id, reason: 'notLeader', leader });
      if (configurationIndex > log.commit) return this.#post({ kind: 'refused', id, reason: 'changePending', leader });
      return this.#post({ kind: 'done', id, index: log.commit });
    }
    this.#changes.set(id, { change, tries: (this.#changes.get(id)?.tries ?? 0) + 1 });
    driver.changeMembers(id, wanted);
  }

  /**
   * Whether a removal leaves a majority is judged by who was heard of since the last check, and a learner may nearly be there: what is
   * refused now may be right a heartbeat later.
   */
  #triesAgain(id: number): boolean {
    const asked = this.#changes.get(id);
    if (asked === undefined || asked.tries >= changeTriesMax) return false;
    setTimeout(() => this.take({ kind: 'changeMembers', id, change: asked.change }), raftDefaults.heartbeatTicks * this.#setup.tickMs);
    return true;
  }

  #status(): ThreadStatus {
    const status = (this.#driver as RaftDriver).status;
    const { nodeId, formatMax } = this.#setup;
    const formats = new Map<NodeId, number>();
    for (const { id } of status.members) {
      const format = id === nodeId ? formatMax : this.#peers?.formatOf(id);
      if (format !== undefined) formats.set(id, format);
    }
    const counts = { writes: this.#writes, packetsDropped: this.#packetsDropped, connectionsRefused: this.#connectionsRefused };
    return { ...status, formats, ...counts, isRemoved: this.#isRemoved };
  }

  #tellStatus(): void {
    this.#isTelling = false;
    const status = this.#status();
    this.#post({ kind: 'status', status });
    if (status.role !== 'leader' && status.leader !== 0) this.#ended();
  }

  /**
   * A leader hands over first, and votes for who follows it; without that the others would have to find out that it is gone. What it is
   * asked meanwhile is answered: it refuses, and says who leads once it knows.
   */
  async #close(transfers: boolean): Promise<void> {
    const driver = this.#driver as RaftDriver;
    if (transfers) await this.#handOver(driver);
    clearInterval(this.#statusTimer);
    await driver.stop();
    await this.#peers?.close();
    this.#refusals.close();
    this.#post({ kind: 'closed' });
    this.#port.close();
  }

  /** The voter that is furthest, while this node leads. */
  #heir({ status: { role, members } }: RaftDriver): NodeId | undefined {
    if (role !== 'leader') return undefined;
    const candidates = members.filter(({ id, isVoter }) => isVoter && id !== this.#setup.nodeId && this.#peers?.isReachable(id));
    return candidates.sort((a, b) => (b.matchIndex ?? 0) - (a.matchIndex ?? 0))[0]?.id;
  }

  /** False when this node does not lead, or no other voter can be reached. */
  #leaveTo(why: 'RaftDiskSlow' | 'RaftStandstill', ms: number): boolean {
    const driver = this.#driver as RaftDriver;
    const to = this.#heir(driver);
    if (to === undefined || this.#isClosing) return false;
    this.#event(why, { to, seconds: ms / 1_000 });
    driver.transferTo(to);
    return true;
  }

  #handOver(driver: RaftDriver): Promise<void> {
    const to = this.#heir(driver);
    if (to === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, raftDefaults.electionTicks * this.#setup.tickMs);
      this.#ended = () => {
        clearTimeout(timer);
        resolve();
      };
      driver.transferTo(to);
    });
  }

  /** Only said: what the log here holds may be all that is left of it, and whoever has removed this member stops it. */
  #removed(by: NodeId): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#event('RaftMemberRemoved', { by });
    this.#tellStatus();
  }

  #connectionRefused(remote: string, reason: string): void {
    this.#connectionsRefused++;
    // Each connection has a port of its own.
    const machine = remote.replace(/:\d+$/, '');
    this.#refusals.count({ remote, reason }, { kind: `${machine} ${reason}`, broader: '' });
  }

  #event<N extends InternalEventName>(name: N, fields: FieldsOf<N>): void {
    this.#post({ kind: 'event', name, fields } as unknown as ThreadEvent);
  }

  #fail(cause: unknown): void {
    this.#post({ kind: 'failed', error: sentError(cause) });
    clearInterval(this.#statusTimer);
    void this.#driver?.stop().catch(() => undefined);
    void this.#peers?.close();
    this.#port.close();
  }

  #post(message: FromRaftThread, transfer: readonly TransferListItem[] = []): void {
    this.#port.postMessage(message, transfer);
  }
}

async function requireSpace(folder: string): Promise<void> {
  await makeRaftFolder(folder);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= freeBytesMin) return;
  const free = Math.floor((bavail * bsize) / 1_048_576);
  throw new CepError(
    'runtime_error',
    `the disk of '${folder}' has ${free} MiB left, and a member of a Raft group needs ${freeBytesMin / 1_048_576}`,
    {
      hint: 'free some space; nothing that was acknowledged is lost',
    },
  );
}

function identityLost({ nodeId, dataDir }: ThreadSetup, by: number): CepError {
  const hint = 'remove this member from the group, and add it again under an id that nobody had, with an empty data directory';
  const message = `node ${by} knows a node ${nodeId} with other data than those in '${dataDir}': what that one promised is lost here`;
  return new CepError('runtime_error', message, { hint });
}

function diskFailed({ dataDir }: ThreadSetup, cause: unknown): CepError {
  const found = textOf(cause);
  const hint = 'make sure that the disk works and has space, and start again: only a start finds out what the disk holds';
  return new CepError('runtime_error', `the Raft log in '${dataDir}' cannot be written: ${found}`, { hint, cause });
}

/** With what the database says behind its own words. */
function textOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message}: ${textOf(cause.cause)}` : cause.message;
}

if (parentPort !== null) {
  const port = parentPort;
  const thread = new RaftThread(port, (workerData as { readonly setup: ThreadSetup }).setup);
  port.on('message', (message: ToRaftThread) => thread.take(message));
  thread.start().catch((error: unknown) => {
    port.postMessage({ kind: 'failed', error: sentError(error) } satisfies FromRaftThread);
    port.close();
  });
}

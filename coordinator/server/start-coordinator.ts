import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { Certificates } from '../../shared/http/certificates.ts';
import { listen } from '../../shared/http/listen.ts';
import { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../shared/security/network-policy.ts';
import type { TlsFiles, TlsPair } from '../../shared/security/tls-files.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { type Bucket, BucketStore } from '../checkpoints/bucket-store.ts';
import { type CheckpointStore, removeUnfinishedCheckpoints, SharedFolderStore } from '../checkpoints/checkpoint-store.ts';
import { FormatAgreement } from '../cluster/format-agreement.ts';
import { GroupMember } from '../cluster/group-member.ts';
import { GroupTime } from '../cluster/group-time.ts';
import { MemberDirectory } from '../cluster/member-directory.ts';
import { MemoryMember } from '../cluster/memory-member.ts';
import { RAFT_PORT_OFFSET, raftPeerOf } from '../cluster/raft-address.ts';
import { Replica } from '../cluster/replica.ts';
import { successorOf } from '../cluster/successor.ts';
import { type RaftMember, RaftRefusal } from '../raft/group.ts';
import { startRaftMember } from '../raft/start-raft-member.ts';
import { LATEST_FORMAT } from '../state/format.ts';
import type { ValidateProgram } from './routes/programs.ts';
import { type CoordinatorServer, type CoordinatorServerOptions, createCoordinatorServer, type WorkerSettings } from './server.ts';

/** A group that a coordinator is a member of. */
export interface GroupOptions {
  readonly nodeId: number;
  /** The URLs of the first members, in the order of their ids. */
  readonly peerUrls: readonly string[];
  /** They are at these URLs, whatever the log says: its data were brought to other machines. @default false */
  readonly areMoved?: boolean;
  readonly clusterId: string;
  /** What members know each other by, 16 bytes or more. */
  readonly key: string;
  /** PEM of the authority that has signed the certificates of the members; with it they talk over TLS. */
  readonly tlsCa?: string | undefined;
}

export interface StartCoordinatorOptions {
  readonly bind: string;
  /** 0 takes any free one; not in a group, whose members must find each other. */
  readonly port: number;
  readonly apiKey: string | undefined;
  readonly tls?: TlsFiles | undefined;
  /** PEM of the authorities of workers, and of other members where the group does not name one. @default that of the group, else those that this machine trusts */
  readonly tlsCa?: string | undefined;
  readonly rateLimit: number;
  readonly corsOrigins: readonly string[];
  readonly allowedHosts?: readonly string[];
  readonly trustedProxies?: readonly string[];
  /** Where the log is. @default in memory, which only a coordinator on its own may have */
  readonly dataDir: string | undefined;
  /** A folder or a bucket that all members keep checkpoints of pipelines in. @default each member keeps some of them in `dataDir` */
  readonly checkpoints?: SharedCheckpoints | undefined;
  /** The latest format that the log may be written in, so that an earlier version can read it. @default the latest that this version reads */
  readonly logFormatMax?: number | undefined;
  /** @default on its own */
  readonly group?: GroupOptions | undefined;
  readonly workers?: WorkerSettings | undefined;
  readonly scaling?: CoordinatorServerOptions['scaling'];
  readonly scalingWebhook?: CoordinatorServerOptions['scalingWebhook'];
  readonly validate: ValidateProgram;
  readonly telemetry: Telemetry;
}

export type SharedCheckpoints = { readonly folder: string } | { readonly bucket: Bucket };

export interface RunningCoordinator {
  /** Where it listens, with the port it has. */
  readonly url: string;
  /** Resolves when its member has stopped by itself; the process must end. */
  readonly failed: Promise<Error>;
  /** Reads the certificate again, for connections of the API and of Raft that are made from now on. */
  reloadCertificates(): Promise<void>;
  /** Ends in order: a leader hands over, requests under way are answered. */
  close(): Promise<void>;
}

/** Of a coordinator on its own, whose log nobody else has. */
const ALONE = 1;
const KEY_BYTES = 32;
/** Over which a member hands requests on to the leader: a thousand that come at once are not to cost it a thousand connections. */
const FORWARDING_CONNECTIONS_MAX = 64;

/**
 * Starts a coordinator, and waits until it serves what its log holds.
 * @throws CepError of what cannot be started; nothing is left running then
 */
export async function startCoordinator(options: StartCoordinatorOptions): Promise<RunningCoordinator> {
  const { telemetry, group, dataDir, apiKey } = options;
  const certificates = options.tls && (await Certificates.read(options.tls, telemetry));
  const tls = certificates?.pair;
  const replica = new Replica();
  const now = (): number => performance.now();
  const groupTime = new GroupTime({ replica, clusterTime: () => server?.clusterTime(), clock: Date.now, now });
  const clock = (): number => groupTime.next();
  // Workers and members may have certificates of two authorities; one that is named alone is that of both.
  const [workersCa, membersCa] = [options.tlsCa ?? group?.tlsCa, group?.tlsCa ?? options.tlsCa];
  const web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), {
    ...{ connectMs: 1_000, silenceMs: 15_000, ca: workersCa, remembersPeers: true },
  });
  const memberWeb = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 1_000, silenceMs: 15_000, ca: membersCa });
  const leaderWeb = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), {
    ...{ connectMs: 1_000, silenceMs: 15_000, ca: membersCa, connectionsMax: FORWARDING_CONNECTIONS_MAX },
  });
  // Whom it asks is no member of the group, and shows a certificate that the machine trusts.
  const storeWeb = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 5_000, silenceMs: 15_000 });
  const checkpointFolder = dataDir && join(dataDir, 'checkpoints');
  if (checkpointFolder !== undefined) await removeUnfinishedCheckpoints(checkpointFolder);
  const member = await startMember(options, replica, tls);
  let server: CoordinatorServer | undefined;
  const close = async (): Promise<void> => {
    certificates?.close();
    server?.drain();
    // While requests under way are still answered: those that come too late for this member are for the one that leads then.
    await handOver(member);
    await server?.close();
    await member.close();
    await Promise.all([web.close(), memberWeb.close(), leaderWeb.close(), storeWeb.close()]);
  };
  try {
    new FormatAgreement({ member, replica, clock, telemetry });
    const directory =
      group && new MemberDirectory({ member, replica, named: peersOf(group), areMoved: group.areMoved === true, clock, telemetry });
    const { rateLimit, corsOrigins, allowedHosts, trustedProxies = [], validate } = options;
    server = await createCoordinatorServer({
      ...{
        group: new GroupMember({ member, replica, clock }),
        isGroup: group !== undefined,
        clock: () => groupTime.present(),
        apiKey,
        web,
        memberWeb,
        leaderWeb,
        validate,
        telemetry,
      },
      ...{
        version: manifest.version,
        workers: options.workers,
        scaling: options.scaling,
        scalingWebhook: options.scalingWebhook,
        checkpointFolder,
        sharedCheckpoints: options.checkpoints && sharedStore(options.checkpoints, storeWeb, telemetry),
        rateLimit,
        corsOrigins,
        allowedHosts,
        trustedProxies,
        tls,
      },
    });
    const url = await listen(server.api, { bind: options.bind, port: options.port, what: 'the coordinator' });
    telemetry.report('CoordinatorListening', { url, version: manifest.version });
    certificates?.watch();
    directory?.report();
    if (dataDir === undefined) telemetry.report('ClusterStateInMemory', {});
    const { api } = server;
    const renew = async (): Promise<void> => {
      const pair = await certificates?.reload([api]);
      if (pair !== undefined) member.renewCertificate(pair);
    };
    return { url, failed: member.failed, reloadCertificates: renew, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function sharedStore(shared: SharedCheckpoints, web: WebDoor, telemetry: Telemetry): CheckpointStore {
  if ('bucket' in shared) return new BucketStore(shared.bucket, web);
  return new SharedFolderStore(shared.folder, { onDamage: (damage) => telemetry.report('CheckpointDamaged', damage) });
}

/** A leader lets another one lead, if there is one. */
async function handOver(member: RaftMember): Promise<void> {
  const status = member.status();
  const to = status.role === 'leader' ? successorOf(status) : undefined;
  if (to === undefined) return;
  try {
    await member.transferLeadership(to);
  } catch (error) {
    // The others elect one when it is gone.
    if (!(error instanceof RaftRefusal)) throw error;
  }
}

/** On its own it is a group of one: with a log on disk, or without. */
function startMember(options: StartCoordinatorOptions, replica: Replica, tls: TlsPair | undefined): Promise<RaftMember> | RaftMember {
  const { dataDir, group, bind, port, telemetry, logFormatMax: formatMax = LATEST_FORMAT } = options;
  const ownUrl = `${tls === undefined ? 'http' : 'https'}://${bind.includes(':') ? `[${bind}]` : bind}:${port}`;
  if (dataDir === undefined) return new MemoryMember({ nodeId: ALONE, url: ownUrl, state: replica, formatMax });
  if (group === undefined) {
    return startRaftMember({
      ...{ dataDir, clusterId: 'alone', nodeId: ALONE, peers: [raftPeerOf(ALONE, ownUrl)], state: replica, formatMax, telemetry },
      // Nobody is to connect to it.
      ...{ listen: { host: '127.0.0.1', port: 0 }, key: randomBytes(KEY_BYTES).toString('hex') },
    });
  }
  const { nodeId, clusterId, key, tlsCa } = group;
  return startRaftMember({
    ...{ dataDir, clusterId, nodeId, peers: peersOf(group), key, state: replica, formatMax, telemetry },
    listen: { host: bind, port: port + RAFT_PORT_OFFSET },
    ...(tls !== undefined && tlsCa !== undefined && { tls: { ...tls, ca: tlsCa } }),
  });
}

function peersOf({ peerUrls }: GroupOptions): ReturnType<typeof raftPeerOf>[] {
  return peerUrls.map((url, at) => raftPeerOf(at + 1, url));
}

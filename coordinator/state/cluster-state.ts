import { FIRST_FORMAT } from './format.ts';
import { Table } from './table.ts';
import type { MigrationStatus, PlacementStatus, WorkerStatus } from './transitions.ts';

/** What JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Place in the log of the group, from 1. */
export type LogIndex = number;

/** A connector that programs of the cluster share. */
export interface Connector {
  readonly name: string;
  /** As the language calls it. */
  readonly type: string;
  /** Nothing secret stands here in clear. */
  readonly parameters: Readonly<Record<string, Json>>;
  readonly description?: string;
  /** From 1, one more with each change. */
  readonly version: number;
  readonly createdIndex: LogIndex;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A member of the Raft group, and where clients reach it. */
export interface Member {
  readonly id: number;
  readonly url: string;
}

export interface Worker {
  readonly id: string;
  readonly address: string;
  readonly status: WorkerStatus;
  /** Of its process. */
  readonly incarnation: string;
  /** Incarnations that were replaced or removed, the newest last: what they still say counts for nothing. */
  readonly fenced: readonly string[];
  readonly version: string;
  readonly cpuCores: number;
  readonly pipelinesMax: number;
  readonly registeredIndex: LogIndex;
  readonly registeredAtMs: number;
}

/** A program within a group, as it was asked for. */
export interface GroupPipeline {
  readonly name: string;
  readonly source: string;
  readonly replicas: number;
  /** A worker that is preferred. */
  readonly workerAffinity?: string;
  /** The field by which events are divided among replicas. */
  readonly partitionKey?: string;
}

export interface Route {
  readonly fromPipeline: string;
  readonly toPipeline: string;
  readonly eventTypes: readonly string[];
}

export interface Group {
  readonly id: string;
  readonly name: string;
  /** From 1, one more with each change. */
  readonly version: number;
  readonly pipelines: readonly GroupPipeline[];
  readonly routes: readonly Route[];
  /** Of its versions before, what placements still run by that leave; the oldest first. Absent where none leaves. */
  readonly former?: readonly FormerContent[];
  /** It is being taken down: nothing of it is placed any more. */
  readonly isDraining: boolean;
  readonly createdIndex: LogIndex;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Programs of before that placements name. Absent when none does. */
  readonly formerPrograms?: Readonly<Record<string, string>>;
}

/** What a group was, as far as placements that leave need it. */
export interface FormerContent {
  readonly version: number;
  readonly pipelines: readonly GroupPipeline[];
  /** From and to these pipelines. */
  readonly routes: readonly Route[];
}

/** What a placement of the group runs by: what the group is, or was when the placement began to leave. */
export function contentOf(group: Group, { leavingVersion }: Pick<Placement, 'leavingVersion'>): FormerContent | undefined {
  return leavingVersion === undefined ? group : group.former?.find(({ version }) => version === leavingVersion);
}

/** One replica of a pipeline and who is to run it. */
export interface Placement {
  /** `<group>:<pipeline>:<replica>`. */
  readonly id: string;
  readonly groupId: string;
  readonly pipeline: string;
  /** From 0. */
  readonly replica: number;
  readonly status: PlacementStatus;
  /** Undefined exactly while it is pending. */
  readonly workerId?: string;
  /** The index at which it was last given to a worker, 0 before that: whoever acts under an older one is refused. */
  readonly epoch: LogIndex;
  /** The epoch since which one worker has had it without a break: its state goes on from there, when its program changes too. */
  readonly tenure: LogIndex;
  /**
   * The index at which it came, whoever has had it since: what was there before under the same id, and was taken away, is another one.
   * Undefined of what came before the group wrote `CREATION_FORMAT`.
   */
  readonly createdIndex?: LogIndex;
  /**
   * The version of its group by which it runs, when the present one has it no more: it takes no more events from outside, and goes once it
   * has done what it was given.
   */
  readonly leavingVersion?: number;
  /**
   * Its newest checkpoint, and what was worked since that or without one, is of this program of `Group.formerPrograms`. Undefined when it is of
   * the program of its group, and of what was changed before the group wrote `CREATION_FORMAT`.
   */
  readonly formerProgram?: string;
  readonly error?: string;
  /** While it is pending: a process that had it, and of which nobody has shown yet that it has stopped. */
  readonly formerHolder?: FormerHolder;
}

export interface FormerHolder {
  readonly workerId: string;
  readonly address: string;
  readonly incarnation: string;
}

/** Events that were accepted for a placement and are not part of a committed checkpoint yet, so that they survive its worker. */
export interface IngressBatch {
  readonly placementId: string;
  /** From 1, one more with each batch of the placement. */
  readonly sequence: number;
  readonly receivedAtMs: number;
  /** A JSON list, as text. */
  readonly events: string;
  readonly eventCount: number;
}

/** The batches of one placement that are kept: from `first` to `last`. */
export interface IngressLog {
  readonly placementId: string;
  readonly first: number;
  /** Of all that there ever were; below `first` when none is kept. */
  readonly last: number;
  readonly chars: number;
}

/** The way of a placement from one worker to another. */
export interface Migration {
  readonly id: string;
  readonly placementId: string;
  readonly sourceWorker: string;
  readonly targetWorker: string;
  readonly status: MigrationStatus;
  /** Of the placement: before it has moved that of the source, then that of the target. */
  readonly epoch: LogIndex;
  readonly error?: string;
  readonly startedIndex: LogIndex;
  readonly startedAtMs: number;
}

/** That a checkpoint of a placement exists: with this entry it counts. */
export interface Manifest {
  /** One more than the one before. */
  readonly sequence: number;
  readonly epoch: LogIndex;
  readonly bytes: number;
  readonly checksum: number;
  /** Where its bytes are. */
  readonly locations: readonly string[];
  /** How far the batches of each source are part of it. */
  readonly received: Readonly<Record<string, number>>;
  readonly committedIndex: LogIndex;
}

/** When more workers, or fewer, are recommended. */
export interface ScalingPolicy {
  /** 0: nothing is recommended. */
  readonly workersMin: number;
  readonly workersMax: number;
  readonly upThreshold: number;
  readonly downThreshold: number;
}

/** What a client has had done, so that the same request has one effect however often it is sent. */
export interface Session {
  readonly id: string;
  /** All below is answered, and forgotten. */
  readonly lowest: number;
  readonly results: readonly SessionResult[];
  readonly usedIndex: LogIndex;
  readonly usedAtMs: number;
  /** Of all results, as JSON text. */
  readonly chars: number;
}

export interface SessionResult {
  readonly sequence: number;
  /** Of the request, so that another one under the same key is seen. */
  readonly digest: string;
  readonly value: Json;
  /** Of the value, as JSON text. */
  readonly chars: number;
}

/**
 * What the group has agreed on, all of it: there is no other copy anywhere. Never changed: each command gives another state, which shares
 * with the one before what the command left alone.
 */
export interface ClusterState {
  /** The command that was applied last. */
  readonly index: LogIndex;
  readonly term: number;
  /** In which the log and snapshots are written from here on. */
  readonly format: number;
  /** The latest time that a command has brought. */
  readonly nowMs: number;
  readonly connectors: Table<Connector>;
  readonly members: Table<Member>;
  /** Ids that are never used again, ascending. */
  readonly removedMembers: readonly number[];
  readonly workers: Table<Worker>;
  readonly groups: Table<Group>;
  readonly placements: Table<Placement>;
  readonly migrations: Table<Migration>;
  /** By placement, the newest last. */
  readonly manifests: Table<readonly Manifest[]>;
  /** By placement and sequence. */
  readonly ingress: Table<IngressBatch>;
  /** By placement. */
  readonly ingressLogs: Table<IngressLog>;
  /** Of all that is kept for all placements. */
  readonly ingressChars: number;
  readonly scaling: ScalingPolicy;
  readonly sessions: Table<Session>;
  /** Ids of sessions by their last use, the oldest first. */
  readonly sessionsByUse: Table<string>;
  readonly sessionChars: number;
}

export const emptyState: ClusterState = {
  index: 0,
  term: 0,
  format: FIRST_FORMAT,
  nowMs: 0,
  connectors: Table.empty(),
  members: Table.empty(),
  removedMembers: [],
  workers: Table.empty(),
  groups: Table.empty(),
  placements: Table.empty(),
  migrations: Table.empty(),
  manifests: Table.empty(),
  ingress: Table.empty(),
  ingressLogs: Table.empty(),
  ingressChars: 0,
  scaling: { workersMin: 0, workersMax: 100, upThreshold: 5, downThreshold: 1 },
  sessions: Table.empty(),
  sessionsByUse: Table.empty(),
  sessionChars: 0,
};

/** An index as a key, so that keys sort as numbers do; 2^53 has 14 hexadecimal digits. */
export function indexKey(index: LogIndex): string {
  return index.toString(16).padStart(14, '0');
}

/** Of a session, by its last use. One command may be of several. */
export function useKey({ usedIndex, id }: Session): string {
  return `${indexKey(usedIndex)} ${id}`;
}

export function placementId(groupId: string, pipeline: string, replica: number): string {
  return `${groupId}:${pipeline}:${replica}`;
}

export function ingressKey(placement: string, sequence: number): string {
  return `${placement}:${indexKey(sequence)}`;
}

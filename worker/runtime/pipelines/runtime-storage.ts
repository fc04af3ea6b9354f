import type { SourcePosition } from '../../connectors/connector.ts';
import type { SavedDeliveries } from '../../connectors/delivery/pipeline-sinks.ts';
import type { PlacedState } from '../placed/placed-state.ts';
import type { InjectFormat, InjectResult } from '../service.ts';
import type { CountersReply, ProgramSummary, ProgramText } from '../threads/messages.ts';
import type { SavedAnswer } from './idempotency-window.ts';

/** What of a pipeline outlives the process besides its state. */
export interface PipelineDefinition {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly program: ProgramText;
  readonly summary: ProgramSummary;
  readonly version: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly isStopped: boolean;
  /** Absent in those of earlier versions. @default false */
  readonly isWatched?: boolean;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
  /** What its engine had counted when it stopped or failed: nobody loads an engine only to ask. Absent while it runs, and in those of earlier versions. */
  readonly counters?: CountersReply | undefined;
}

export interface PipelineCounts {
  readonly eventsProcessed: number;
  readonly outputEventsEmitted: number;
  readonly eventsInvalid: number;
  readonly eventsRefused: number;
  /** What restores took off `eventsProcessed`, for what the tenant has used; absent in those of earlier versions. */
  readonly eventsTakenOff?: number;
  /** The same of `outputEventsEmitted`: outputs go on being numbered as before. */
  readonly outputsTakenOff?: number;
}

/** One point in the life of a pipeline: everything in it belongs to the input up to `sequence`. */
export interface PipelineCheckpoint {
  readonly sequence: number;
  readonly state: Uint8Array;
  /** Epoch ms; what it holds arrived by then. */
  readonly savedAt: number;
  readonly counts: PipelineCounts;
  readonly answers: readonly SavedAnswer<InjectResult>[];
  /** Deliveries that no sink has taken yet, as the sinks save them. */
  readonly deliveries: SavedDeliveries;
  /** Where the sources stood, by subscription; absent in those of earlier versions. */
  readonly sources?: SourcePositions;
  /** Of a pipeline that runs for a cluster. */
  readonly placed?: PlacedState;
  /** The format of its state, with `placed`; absent in those of versions that told nobody. */
  readonly stateFormat?: number;
}

export type SourcePositions = Readonly<Record<string, SourcePosition>>;

/** Where a source stood behind the messages of an input; null where it is not for us to know. */
export interface SourceMark {
  /** The subscription, as the plan names it: `<connector>/<topic>`. */
  readonly id: string;
  readonly position: SourcePosition | null;
  /** The broker's partition that the messages come from; absent where there are none, and in those of earlier versions. */
  readonly partition?: string | undefined;
  /** Partitions that the source has begun to read, and of which messages are on their way. @default it has begun with none */
  readonly awaited?: readonly string[] | undefined;
  /** Whoever sent it waits: for an answer that says what became of each event, or that it was taken. @default nobody does */
  readonly answer?: 'whole' | 'receipt';
  /** See `Receipt.isMoved`. */
  readonly isMoved?: boolean | undefined;
}

/** A request with events as it stands in the log. */
export interface LoggedRequest {
  readonly kind: 'request';
  readonly pipelineId: string;
  readonly sequence: number;
  readonly format: InjectFormat;
  readonly timeField?: string | undefined;
  /** Epoch ms of its arrival. */
  readonly time: number;
  readonly idempotency: { readonly key: string; readonly digest: string } | null;
  readonly outputs: boolean;
  readonly bytes: Uint8Array;
  /** It came from a source. */
  readonly source?: SourceMark | undefined;
}

/** A tick of the clock that these pipelines took. */
export interface LoggedTick {
  readonly kind: 'tick';
  readonly sequence: number;
  readonly time: number;
  readonly pipelineIds: readonly string[];
}

/** What stands before in the log is not to be done: a request that was refused after all, or an event that was given up. */
export interface LoggedSkip {
  readonly kind: 'skip';
  readonly pipelineId: string;
  readonly sequence: number;
  /** Of the event; -1 = the whole request or tick. */
  readonly index: number;
}

export type LoggedRecord = LoggedRequest | LoggedTick | LoggedSkip;

/** Inputs behind the newest checkpoint that were nothing but ticks without effect: they need not be done again. */
export interface IdleTicks {
  /** The sequence of the last. */
  readonly upTo: number;
  /** When a tick came last, that one or a later one, each of which went on from the one before. @default a build before did not keep that */
  readonly ticked?: number | undefined;
}

/** Where pipelines are kept. Every method rejects with `storage_unavailable` when the disk is full or fails; nothing is half done then. */
export interface RuntimeStorage {
  /** Resolves when the record is on disk; for ticks as soon as the system has it. Records of all calls are kept in the order of the calls. */
  append(record: LoggedRecord): Promise<void>;
  /** Both or neither. Without a checkpoint those that there are stay. */
  savePipeline(definition: PipelineDefinition, checkpoint: PipelineCheckpoint | null): Promise<void>;
  saveIdle(pipelineId: string, idle: IdleTicks): Promise<void>;
  /** The state of the newest checkpoint that can be read. */
  readState(pipelineId: string): Promise<{ readonly sequence: number; readonly state: Uint8Array } | undefined>;
  deletePipeline(id: string): Promise<void>;
}

import { TIMESTAMP_MS_MAX } from '../../../shared/events/calendar.ts';
import type { InputSource } from '../../../shared/events/event.ts';
import type { EventDeclaration } from '../../../shared/events/schema.ts';
import type { StoredValue } from '../../../shared/events/stored-value.ts';
import type { SentError } from '../../../shared/threads/sent-error.ts';
import type { KnownSend } from '../../connectors/registry.ts';
import type { SourceUse } from '../../connectors/sources/pipeline-sources.ts';
import type { LogEntry, RestoreReport } from '../../engine/engine.ts';
import type { EventNotes } from '../programs/event-notes.ts';
import type { ProgramFolder } from '../programs/program-folder.ts';
import type { UnreadableBody } from '../requests/request-reader.ts';
import type { DiagnosticPlace, InjectFormat, ProgramDiagnostic, StreamMetrics, Topology } from '../service.ts';

/**
 * What the API thread and an engine thread say to each other. Bytes are transferred; everything else is small, or comes in
 * batches. A slot is the number of a pipeline on a thread; one thread never uses a slot for two pipelines.
 */
export type ToThread = SlotCall | WorkMessage | UnloadMessage | SettleMessage | AnswerMessage;

/** A program with everything it imports, so that it means the same on every start. */
export interface ProgramText {
  readonly source: string;
  /** Where it lies among its files. @default `program.vpl` in their folder */
  readonly path?: string;
  /** By path, relative to the work directory, as the import states it; `name` is the path without links. */
  readonly files: Readonly<Record<string, ImportedFile>>;
}

export interface ImportedFile {
  readonly name: string;
  readonly text: string;
}

/** A connector of a program. Parameters are as `encodeValue` stores them. */
export interface ProgramConnector {
  readonly name: string;
  readonly type: string;
  readonly parameters: readonly (readonly [string, unknown])[];
}

/** What the API thread knows of a program that can run. */
export interface ProgramSummary {
  readonly streams: readonly string[];
  readonly topology: Topology;
  readonly connectors: readonly ProgramConnector[];
  /** Connectors that events go to. */
  readonly sinks: readonly string[];
  /** What they get on topics that are known now; absent in what an earlier version has kept. */
  readonly sends?: readonly KnownSend[];
  /** What events come from. */
  readonly sources: readonly SourceUse[];
  /** Connectors that are asked; absent in what an earlier version has kept. */
  readonly lookups?: readonly string[];
  /** Whether the wall clock moves anything in it. */
  readonly isTimed: boolean;
}

export interface CheckReply {
  readonly diagnostics: readonly ProgramDiagnostic[];
  readonly statements: number;
  /** Null when the program cannot run. */
  readonly program: { readonly text: ProgramText; readonly summary: ProgramSummary } | null;
  /** Where its connectors are declared, by name. */
  readonly connectorPlaces: Readonly<Record<string, DiagnosticPlace>>;
  /** The event types that it declares; none when it cannot run. */
  readonly declarations: readonly EventDeclaration[];
}

interface CallBase<K extends string> {
  readonly kind: K;
  /** Of the call; its reply has the same. */
  readonly id: number;
}

interface SlotCallBase<K extends string> extends CallBase<K> {
  readonly slot: number;
}

export type SlotCall = LoadCall | FillCall | SaveCall | ReloadCall | RestoreCall | DocumentCall | ExplainCall | CountersCall;

export interface LoadCall extends SlotCallBase<'load'> {
  readonly program: ProgramText;
  readonly folder: ProgramFolder;
  readonly strictEvents: boolean;
  /** Outputs come with the events behind them. */
  readonly isWatched: boolean;
  /** What `save` gave. */
  readonly state: Uint8Array | null;
  readonly ticked?: number | undefined;
}

/** Gives a state to an engine that was loaded without one and has not worked since. */
export interface FillCall extends SlotCallBase<'fill'> {
  readonly state: Uint8Array | null;
  /** When the last tick came of those without effect that are not in the state, and are not done again. @default there were none */
  readonly ticked?: number | undefined;
}

/** Gives the state behind everything that was sent before. */
export interface SaveCall extends SlotCallBase<'save'> {
  /** Of states. @default the latest */
  readonly format?: number | undefined;
}

/** Makes the engine of a changed program; nothing changes until `settle`. */
export interface ReloadCall extends SlotCallBase<'reload'> {
  readonly program: ProgramText;
  readonly isWatched: boolean;
  /** Of states. @default the latest */
  readonly format?: number | undefined;
}

/** Makes an engine with the state of a checkpoint document; nothing changes until `settle`. */
export interface RestoreCall extends SlotCallBase<'restore'> {
  readonly document: Uint8Array;
}

/** Makes a checkpoint document of the state. */
export interface DocumentCall extends SlotCallBase<'document'> {
  readonly pipelineId: string;
  readonly sourceHash: string;
  readonly createdAt: number;
  /** Where the sources stand, by subscription. */
  readonly sources: Readonly<Record<string, unknown>>;
}

export interface ExplainCall extends SlotCallBase<'explain'> {
  readonly stream: string;
  readonly key: string | null;
}

export interface CountersCall extends SlotCallBase<'counters'> {}

export interface UnloadMessage {
  readonly kind: 'unload';
  readonly slot: number;
}

/** What becomes of the engine that `reload` or `restore` has made. */
export interface SettleMessage {
  readonly kind: 'settle';
  readonly slot: number;
  readonly accepted: boolean;
}

/** What an engine wants to know of the world. */
export interface QuestionMessage {
  readonly kind: 'question';
  readonly slot: number;
  /** Numbers the questions of a thread. */
  readonly question: number;
  readonly connector: string;
  /** As `encodeValue` stores it. */
  readonly key: StoredValue;
  readonly timeoutMs: number;
}

export interface AnswerMessage {
  readonly kind: 'answer';
  readonly question: number;
  /** As `encodeValue` stores it, or why there is none. */
  readonly found: { readonly value: StoredValue } | { readonly problem: string };
}

/** Bytes of 0 behind each body: a reader may look beyond its end, and what is cut off must not go on with another body. */
export const BODY_PADDING_BYTES = 16;

export interface WorkMessage {
  readonly kind: 'work';
  /** The bytes of all records, one behind the other, each with its padding. */
  readonly arena: Uint8Array;
  readonly records: readonly WorkRecord[];
}

/** A source that a record came from, by the id of its subscription. */
export interface RecordSource extends InputSource {
  /** Partitions of which messages are on their way. @default there are none */
  readonly awaited?: readonly string[] | undefined;
  /** A connector has read it, or was sent it. @default it is a request that came through a cluster */
  readonly isConnector?: boolean;
}

/** The time of a tick behind which nothing comes: all that is open completes. */
export const END_OF_INPUT = TIMESTAMP_MS_MAX;

/** One request with events, or one tick of the clock. */
export interface WorkRecord {
  readonly slot: number;
  readonly sequence: number;
  /** Null: a tick. */
  readonly format: InjectFormat | null;
  /** Name of the field that says when an event happened; null = none is named. */
  readonly timeField: string | null;
  /** What it came from. @default no source */
  readonly source?: RecordSource | undefined;
  /** What stands beside the events of a batch is passed over: a version that did so has accepted it, or no client has sent it. */
  readonly isEnvelopeOpen?: boolean | undefined;
  /** Bytes of the arena; -1 for a tick. */
  readonly length: number;
  /** Epoch ms of its arrival, or of the tick. */
  readonly time: number;
  /** Most outputs that somebody reads; of more, or of too much text, only the last are sent. Null: somebody takes each, so all are. */
  readonly outputsMax: number | null;
  /** Indexes of events that are left out: they used up their budget before. */
  readonly skip: readonly number[];
}

// ------------------------------------------------------------------------------------------------ answers

export type FromThread = ReadyMessage | ReplyMessage | ResultsMessage | QuestionMessage;

export interface ReadyMessage {
  readonly kind: 'ready';
}

export interface ReplyMessage {
  readonly kind: 'reply';
  readonly id: number;
  readonly result: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: SentError };
}

export interface LoadReply {
  /** What it counts, that of its state included. */
  readonly counters: CountersReply;
  readonly summary: ProgramSummary;
  /** What became of the state that it was given; null = of none. */
  readonly restored: RestoreReport | null;
}

export interface SaveReply {
  readonly state: Uint8Array;
  readonly durationMs: number;
}

export interface SwitchReply {
  readonly summary: ProgramSummary;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly preserved: readonly string[];
  readonly reset: readonly string[];
  readonly changed: readonly string[];
  readonly lostState: readonly string[];
  /** The state of the new engine. */
  readonly state: Uint8Array;
  /** Of a restored document. */
  readonly counters: Readonly<Record<string, number>>;
  /** The same: where the sources stood, by subscription. */
  readonly sources: Readonly<Record<string, unknown>>;
  /** When the restored document was made, epoch ms; 0 of a reload. */
  readonly createdAt: number;
  /** What the new engine has counted. */
  readonly counts: CountersReply;
}

export interface CountersReply {
  readonly eventsIncomplete: number;
  /** Each event once, however many streams it was too late for. */
  readonly eventsLate: number;
  readonly eventsUnread: number;
  /** Of the first hundred types that no stream reads. */
  readonly unreadTypes: Readonly<Record<string, number>>;
  /** For those of them that have one: the type with the nearest name that a stream reads. */
  readonly nearestTypes: Readonly<Record<string, string>>;
  /** Where event time stands, epoch ms; null before the first event. */
  readonly watermark: number | null;
  readonly streams: readonly StreamMetrics[];
  readonly eventsByType: Readonly<Record<string, number>>;
  readonly incompleteFields: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface ResultsMessage {
  readonly kind: 'results';
  readonly results: readonly (RecordResult | QuietResult)[];
  /** Of pipelines whose counters are older than a quarter of a second. */
  readonly counters: readonly (readonly [slot: number, counters: CountersReply])[];
}

/** Of a tick that did nothing, as most do: sent a thousand times in a second where there are many pipelines. */
export type QuietResult = readonly [slot: number, sequence: number, durationUs: number, restMs: number];

/** What became of one record. */
export interface RecordResult {
  readonly slot: number;
  readonly sequence: number;
  /** Of its bytes. */
  readonly length: number;
  /** Events found in it, whatever became of them. */
  readonly events: number;
  readonly processed: number;
  readonly problems: readonly RecordProblem[];
  /** Invalid events that are too many to be told. */
  readonly problemsOmitted: number;
  /** Nothing of the record was pushed: it cannot be read. */
  readonly unreadable: UnreadableBody | null;
  /** The engine broke: its state can no longer be trusted. */
  readonly failure: { readonly index: number; readonly message: string } | null;
  readonly outputs: OutputColumns;
  readonly deliveries: readonly SentDelivery[];
  readonly deadLetters: readonly SentDeadLetter[];
  readonly log: readonly SentLogEntry[];
  /** Null when all events were complete, in time, and of types that a stream reads. */
  readonly notes: EventNotes | null;
  /** The time of one of its events is that of the record: nothing else said one. */
  readonly isUntimed: boolean;
  /** Something was looked up for it. */
  readonly isLookedUp: boolean;
  readonly durationUs: number;
  /** Of a tick without effect: for how long no other can do anything, ms, if nothing else comes. */
  readonly restMs: number;
}

export interface RecordProblem {
  readonly index: number;
  readonly code: 'invalid_event' | 'budget_exceeded';
  readonly field: string;
  readonly message: string;
}

/** Outputs as columns, of equal length; `skipped` came before them and were not wanted: `skippedBy` says of which streams and types. */
export interface OutputColumns {
  readonly skipped: number;
  readonly skippedBy: readonly SkippedOutputs[];
  /** Index of the stream in the program. */
  readonly stream: readonly number[];
  readonly type: readonly string[];
  readonly time: readonly number[];
  readonly event: readonly number[];
  /** Number of the output among those of its stream in this record. */
  readonly ordinal: readonly number[];
  readonly fields: readonly string[];
  /** JSON text of the events behind each; absent where nobody watches. */
  readonly causes?: readonly string[];
}

export interface SkippedOutputs {
  /** Index of the stream in the program. */
  readonly stream: number;
  readonly type: string;
  readonly count: number;
}

export interface SentDelivery {
  /** Stable part of its id: index of the stream and number among those of its stream in this record. */
  readonly mark: string;
  readonly connector: string | null;
  readonly url: string | null;
  readonly topic: string | null;
  readonly stream: string;
  readonly type: string;
  readonly time: number;
  readonly fieldsJson: string;
  readonly message: string | null;
  readonly parameters: readonly (readonly [string, unknown])[];
}

export interface SentDeadLetter {
  readonly mark: string;
  readonly stream: string;
  readonly type: string;
  readonly time: number;
  readonly fieldsJson: string;
  readonly reason: string;
}

export interface SentLogEntry {
  readonly stream: string;
  readonly level: LogEntry['level'];
  readonly kind: LogEntry['kind'];
  readonly message: string;
  readonly dataJson: string;
}

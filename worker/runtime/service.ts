import type { Profiles } from '../../shared/security/credentials/credentials.ts';
import type { TraceContext, Tracer } from '../../shared/telemetry/tracing.ts';
import type { LetterFilter } from '../connectors/delivery/dead-letters.ts';
import type { ReplayCounts } from '../connectors/delivery/letter-replays.ts';
import type { SourceStatus } from '../connectors/sources/source-runner.ts';
import type { UnreadType } from '../engine/streams/unread-types.ts';
import type { MachineClock } from './arrival-clock.ts';
import type { EventNotes } from './programs/event-notes.ts';
import type { SentProgram } from './programs/sent-program.ts';
import type { LogFiles } from './storage/log-files.ts';

/** A copy of the state directory. */
export interface Backup {
  readonly path: string;
  readonly bytes: number;
  /** Older ones that made room for it. */
  readonly removed: readonly string[];
}

/**
 * What a server asks of the worker's runtime: tenants, pipelines and the events that go through them. It is the only door: the
 * HTTP layer knows nothing of threads, stores or engines.
 *
 * Every call that can be refused throws (or rejects with) a `CepError` whose code stands in `shared/errors/codes.ts`, where
 * its HTTP status stands too. `retryAfterSeconds` and `details` of the error go into the answer. No call waits for a user's
 * program but those that say so, so nothing a program does can hold up the caller's thread.
 *
 * A resource of another tenant does not exist: the answer is the `.._not_found` of an id that nobody has.
 */
export interface Runtime {
  readonly tenants: Tenants;
  readonly pipelines: Pipelines;
  /**
   * Brings back what the state directory holds. Resolves when everything runs; until then `readiness()` says `recovering`. What
   * `beforeReading` does, such as a reload, is done before anything is read from connectors.
   */
  start(beforeReading?: () => Promise<void>): Promise<void>;
  /** Never waits. */
  readiness(): Readiness;
  /** What a scrape shows: the numbers last heard of each thread, at most a quarter of a second old. Never waits. */
  scrape(): RuntimeMetrics;
  /**
   * Runs `action` once for each key of a tenant within 10 minutes: a repeat gets the first result, or waits for it. The
   * result is kept as JSON, in the state directory where there is one, so it must be small. What the action throws is not kept.
   * @throws CepError `idempotency_conflict` when the key was used with another digest
   */
  once<T>(request: OnceRequest, action: () => Promise<T>): Promise<T>;
  /**
   * Copies the state directory while everything runs: what was on disk when it was called is in the copy. Gives the directory of
   * the copy; null without a state directory. @throws CepError `storage_unavailable`; nothing of the copy is left then
   */
  backUp(): Promise<Backup | null>;
  /**
   * Stops taking events, finishes those accepted, takes final checkpoints, flushes the sinks. `clean` is false when
   * something was given up at the deadline, or before and the letters that say so were in memory only. May be called once.
   */
  shutdown(options: { readonly deadlineMs: number }): Promise<{ readonly clean: boolean }>;
}

export interface OnceRequest {
  readonly tenant: string;
  readonly key: string;
  /** Of method, path and body: whatever makes two requests the same. */
  readonly digest: string;
}

export interface Readiness {
  readonly ready: boolean;
  /** With `storage_unavailable` requests are taken as far as they need no state directory; the others are refused one by one. */
  readonly reason?: 'starting' | 'recovering' | 'draining' | 'storage_unavailable';
  /** What is wrong with the state directory. */
  readonly problem?: string;
  readonly pipelines: number;
  readonly streams: number;
  readonly eventsProcessed: number;
  readonly outputEventsEmitted: number;
}

// ------------------------------------------------------------------------------------------------ tenants

export const tenantPlans = ['free', 'default', 'pro', 'enterprise'] as const;
export type TenantPlan = (typeof tenantPlans)[number];

export interface Quota {
  readonly maxPipelines: number;
  readonly maxEventsPerSecond: number;
  readonly maxStreamsPerPipeline: number;
  /** Bytes of saved state of all pipelines of the tenant. */
  readonly maxStateBytes: number;
}

export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly plan: TenantPlan;
  readonly quota: Quota;
  /** The first 8 hex digits of the key's SHA-256; null when the tenant has no key. */
  readonly keyPrefix: string | null;
  /** Epoch ms. */
  readonly createdAt: number;
}

export interface Usage {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly eventsProcessed: number;
  readonly outputEventsEmitted: number;
  readonly activePipelines: number;
  /** Refused for a quota or a full queue. */
  readonly eventsRejected: number;
  /** Refused for the same before their events were read, whose number nobody knows. */
  readonly requestsRejected: number;
  readonly quota: Quota;
}

/** Who a key belongs to. `admin` is the server's own key, and everybody while no key is configured. */
export interface Access {
  readonly tenantId: string;
  readonly role: 'admin' | 'tenant';
}

export interface Tenants {
  /** False when no key is configured: then `authenticate` lets everybody in as the tenant `default`. */
  readonly isAuthenticationOn: boolean;
  /**
   * Compares digests in constant time.
   * @throws CepError `missing_api_key`, `invalid_api_key`
   */
  authenticate(key: string | undefined): Access;
  /** The key is shown this once. @throws CepError `validation_error`, `name_taken` */
  create(request: {
    readonly name: string;
    readonly plan?: TenantPlan;
    readonly quota?: Partial<Quota>;
  }): Promise<Tenant & { readonly apiKey: string }>;
  /** In order of creation. */
  list(): readonly Tenant[];
  /** @throws CepError `tenant_not_found` */
  get(id: string): Tenant;
  /** Its pipelines go with it. @throws CepError `tenant_not_found`, `forbidden` for the server's own tenant */
  delete(id: string): Promise<void>;
  /** @throws CepError `tenant_not_found` */
  usage(id: string): Usage;
}

// ------------------------------------------------------------------------------------------------ pipelines

export type PipelineStatus = 'starting' | 'running' | 'degraded' | 'draining' | 'stopped' | 'failed';

export interface Pipeline {
  readonly id: string;
  readonly name: string;
  readonly status: PipelineStatus;
  readonly source: string;
  /** What it imports, by path; and where it lies among these, where that was said. */
  readonly files: Readonly<Record<string, string>>;
  readonly path?: string;
  /** 1, and one more for each reload. */
  readonly version: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Its alerts are kept with the events behind them. */
  readonly isWatched: boolean;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Since it was started last; 0 while it is stopped. */
  readonly uptimeSeconds: number;
  readonly eventsProcessed: number;
  readonly outputEventsEmitted: number;
  /** Why it is `failed` or `degraded`. */
  readonly error?: string;
  /** The connectors for which it is `degraded`; absent where the error is not about connectors. */
  readonly failingConnectors?: readonly string[];
}

/** Where something stands in a program. Lines and columns are 1-based. */
export interface DiagnosticPlace {
  /** The imported file, by the path that names it; absent for the program itself. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A problem of a program, ready to be sent. */
export interface ProgramDiagnostic extends DiagnosticPlace {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export interface ReloadRequest extends SentProgram {
  readonly dryRun?: boolean;
  readonly acceptReset?: boolean;
  /** The program may be put in the place of one of these versions. @default of any */
  readonly versions?: readonly number[] | undefined;
}

export interface Validation {
  /** As `cep check` counts them. */
  readonly statements: number;
  readonly diagnostics: readonly ProgramDiagnostic[];
}

export interface DeployRequest extends SentProgram {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** As `watch`. @default false */
  readonly watched?: boolean;
  /**
   * A program of one connection: neither listed nor stored, gone with `delete`. Names of such pipelines need not differ. The
   * quota of pipelines holds for them too; they are counted apart from the others.
   */
  readonly ephemeral?: boolean;
  /** The program of the same connection that goes when this one has come; it is not counted. */
  readonly replaces?: string;
}

export interface Deployed {
  readonly pipeline: Pipeline;
  readonly streams: readonly string[];
  readonly warnings: readonly ProgramDiagnostic[];
}

/** By stream name. */
export interface ReloadReport {
  /** False for a dry run. */
  readonly reloaded: boolean;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly preserved: readonly string[];
  readonly reset: readonly string[];
  readonly changed: readonly string[];
  /** Of those that were reset or changed: the ones that had state which the new program has no place for, if only a part of it. */
  readonly lostState: readonly string[];
  readonly warnings: readonly ProgramDiagnostic[];
}

export interface CheckpointResult {
  readonly pipelineId: string;
  /** The document `{version, pipeline_id, source_hash, created_at, engine, sources, counters, crc32}` as JSON text, ready to be sent. */
  readonly checkpointJson: string;
  readonly eventsProcessed: number;
}

export interface RestoreResult {
  readonly pipelineId: string;
  readonly eventsRestored: number;
  readonly preserved: readonly string[];
  /** They lost state, if only a part of it, or the checkpoint does not know them. */
  readonly reset: readonly string[];
}

export interface StreamMetrics {
  readonly name: string;
  readonly eventsIn: number;
  readonly eventsOut: number;
  readonly late: number;
  readonly failures: number;
  readonly suppressed: number;
  readonly runsActive: number;
  /** Rows that wait for answers from outside. */
  readonly queueSize: number;
  readonly runsDropped: Readonly<Record<string, number>>;
  /** `.tap(counter:)`: by name and labels in text form. */
  readonly taps: Readonly<Record<string, number>>;
}

/** Latency of events from being accepted to being through, microseconds; 0 when there was none. */
export interface LatencyMetrics {
  readonly p50Us: number;
  readonly p95Us: number;
  readonly p99Us: number;
}

export interface PipelineMetrics {
  readonly pipelineId: string;
  readonly eventsProcessed: number;
  readonly outputEventsEmitted: number;
  readonly eventsInvalid: number;
  readonly eventsIncomplete: number;
  /** Too late for some stream; each event once. */
  readonly eventsLate: number;
  /** Of types that no stream reads. */
  readonly eventsUnread: number;
  /** Those types, the first hundred, and how many events of each. */
  readonly unreadTypes: readonly UnreadType[];
  /** Where event time stands, epoch ms; null before the first event. */
  readonly watermark: number | null;
  /** By event type and field: events that lacked it. */
  readonly incompleteFields: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Refused: a full queue, a quota, or an event that used up its budget. */
  readonly eventsRefused: number;
  /** Refused before their events were read, since the process started: a full queue or a quota. */
  readonly requestsRefused: number;
  readonly eventsInFlight: number;
  readonly dlqEvents: number;
  readonly activeRuns: number;
  /** Of the last saved state. */
  readonly stateBytes: number;
  readonly uptimeSeconds: number;
  readonly latency: LatencyMetrics;
  readonly streams: readonly StreamMetrics[];
}

/** A pipeline with what it has counted. */
export interface PipelineCounts {
  readonly pipeline: Pipeline;
  readonly metrics: PipelineMetrics;
}

/** One end of a pipeline: a connector that it reads from, or one that it sends to. */
export interface PipelineConnector {
  readonly pipelineId: string;
  readonly pipelineName: string;
  readonly name: string;
  /** Null for a target that the program names by its address. */
  readonly type: string | null;
  readonly end: { readonly source: SourceStatus } | { readonly sink: ConnectorScrape };
}

export interface TopologyNode {
  readonly id: string;
  readonly label: string;
  readonly nodeType: 'event' | 'stream' | 'source' | 'sink' | 'timer';
  /** Secrets are not in it. */
  readonly config: Readonly<Record<string, unknown>>;
}

export interface Topology {
  readonly nodes: readonly TopologyNode[];
  readonly edges: readonly { readonly id: string; readonly source: string; readonly target: string }[];
}

/** An output event of a pipeline: an alert. */
export interface Output {
  /** Numbers the outputs of a pipeline from 1 on, without holes; goes on after a restart. */
  readonly sequence: number;
  /** Stable: a replay gives the same output the same id. */
  readonly id: string;
  readonly stream: string;
  readonly eventType: string;
  /** Event time, epoch ms. */
  readonly timestamp: number;
  /** The JSON text of the object of its fields. */
  readonly fieldsJson: string;
  /** Index in its request of the event that caused it; -1 when it was a tick of the clock. */
  readonly eventIndex: number;
  /** The JSON text of the events behind it, as `alertCausesSchema` has them; absent where nobody watched. */
  readonly causesJson?: string;
}

/**
 * How the bytes of a request hold events. `event`: one `{event_type, fields, timestamp?, id?}`. `batch`: `{"events": [..]}` of
 * these. `ndjson`: one such object per line, whose fields may also stand under `data` or beside `event_type`. `flat`: one
 * `{event_type, ..fields}`.
 */
export type InjectFormat = 'event' | 'batch' | 'ndjson' | 'flat';

export interface InjectRequest {
  /** Nobody changes the bytes after the call. */
  readonly body: Uint8Array;
  readonly format: InjectFormat;
  /** Name of the field that says when an event happened, before anything else does. */
  readonly timeField?: string | undefined;
  /** Resolves only when the events are on disk. @default false */
  readonly durable?: boolean;
  /** Whether the result holds the outputs. @default true */
  readonly outputs?: boolean;
  readonly idempotencyKey?: string;
  /** The part of a trace that caused it. */
  readonly trace?: TraceContext | undefined;
}

export interface InjectProblem {
  /** Of the event in the request. */
  readonly index: number;
  readonly code: 'invalid_event' | 'budget_exceeded';
  /** Path of the field that is wrong, empty when the event as a whole is. */
  readonly field: string;
  readonly message: string;
}

export interface InjectResult {
  readonly accepted: number;
  readonly rejected: number;
  /** By index; of very many the first. */
  readonly errors: readonly InjectProblem[];
  /** What these events caused, in order; empty with `outputs: false`. */
  readonly outputs: readonly Output[];
  /** All outputs that these events caused, shown or not. */
  readonly outputCount: number;
  readonly processingTimeUs: number;
  /** Why events may have caused nothing; null when there is nothing to tell. */
  readonly notes: EventNotes | null;
  /** Answered from memory: the same idempotency key was used before. */
  readonly repeated: boolean;
}

/** A `.from` over http, as a request names it. */
export interface WebhookPlace {
  readonly connector: string;
  /** Null where the program gives it none. */
  readonly topic: string | null;
}

/** Where others send events of a pipeline to. Whoever calls it has made sure that they may. */
export interface WebhookDoor {
  readonly tenantId: string;
  /** Requests prove by a signature who sends them, and need no key. */
  readonly isSigned: boolean;
  /** Whether the signature, `sha256=<hex HMAC>`, is that of the body; always, where there is none. Takes the same time whatever it is. */
  isGenuine(body: Uint8Array, signature: string): boolean;
  /**
   * Resolves with the number of events once all are safe: in the log, or without a state directory worked through.
   * @throws CepError `invalid_json`, `invalid_event`, `pipeline_not_running`, `queue_full`, `quota_exceeded`, `storage_unavailable`,
   *   `idempotency_conflict`; nothing of the request is taken then
   */
  receive(request: { readonly body: Buffer; readonly isLines: boolean; readonly idempotencyKey: string | undefined }): Promise<number>;
}

export interface Follower {
  /** The sequence of the last output seen; absent = only what is to come. */
  readonly after?: number;
  /** There is something to read where `read` had given the last of it. Called once until the next `read`, never from within a call of the runtime. */
  readonly onReadable: () => void;
  /** The pipeline is gone, or the server stops; what is left can still be read. */
  readonly onEnd: (reason: 'deleted' | 'shutdown') => void;
}

/** A place in the newest outputs of a pipeline, 1,000 or as many as fit in `outputRingCharsMax`. It holds no outputs itself, so a slow reader costs nothing and misses some. */
export interface OutputCursor {
  /** The sequence of the output that it stands behind: what it read last, or else where it began. */
  readonly position: number;
  /** The next outputs, and how many were missed before them. Both empty: wait for `onReadable`. Never waits. */
  read(max: number): { readonly skipped: number; readonly outputs: readonly Output[] };
  close(): void;
}

/** What `.print`, `.log`, `.tap` and failures of a program say. */
/** A change of a pipeline's program, and what became of its streams. */
export interface PastReload {
  /** That it led to. */
  readonly version: number;
  /** Epoch ms. */
  readonly time: number;
  readonly report: Omit<ReloadReport, 'warnings'>;
}

export interface ProgramLogLine {
  readonly sequence: number;
  /** Wall clock, epoch ms. */
  readonly time: number;
  readonly stream: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly kind: 'print' | 'log' | 'tap' | 'failure' | 'counter';
  readonly message: string;
  readonly dataJson: string;
}

/** A line of the dead-letter file, as it stands there. */
export interface DeadLetters {
  readonly total: number;
  /** Each a JSON object. */
  readonly entries: readonly string[];
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Whoever waits for an answer. */
export interface Waiting {
  /** Aborted when nobody waits any more. @default somebody does */
  readonly signal?: AbortSignal;
}

/** A change that may have been made for what its sender has seen. */
export interface Change extends Waiting {
  /** Versions of the program that it is for; another one is refused with `version_conflict`. @default any */
  readonly versions?: readonly number[] | undefined;
}

export interface Pipelines {
  /**
   * Checks the program, then starts it; waits for both, on other threads.
   * @throws CepError `parse_error`, `validation_error` (`details`: ProgramDiagnostic[]), `name_taken`, `quota_exceeded`,
   *   `connector_error`, `storage_unavailable`, `queue_full`, `not_ready`; nothing is kept
   */
  deploy(tenant: string, request: DeployRequest, waiting?: Waiting): Promise<Deployed>;
  /**
   * Asked before the text of a program is read. @throws CepError `quota_exceeded` when the tenant has used up its time for checks: a
   * second later, or once nobody waits any more
   */
  admitProgram(tenant: string, waiting?: Waiting): Promise<void>;
  /**
   * Checks a program without keeping it; errors and warnings. It judges what a deployment would, the connectors and the quota of streams
   * included, and connects nothing. @throws CepError `validation_error`, `quota_exceeded`, `queue_full`, `not_ready`
   */
  validate(tenant: string, program: SentProgram, waiting?: Waiting): Promise<Validation>;
  /** In order of creation. */
  list(tenant: string, page: Page): { readonly pipelines: readonly Pipeline[]; readonly total: number };
  /** What all of them have counted, as far as it has been heard of; in order of creation. Never waits. */
  counts(tenant: string): readonly PipelineCounts[];
  /** What they read from and send to, in that order. */
  connectors(tenant: string): readonly PipelineConnector[];
  /** All pipelines of all tenants, for administration. */
  all(): readonly (Pipeline & { readonly tenantId: string })[];
  /** @throws CepError `pipeline_not_found`, as all that follow */
  get(tenant: string, id: string): Pipeline;
  streams(tenant: string, id: string): readonly string[];
  /** Changes of one tenant are made one after the other, and by a share of the time. @throws CepError `queue_full`, `not_ready` */
  delete(tenant: string, id: string, change?: Change): Promise<void>;
  /** Finishes what was accepted, saves its state. Nothing to do when it is stopped. */
  stop(tenant: string, id: string, change?: Change): Promise<Pipeline>;
  /** Goes on with the state of `stop`. A failed pipeline starts from its last good state. */
  start(tenant: string, id: string, change?: Change): Promise<Pipeline>;
  /**
   * Puts a changed program in its place, between two events. Any error leaves the old one running.
   * @throws CepError `parse_error`, `validation_error`, `quota_exceeded`, `state_would_reset` (`details`: ReloadReport),
   *   `version_conflict` (`details`: {version, updated_at}),
   *   `pipeline_not_running`, `storage_unavailable`
   */
  reload(tenant: string, id: string, request: ReloadRequest, waiting?: Waiting): Promise<ReloadReport>;
  /**
   * From here on alerts are kept with the events behind them, or no longer; between two events, with all state.
   * @throws CepError `quota_exceeded` when the tenant watches too many, `pipeline_not_running`, `storage_unavailable`
   */
  watch(tenant: string, id: string, isWatched: boolean, change?: Change): Promise<Pipeline>;
  /** @throws CepError `pipeline_not_running` */
  checkpoint(tenant: string, id: string): Promise<CheckpointResult>;
  /**
   * @param body The answer of a checkpoint request or its `checkpoint` alone, as JSON bytes.
   * @throws CepError `checkpoint_too_new`, `checkpoint_mismatch`, `checkpoint_corrupt`, `pipeline_not_running`
   */
  restore(tenant: string, id: string, body: Uint8Array, change?: Change): Promise<RestoreResult>;
  /** Asks the engine's thread; when that is busy for longer than a moment, what was last heard. */
  metrics(tenant: string, id: string): Promise<PipelineMetrics>;
  topology(tenant: string, id: string): Topology;
  /** The engine's explanation as JSON text. @throws CepError `validation_error` when the program has no such stream */
  explain(tenant: string, id: string, request: { readonly stream: string; readonly key?: string }): Promise<string>;
  /**
   * Asked before a body with events is read, whose number nobody knows by then: a refused one counts as a request.
   * @throws CepError `pipeline_not_found`, `pipeline_not_running`; `queue_full` and `quota_exceeded` when it takes nothing now, a
   *   second later, or once nobody waits any more
   */
  admitEvents(tenant: string, id: string, waiting?: Waiting): Promise<void>;
  /**
   * Hands events to the pipeline and waits until they are through.
   * @throws CepError `invalid_event` (single events; `details`: {field}), `invalid_json`, `pipeline_not_running`, `queue_full`
   *   and `quota_exceeded` (with `retryAfterSeconds`), `not_durable`, `storage_unavailable`, `idempotency_conflict`,
   *   `budget_exceeded` (single events), `payload_too_large`; nothing of the request is accepted then
   */
  inject(tenant: string, id: string, request: InjectRequest): Promise<InjectResult>;
  /** The place of a pipeline that takes requests of others, of whatever tenant; undefined when there is none. It gives nothing away. */
  webhook(id: string, place: WebhookPlace): WebhookDoor | undefined;
  follow(tenant: string, id: string, follower: Follower): OutputCursor;
  /** The newest lines, oldest first, at most 1,000. */
  programLog(tenant: string, id: string, limit: number): readonly ProgramLogLine[];
  /** Since the process started, at most the last 100, the newest first. */
  pastReloads(tenant: string, id: string): readonly PastReload[];
  /** What the program reads with `.from`, in the order of the program. */
  sources(tenant: string, id: string): readonly SourceStatus[];
  /**
   * As behind the last event of a file: all that is open completes. For a pipeline to which nothing comes any more and that nobody starts
   * again. Resolves when that is through.
   */
  endInput(tenant: string, id: string): Promise<void>;
  deadLetters(tenant: string, id: string, page: Page, filter?: LetterFilter): Promise<DeadLetters>;
  /** To the sink that failed, and to no other. */
  replayDeadLetters(tenant: string, id: string, filter?: LetterFilter): Promise<ReplayCounts>;
  clearDeadLetters(tenant: string, id: string, filter?: LetterFilter): Promise<{ readonly cleared: number }>;
}

// ------------------------------------------------------------------------------------------------ metrics

/** Numbers of a scrape. Counters only grow while the process lives. Histogram buckets are those of `latencyBucketsSeconds`. */
export interface RuntimeMetrics {
  readonly pipelines: readonly PipelineScrape[];
  readonly connectors: readonly ConnectorScrape[];
  readonly threads: readonly {
    readonly name: string;
    readonly pipelines: number;
    readonly queueBytes: number;
    readonly restarts: number;
  }[];
  readonly storage: {
    readonly walBytes: number;
    readonly walSyncs: number;
    readonly checkpointAgeSeconds: number;
    readonly failures: number;
  } | null;
}

/** Upper bounds of the latency histogram, seconds; one more bucket holds the rest. */
export const latencyBucketsSeconds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1] as const;

export interface PipelineScrape extends PipelineMetrics {
  /** What was looked up for `.enrich`, since the process began. @default nothing */
  readonly lookups?: readonly { readonly connector: string; readonly result: 'ok' | 'error'; readonly count: number }[];
  /** Those of them that are asked now. @default nothing is */
  readonly lookupsUnderWay?: readonly { readonly connector: string; readonly count: number; readonly oldestSeconds: number }[];
  /** Of each `.from`, what came and was dropped because there was no room. */
  readonly sources?: readonly { readonly source: string; readonly dropped: number }[];
  /** By sink and source, and of rows that a stream could not evaluate. @default none */
  readonly deadLetters?: readonly { readonly connector: string; readonly written: number; readonly dropped: number }[];
  readonly tenantId: string;
  readonly name: string;
  readonly status: PipelineStatus;
  readonly eventsByType: Readonly<Record<string, number>>;
  /** By stream, then event type. */
  readonly outputsByStream: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** By stream: counts per bucket (not added up), and the sum in seconds, of what the stream emitted. */
  readonly latencyByStream: Readonly<Record<string, { readonly counts: readonly number[]; readonly sum: number }>>;
  /** Of all streams that the pipeline has and had: by counter. */
  readonly taps: Readonly<Record<string, number>>;
  readonly checkpointSeconds: number;
  /** Since everything that had come through was saved; null while it does not run, for it has nothing to save then. */
  readonly checkpointAgeSeconds: number | null;
  /** For which a checkpoint has waited for the engine. @default none waits */
  readonly checkpointWaitSeconds?: number;
}

export interface ConnectorScrape {
  readonly pipelineId: string;
  readonly connector: string;
  readonly state: 'closed' | 'half_open' | 'open';
  /** Why nothing is sent for now; null while the circuit breaker is closed. */
  readonly problem: string | null;
  /** How often the circuit breaker has become each state. */
  readonly transitions: Readonly<Record<'closed' | 'half_open' | 'open', number>>;
  readonly delivered: number;
  readonly dlqEvents: number;
  readonly dlqDropped: number;
  readonly pending: number;
}

// ------------------------------------------------------------------------------------------------ making one

/** Something that happened, for the log: the message is fixed, what varies stands in the fields. Never holds a secret. */
export interface RuntimeReport {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number | boolean>>;
}

export interface RuntimeOptions {
  /** The server's key; absent = authentication is off. */
  readonly apiKey?: string | undefined;
  /** Where pipelines, tenants, checkpoints and events are kept; absent = in memory. */
  readonly stateDir?: string | undefined;
  /** What programs of the server's own tenant may read of the file system. @default the current directory */
  readonly workDir?: string;
  /** File connectors of the server's own tenant name any file, relative to the current directory. @default they name those of `workDir` */
  readonly namesAnyFile?: boolean;
  /** Holds a folder for each other tenant, of its id, which its programs may read. @default they may read nothing */
  readonly tenantWorkDir?: string | undefined;
  /** Files of the operator that no program may read, wherever they lie; the state directory is never read. @default none */
  readonly privateFiles?: readonly string[];
  /** For the pipelines of the server's own tenant, at most; a thread is started when a pipeline needs it. @default one for each core, and two at least */
  readonly engineThreads?: number | undefined;
  /** @default 10 s */
  readonly checkpointIntervalMs?: number;
  /** Copies of the state directory that stay in it; a new one removes those that are older. @default 5 */
  readonly keepBackups?: number;
  /** Incomplete events are invalid. @default false */
  readonly strictEvents?: boolean;
  /** How long an engine may work on one event before its thread is replaced. @default 5 s */
  readonly eventBudgetMs?: number;
  /** Processor time that checking and starting a program may take. @default 10 s */
  readonly checkBudgetMs?: number;
  /** The files of the event log; for tests of disks that fail. @default those of the disk */
  readonly logFiles?: LogFiles;
  /** A segment of the event log that is larger is followed by a new one; for tests. @default 64 MiB */
  readonly segmentBytes?: number;
  /** For tests of clocks that are set. @default those of the machine */
  readonly clock?: MachineClock;
  /** Networks, as `10.1.0.0/16`, that are not public and that sinks of tenants may send to all the same. @default none */
  readonly tenantNetworks?: readonly string[];
  /** What `profile:` of a connector names, in programs of the server's own tenant. @default none */
  readonly profiles?: Profiles | undefined;
  /** Certificates of mail servers are not looked at: for development. @default they are */
  readonly isSmtpUnverified?: boolean;
  /** Where the console connector writes. @default standard output */
  readonly console?: (line: string) => void;
  /** Takes every output of every pipeline as it comes. While it is full nothing more is read from connectors. @default nobody does */
  readonly outputs?: { readonly push: (output: Output) => void; readonly isFull: () => boolean } | undefined;
  /** Records how events of a trace go through pipelines, and on to sinks. @default nothing is recorded */
  readonly tracer?: Tracer | undefined;
  readonly report: (report: RuntimeReport) => void;
}

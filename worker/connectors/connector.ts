import type { EventDeclaration } from '../../shared/events/schema.ts';
import type { Value } from '../../shared/events/value.ts';
import type { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import type { Profiles } from '../../shared/security/credentials/credentials.ts';
import type { TestStep } from './testing/test-step.ts';

/** What the code of a connector type can do: what it has not, no program can ask of it. */
export interface ConnectorType {
  /** As the language calls it; aliases are the language's matter. */
  readonly name: string;
  /** @throws CepError `connector_error` when the settings cannot work; does not connect yet */
  openSink?(settings: ConnectorSettings, environment: ConnectorEnvironment): Sink;
  /** @throws CepError `validation_error` when nothing can ever be sent there. @default that shows when something is */
  requireTopic?(settings: ConnectorSettings, topic: string, environment: ConnectorEnvironment): void;
  /** @throws CepError `connector_error` when the settings cannot work; does not connect yet */
  openSource?(settings: SourceSettings, environment: ConnectorEnvironment): Source;
  /** As whom a source logs in where the program says so: the server takes one of that name at a time. @default it has a name of its own */
  clientOf?(settings: SourceSettings): { readonly name: string; readonly server: string } | undefined;
  /** @throws CepError `connector_error` when the settings cannot work; does not connect yet */
  openLookup?(settings: ConnectorSettings, environment: ConnectorEnvironment): Lookup;
  /**
   * The steps of the way to what a use names, each to be run before the next is asked for; whoever ends the iteration closes the connections.
   * None of them changes anything outside. The iteration throws CepError `connector_error` when the settings cannot work.
   */
  test?(use: ConnectorUse, environment: ConnectorEnvironment): AsyncIterable<TestStep>;
}

/** A connector as a program declares it; parameters under their main names. */
export interface ConnectorSettings {
  readonly name: string;
  readonly type: string;
  /** The type as the program calls it: perhaps an alias. */
  readonly writtenType: string;
  readonly parameters: ReadonlyMap<string, Value>;
  /** Texts of the parameters that nobody may see. */
  readonly secrets: readonly string[];
  /** The same with what its profile says now; another object only when that has changed. @default there is no profile */
  readonly latest?: () => ConnectorSettings;
  /** Told why what its profile says now is not taken. @default nobody is */
  readonly notTaken?: ((cause: unknown) => void) | undefined;
}

/** A connector as one `.from` or `.to` uses it. */
export interface ConnectorUse extends ConnectorSettings {
  readonly role: 'source' | 'sink';
  /** What is read or written; null where none is named, or each event names one. */
  readonly topic: string | null;
}

/** The replica of a pipeline that a source reads for. */
export interface ReplicaReading {
  readonly index: number;
  readonly count: number;
  /** Of two processes that read for the same replica, the one with the greater has the right to. */
  readonly epoch: number;
  /** Names the subscription of all replicas: that of the first one. */
  readonly sharedSubscription: string;
}

/** A connector as one `.from` uses it: with the parameters that stand there. */
export interface SourceSettings extends ConnectorSettings {
  /** Names the subscription: stable over restarts and changes of the program, and unlike any other of the process. */
  readonly subscription: string;
  /** What is read; null where the connector has but one thing to read. */
  readonly topic: string | null;
  /** Fields of the events bound to it that are texts, whatever they look like where nothing else says that. */
  readonly textFields: readonly string[];
  /** Fields that the events bound to it declare. @default they may have any */
  readonly declaredFields?: readonly string[];
  /** Of files: what the program says of the events in them. */
  readonly events?: FileEvents;
  /** It reads for one of several replicas. @default the pipeline is one */
  readonly replica?: ReplicaReading;
  /** About how many messages it hands over at a time, where it can read them again; asked before each read. @default as many as it likes */
  readonly messagesMax?: (() => number | undefined) | undefined;
}

/** What of the events in a file the program says, and not the file. */
export interface FileEvents {
  /** All that it declares: a file may hold events of any type. */
  readonly declarations: readonly EventDeclaration[];
  /** The type of all events bound to it; undefined where they are of several. */
  readonly type: string | undefined;
}

export interface ProfileNotTaken {
  readonly connector: string;
  readonly profile: string;
  /** What was found, and what is expected. */
  readonly problem: string;
}

/** What connectors need of the process they run in. */
export interface ConnectorEnvironment {
  /** Writes a line for people. */
  readonly console: (line: string) => void;
  /** The way out of the process, which knows which machines the owner of the program may reach. Nothing connects but through it. */
  readonly door: OutboundDoor;
  /** Whether anything may be sent now; asked by sinks that first connect. @default always */
  readonly mayDeliver?: (() => boolean) | undefined;
  /** Sources may open ports of this machine. @default they may not */
  readonly mayListen?: boolean;
  /** Certificates of mail servers are not looked at: for development. @default they are */
  readonly isSmtpUnverified?: boolean;
  /** What sources have given outlives the process. @default it does not */
  readonly keepsState?: boolean;
  /** What `profile:` names; undefined where the owner of the program has no credentials. */
  readonly profiles?: Profiles | undefined;
  /** Told that a connector goes on with what it had, as its profile was read again and does not fit. @default nobody is */
  readonly profileNotTaken?: ((found: ProfileNotTaken) => void) | undefined;
  /**
   * The path without links of a file that the owner of the program may use, or undefined. The file need not be there yet, its folder must.
   * @default it may use none
   */
  readonly filePath?: (path: string) => string | undefined;
}

/**
 * The other end of `.from`. Once started it reads for as long as it is open: a connection that is lost is made again, for ever. It hands over
 * one batch at a time and reads no further than that while it waits, so whoever takes the batches sets the pace.
 */
export interface Source {
  /** Called once. */
  start(reading: SourceReading): void;
  /** Ends what is under way and waits for nobody. What was not taken by then comes again from where the next one starts. */
  close(): Promise<void>;
  /** Others send their events to the server instead. @default it reads them itself */
  readonly webhook?: Webhook;
  /** Messages that were sent here and dropped, as there was no room for them. @default whoever sends waits */
  readonly dropped?: number;
}

/** Where others send events to. */
export interface Webhook {
  /** Requests prove by a signature who sends them, and need no key. */
  readonly isSigned: boolean;
  /** Whether the signature, `sha256=<hex HMAC>`, is that of the body; always, where there is none. */
  isGenuine(body: Uint8Array, signature: string): boolean;
}

/** What a source reads for. */
export interface SourceReading {
  /** Behind what was taken last; null: nothing was, so where to begin is the connector's matter. */
  readonly position: SourcePosition | null;
  /**
   * Resolves when the messages are taken; those of which the other side is told, when they are safe: whoever goes on with the pipeline,
   * here or elsewhere, has them. With false when the source was closed meanwhile, and they are not. Never rejects.
   */
  take(batch: SourceBatch): Promise<boolean>;
  /** What it reads from can be reached. */
  connected(): void;
  /** What it reads from cannot be reached, for this reason; it will be tried again. */
  disconnected(reason: string): void;
  /** Everything was taken, and there will be nothing more. */
  ended(): void;
}

export interface SourceBatch {
  readonly messages: readonly SourceMessage[];
  /** Behind these messages; null where the other side alone knows what was taken. */
  readonly position: SourcePosition | null;
  /** The partition of the broker that they come from: each has a time of its own. @default there are none */
  readonly partition?: string | undefined;
  /** Partitions that the source has begun to read, and of which messages are on their way: time waits for them. @default it has begun with none */
  readonly awaited?: readonly string[] | undefined;
  /**
   * Where one of the messages stands in what is read, by its index among them: it stands there too when it comes again, and no other one does.
   * Undefined for one that does not come again. @default it is known by what was taken before it
   */
  readonly placeOf?: (index: number) => string | undefined;
  /** The other side is told that these were taken, and gives them no more. @default they can be read again from where the last ones ended */
  readonly isTold?: boolean;
  /** Called once the other side may be told, so that `take` does not wait for that. Not called when the pipeline ends before. */
  readonly onSafe?: () => void;
}

/** JSON, as its source understands it. */
export type SourcePosition = Readonly<Record<string, unknown>>;

export interface SourceMessage {
  readonly bytes: Uint8Array;
  /** The last part of its topic: its event type where nothing else says one. */
  readonly topicPart?: string | undefined;
  /** Why it is no event, where the source has found that out. */
  readonly problem?: string;
}

/** The other end of `.to` and `.alert`. */
export interface Sink {
  /** Resolves when the other side has taken it. The signal ends what is under way. @throws DeliveryFailure */
  send(message: SinkMessage, signal?: AbortSignal): Promise<void>;
  /** Where many messages cost about what one does. @default they are sent one after the other */
  readonly batching?: Batching;
  /** It is sent nothing but what stands in a checkpoint that is safe, with its place in the ledger. @default it is sent everything at once */
  readonly awaitsCheckpoint?: boolean;
  /** Ends what is under way and waits for nobody. */
  close(): Promise<void>;
}

/** How a sink takes many messages at once. */
export interface Batching {
  /** Messages that it is given at a time, at most. */
  readonly messages: number;
  /**
   * What became of each, in their order. What is given is in the order in which it is to be taken, as far as the other side keeps one.
   * Never rejects.
   */
  send(messages: readonly SinkMessage[], signal?: AbortSignal): Promise<readonly Outcome[]>;
}

/** Taken; not taken, for a reason of its own; or not known to be taken, for a reason that others gave: it is to be sent alone. */
export type Outcome = 'taken' | 'alone' | DeliveryFailure;

export interface SinkMessage {
  /** Stable: what is sent again has the same. */
  readonly id: string;
  /** What `.to(topic:)` said; null = what the connector says. */
  readonly topic: string | null;
  /** JSON text. */
  readonly payload: string;
  /** Where it stands among those that a sink was given which awaits checkpoints. */
  readonly place?: LedgerPlace;
  /** Makes what the other side does with it a part of the trace (W3C Trace Context). */
  readonly traceparent?: string;
}

/** A sink that awaits checkpoints can tell by it what it has taken already, also after a crash. */
export interface LedgerPlace {
  /** Unlike that of any other sink; the same after a crash. */
  readonly ledger: string;
  /** Counts from 1. */
  readonly number: number;
}

/** The other end of `.enrich`: asked for many keys at a time. */
export interface Lookup {
  /** A map of fields, or one value. The signal says that nobody waits any more. @throws Error why nothing is known of the key */
  find(key: Value, signal: AbortSignal): Promise<Value>;
  /** Ends what is under way and waits for nobody. */
  close(): Promise<void>;
}

/** Why a message was not taken. */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';
  /** Short and stable, for the dead letter: `http_503`, `timeout`. */
  readonly code: string;
  /** The message itself is refused: sending it again gives the same. */
  readonly isPermanent: boolean;
  /** The other side says when to come again, ms. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    options: { readonly isPermanent?: boolean; readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.isPermanent = options.isPermanent ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}

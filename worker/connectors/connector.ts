import type { Value } from '../../shared/events/value.ts';
import type { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import type { Profiles } from '../../shared/security/credentials/credentials.ts';

/** What the code of a connector type can do. Reading comes with the types that events are read from. */
export interface ConnectorType {
  /** As the language calls it; aliases are the language's matter. */
  readonly name: string;
  /** @throws CepError `connector_error` when the settings cannot work; does not connect yet */
  openSink?(settings: ConnectorSettings, environment: ConnectorEnvironment): Sink;
}

/** A connector as a program declares it; parameters under their main names. */
export interface ConnectorSettings {
  readonly name: string;
  readonly type: string;
  readonly parameters: ReadonlyMap<string, Value>;
  /** Texts of the parameters that nobody may see. */
  readonly secrets: readonly string[];
}

/** What connectors need of the process they run in. */
export interface ConnectorEnvironment {
  /** Writes a line for people. */
  readonly console: (line: string) => void;
  /** The way out of the process, which knows which machines the owner of the program may reach. Nothing connects but through it. */
  readonly door: OutboundDoor;
  /** What `profile:` names; undefined where the owner of the program has no credentials. */
  readonly profiles?: Profiles | undefined;
}

/** The other end of `.to` and `.alert`. */
export interface Sink {
  /** Resolves when the other side has taken it. The signal ends what is under way. @throws DeliveryFailure */
  send(message: SinkMessage, signal?: AbortSignal): Promise<void>;
  /** Ends what is under way and waits for nobody. */
  close(): Promise<void>;
}

export interface SinkMessage {
  /** Stable: what is sent again has the same. */
  readonly id: string;
  /** What `.to(topic:)` said; null = what the connector says. */
  readonly topic: string | null;
  /** JSON text. */
  readonly payload: string;
  /** Makes what the other side does with it a part of the trace (W3C Trace Context). */
  readonly traceparent?: string;
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

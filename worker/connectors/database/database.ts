import type { SecureContextOptions } from 'node:tls';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';

/** Time for a server to answer, ms; of a look-up: behind the time for which somebody waits. */
export const ANSWER_MS_MAX = 10_000;

export interface DatabaseAddress {
  readonly door: OutboundDoor;
  readonly host: string;
  readonly port: number;
  /** Undefined: plain TCP. */
  readonly tls: SecureContextOptions | undefined;
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Connections kept open at most. */
  readonly poolSize: number;
}

export type DatabaseRow = Readonly<Record<string, unknown>>;

/** A server of tables. Connects when it is asked first, and again after a connection was lost. */
export interface Database {
  /** `$1`, `$2`, .. stand for the values. The signal says that nobody waits any more; without one it is waited for so long. @throws what is wrong with the connection or the query */
  query(text: string, values: readonly unknown[], signal?: AbortSignal): Promise<readonly DatabaseRow[]>;
  /** The parts of a name, each as text that can be nothing else than that name. */
  quoted(name: readonly string[]): string;
  /** Names of the columns, none where there is no such table; and whether `id` alone is unique in it. */
  describe(table: readonly string[]): Promise<{ readonly columns: ReadonlyMap<string, string>; readonly hasUniqueId: boolean }>;
  /** What follows an INSERT so that a row with a known id is replaced. `columns` are quoted. */
  replacing(columns: readonly string[]): string;
  /** An instant, epoch ms, as a column of times takes it. */
  timeText(ms: number): string;
  close(): Promise<void>;
}

/** The five characters by which SQL names what went wrong. */
export function sqlState(error: unknown): string {
  const { code, sqlState: state } = (error ?? {}) as { readonly code?: unknown; readonly sqlState?: unknown };
  return [state, code].find((text): text is string => typeof text === 'string' && /^[0-9A-Z]{5}$/.test(text)) ?? '';
}

/** What went wrong, in words. */
export function databaseReason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return databaseReason(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { readonly code?: unknown };
  return error.message === '' && typeof code === 'string' ? code : error.message;
}

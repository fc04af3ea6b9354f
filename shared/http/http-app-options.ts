import type { CepError } from '../errors/error.ts';
import type { TlsPair } from '../security/tls-files.ts';
import type { Telemetry } from '../telemetry/internal-events.ts';
import type { Callers } from './callers.ts';
import type { RequestShares } from './request-shares.ts';
import type { Route } from './route.ts';

/** What an HTTP server of ours serves, and by whose rules. */
export interface HttpAppOptions<Caller> {
  readonly routes: readonly Route<Caller>[];
  readonly callers: Callers<Caller>;
  readonly telemetry: Telemetry;
  /** Name and version, for the documentation. */
  readonly about: { readonly title: string; readonly version: string };
  /** Requests per second of a client; 0 = no limit. */
  readonly rateLimit: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Origins of other pages that may use the service. */
  readonly corsOrigins: readonly string[];
  /** Names that requests may name in `Host` besides those of this machine. @default any, with authentication */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Addresses of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[];
  readonly tls?: TlsPair | undefined;
  /** Keeps a part of the thread free while several callers, as `nameOf` names them, use it. @default of its own */
  readonly shares?: RequestShares;
  /** Aborted when the server begins to end: requests that wait for their turn learn at once why they are refused. */
  readonly ending?: AbortSignal;
  /** Why requests are refused at the moment, but for probes. */
  readonly refusal: () => CepError | undefined;
  /** Serve `/openapi.json` and `/docs`. */
  readonly hasDocs: boolean;
  /** Serve `/console`. @default false */
  readonly hasConsole?: boolean;
}

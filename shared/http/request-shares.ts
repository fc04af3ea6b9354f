import { performance } from 'node:perf_hooks';
import { CepError } from '../errors/error.ts';

/** A body that takes about as long to read as the rest of its request. */
export const SMALL_BODY_BYTES = 16_384;
/** How often shares are looked at, ms. */
const SLICE_MS = 20;
/** A client counts as one of several for so long after its last request, ms. */
const ACTIVE_MS = 1_000;
/** Part of the thread's time above which whoever asks for most is kept back, so that others find it free when they come. */
const BUSY_PART_MAX = 0.6;
/** How fast a client that was kept back is given more again, from slice to slice. */
const GROWTH = 1.2;
/** Requests of one client that may wait. */
const WAITING_MAX = 1_000;
/** How long one may wait, ms. */
const WAIT_MS_MAX = 30_000;

interface Client {
  /** Weight of the requests let in, in this slice. */
  load: number;
  /** What earlier slices have let in beyond the allowance. */
  debt: number;
  /** Requests that are not answered yet, those that wait among them. */
  underWay: number;
  activeAtMs: number;
  /** Weight that it may have let in per slice; undefined = as much as it likes. */
  allowance: number | undefined;
  waiting: Waiting[];
}

interface Waiting {
  readonly weight: number;
  readonly sinceMs: number;
  begin(): void;
  refuse(error: CepError): void;
}

export interface RequestSharesOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Part of the thread's time that was in use since the last call, 0 to 1. @default that of this thread */
  readonly busyPart?: () => number;
}

/**
 * Keeps a part of the thread free while several clients use it: when their requests keep it busy, the client that asks for most waits,
 * a few milliseconds at a time, so that the latency of the others hardly changes. A client that is alone, or that sends one request after the other, is never kept back.
 */
export class RequestShares {
  readonly #now: () => number;
  readonly #busyPart: () => number;
  readonly #clients = new Map<string, Client>();
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor({ now, busyPart = busyPartOfThread() }: RequestSharesOptions) {
    this.#now = now;
    this.#busyPart = busyPart;
  }

  /**
   * Every request is told to `leave` when it is answered, or refused.
   * @param weight What the request costs, as a multiple of a small one. @returns nothing when it may go on at once
   * @throws CepError by the promise: `rate_limited` when too many requests of the client wait, or this one has waited too long
   */
  enter(name: string, weight: number): undefined | Promise<void> {
    const client = this.#clients.get(name) ?? { load: 0, debt: 0, underWay: 0, activeAtMs: 0, allowance: undefined, waiting: [] };
    this.#clients.set(name, client);
    client.activeAtMs = this.#now();
    this.#timer ??= setInterval(() => this.#endSlice(), SLICE_MS).unref();
    const isOneAtATime = client.underWay === 0 && client.waiting.length === 0;
    client.underWay++;
    if (this.#isEnded || isOneAtATime || (client.waiting.length === 0 && hasRoom(client))) {
      client.load += weight;
      return undefined;
    }
    if (client.waiting.length >= WAITING_MAX) return Promise.reject(tooMany(`${WAITING_MAX} requests of this client wait already`));
    const sinceMs = client.activeAtMs;
    return new Promise((begin, refuse) => client.waiting.push({ weight, sinceMs, begin, refuse }));
  }

  /** Lets everybody in who waits or comes: the server ends, and refuses them by itself. */
  end(): void {
    this.#isEnded = true;
    for (const { waiting } of this.#clients.values()) for (const { begin } of waiting.splice(0)) begin();
  }

  leave(name: string): void {
    const client = this.#clients.get(name);
    if (client !== undefined) client.underWay--;
  }

  #endSlice(): void {
    this.#forgetIdle();
    this.#divide(this.#busyPart());
    for (const client of this.#clients.values()) {
      letIn(client);
      this.#refuseOld(client);
    }
    if (this.#clients.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #refuseOld({ waiting }: Client): void {
    const since = this.#now() - WAIT_MS_MAX;
    while (waiting[0] !== undefined && waiting[0].sinceMs < since) {
      waiting.shift()?.refuse(tooMany(`other requests of this client took ${WAIT_MS_MAX / 1_000} s`));
    }
  }

  #forgetIdle(): void {
    const idleSince = this.#now() - ACTIVE_MS;
    for (const [name, { activeAtMs, underWay }] of this.#clients) {
      if (activeAtMs < idleSince && underWay === 0) this.#clients.delete(name);
    }
  }

  #divide(busyPart: number): void {
    const idleSince = this.#now() - ACTIVE_MS;
    const clients = [...this.#clients.values()].filter(({ activeAtMs, waiting }) => activeAtMs >= idleSince || waiting.length > 0);
    const isShared = clients.length > 1;
    const most = Math.max(...clients.map(({ load }) => load));
    for (const client of clients) {
      if (!isShared) client.allowance = undefined;
      else if (busyPart > BUSY_PART_MAX && client.load === most && most > 1)
        client.allowance = Math.max(1, (most * BUSY_PART_MAX) / busyPart);
      else if (client.allowance !== undefined) client.allowance = grown(client.allowance, client);
    }
  }
}

function hasRoom({ load, debt, allowance }: Client): boolean {
  return allowance === undefined || load + debt < allowance;
}

/** Those that a client may have in the slice that begins. */
function letIn(client: Client): void {
  const { load, debt, allowance } = client;
  client.debt = allowance === undefined ? 0 : Math.max(0, debt + load - allowance);
  client.load = 0;
  while (client.waiting.length > 0 && hasRoom(client)) {
    const { weight, begin } = client.waiting.shift() as Waiting;
    client.load += weight;
    begin();
  }
}

/** Undefined when the client has long been asking for less. */
function grown(allowance: number, { load, waiting }: Client): number | undefined {
  return waiting.length === 0 && load * 4 < allowance ? undefined : allowance * GROWTH;
}

function tooMany(found: string): CepError {
  return new CepError('rate_limited', found, { retryAfterSeconds: 1, hint: 'send fewer requests at a time; batches take many events' });
}

function busyPartOfThread(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

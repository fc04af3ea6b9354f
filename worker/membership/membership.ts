import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { RemoteClock } from '../../shared/clock/remote-clock.ts';
import type {
  heartbeatAnswerSchema,
  heartbeatRequestSchema,
  registeredSchema,
  registerRequestSchema,
} from '../../shared/protocol/membership.ts';
import { type CoordinatorAnswer, type CoordinatorRequest, NoCoordinator } from './coordinator-client.ts';
import { Lease } from './lease.ts';

export type HeartbeatReport = Omit<Static<typeof heartbeatRequestSchema>, 'incarnation' | 'clock_ms'>;

/** What is read of answers, no narrower than need be: whoever refuses them has no lease. Members that a later version adds are not looked at. */
const [number, texts] = [Type.Number(), Type.Array(Type.String())];
const registrations = Compile(Type.Object({ heartbeat_interval_secs: number, coordinators: texts }));
const acknowledgements = Compile(
  Type.Object({
    ...{ lease_ms: number, fenced: texts, coordinators: texts },
    ...{ clock_ms: Type.Optional(number), state_format: Type.Optional(number) },
  }),
);
type Registered = Static<typeof registeredSchema>;
type Acknowledged = Static<typeof heartbeatAnswerSchema>;

const HEARTBEAT_MS_DEFAULT = 5_000;
/** A member that says nothing for longer than this, or half the time between heartbeats, is taken for gone. */
const HEARTBEAT_ANSWER_MS_MIN = 1_000;
const BACKOFF_MS_FIRST = 250;
const BACKOFF_MS_MAX = 10_000;
/** While a heartbeat is not answered the next one comes sooner than usual. */
const RETRY_MS_MAX = 1_000;

/** Whoever answers for the cluster. */
export interface Coordinators {
  readonly url: string;
  learn(urls: readonly string[]): void;
  /** @throws NoCoordinator */
  ask(request: CoordinatorRequest): Promise<CoordinatorAnswer>;
}

/** The clock and chance of the process, or a test's. */
export interface MembershipClock {
  /** Ms since some moment; nobody sets it, and it goes on while the process is stopped. */
  readonly now: () => number;
  /** Epoch ms. */
  readonly wall: () => number;
  /** Resolves after the time, or at once when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1. */
  readonly random: () => number;
}

export interface MembershipOptions {
  readonly identity: Static<typeof registerRequestSchema>;
  readonly coordinators: Coordinators;
  readonly clock: MembershipClock;
  /** What a heartbeat says, with the ids and epochs of the placements in it. */
  readonly report: () => HeartbeatReport;
  /** A heartbeat was acknowledged: what it reported and is not fenced may run. */
  readonly acknowledged: (heartbeat: {
    readonly report: HeartbeatReport;
    readonly sentAt: number;
    readonly leaseMs: number;
    readonly fenced: readonly string[];
    /** The latest that all workers read; undefined where it is not known. */
    readonly stateFormat: number | undefined;
  }) => void;
  /** Another process has taken this one's place: nothing may run any more. */
  readonly replaced: () => void;
  readonly say: MembershipVoice;
}

/** What the log is told. */
export interface MembershipVoice {
  registered(coordinator: string): void;
  notRegistered(coordinator: string, reason: string): void;
  /** The coordinator does not know the key. */
  keyRefused(coordinator: string): void;
  heartbeatFailed(coordinator: string, reason: string): void;
  replaced(reason: string): void;
}

export type MembershipStatus = 'registering' | 'registered' | 'key_refused' | 'replaced' | 'left';

/**
 * Makes this process a worker of a cluster and keeps it one: registers, for ever if need be, and sends heartbeats, whose answers are the
 * leases of what runs here. Without an answer nothing else stops: the process serves what it has of its own.
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #lease = new Lease();
  readonly #clusterClock = new RemoteClock();
  #status: MembershipStatus = 'registering';
  #intervalMs = HEARTBEAT_MS_DEFAULT;
  #failures = 0;
  #isFailing = false;
  readonly #end = new AbortController();
  /** Ends the wait that is under way. */
  #poke = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  get status(): MembershipStatus {
    return this.#status;
  }

  /** Of the last heartbeat that was acknowledged. */
  get leaseRemainingMs(): number {
    return this.#lease.remainingMs(this.#options.clock.now());
  }

  /** Epoch ms, by the clocks of the cluster; by that of this machine while none has said what they show. */
  clusterTime(): number {
    const { now, wall } = this.#options.clock;
    const { baseMs } = this.#clusterClock;
    return baseMs === undefined ? wall() : baseMs + now();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Something has changed that the coordinators should know: the next heartbeat is sent now. */
  hurry(): void {
    if (this.#status === 'registered' && !this.#isFailing) this.#poke.abort();
  }

  /** Nothing more is sent. */
  async leave(): Promise<void> {
    if (this.#status !== 'replaced') this.#status = 'left';
    this.#end.abort();
    this.#poke.abort();
    await this.#running;
  }

  get #isOver(): boolean {
    return this.#end.signal.aborted || this.#status === 'replaced';
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const waitMs = this.#status === 'registered' ? await this.#beat() : await this.#register();
      if (!this.#isOver) await this.#wait(waitMs);
    }
  }

  /** Whoever hurries while a heartbeat is under way has the next one sent at once. */
  async #wait(ms: number): Promise<void> {
    await this.#options.clock.wait(ms, this.#poke.signal);
    if (!this.#end.signal.aborted) this.#poke = new AbortController();
  }

  /** Gives the time until the next try, or until the first heartbeat. */
  async #register(): Promise<number> {
    const { identity, coordinators, say } = this.#options;
    const answer = await this.#ask({ method: 'POST', path: '/workers/register', body: identity, isAnswer: isOf(registrations) });
    if (this.#isOver) return 0;
    if (answer instanceof NoCoordinator) say.notRegistered(coordinators.url, answer.message);
    else if (answer.status === 201) return this.#registered(json<Registered>(answer));
    else if (answer.code === 'stale_incarnation') return this.#replaced(answer);
    else if (answer.status === 401 || answer.status === 403) this.#keyRefused();
    else say.notRegistered(coordinators.url, problemOf(answer));
    return this.#backoffMs(BACKOFF_MS_MAX);
  }

  #registered({ heartbeat_interval_secs: seconds, coordinators: urls }: Registered): number {
    const { coordinators, say } = this.#options;
    say.registered(coordinators.url);
    coordinators.learn(urls);
    this.#status = 'registered';
    this.#intervalMs = seconds * 1_000;
    this.#failures = 0;
    return 0;
  }

  /** Said once: it may be mended there without a word to this process, so it goes on asking. */
  #keyRefused(): void {
    if (this.#status !== 'key_refused') this.#options.say.keyRefused(this.#options.coordinators.url);
    this.#status = 'key_refused';
  }

  async #beat(): Promise<number> {
    const { identity, coordinators, clock, report, acknowledged, say } = this.#options;
    const reported = report();
    const sentAt = clock.now();
    const path = `/workers/${encodeURIComponent(identity.worker_id)}/heartbeat`;
    const body = (): object => ({ incarnation: identity.incarnation, clock_ms: clock.wall(), ...reported });
    const deadlineMs = Math.max(HEARTBEAT_ANSWER_MS_MIN, this.#intervalMs / 2);
    const answer = await this.#ask({ method: 'POST', path, body, deadlineMs, isAnswer: isOf(acknowledgements) });
    if (this.#isOver) return 0;
    this.#isFailing = answer instanceof NoCoordinator || answer.status !== 200;
    if (answer instanceof NoCoordinator) {
      say.heartbeatFailed(coordinators.url, answer.message);
      return this.#backoffMs(Math.min(RETRY_MS_MAX, this.#intervalMs));
    }
    if (answer.status === 200) {
      const { lease_ms: leaseMs, fenced, coordinators: urls, clock_ms: clusterMs, state_format: stateFormat } = json<Acknowledged>(answer);
      this.#failures = 0;
      this.#lease.renew(sentAt, leaseMs);
      if (clusterMs !== undefined) this.#clusterClock.heard(clusterMs, clock.now());
      coordinators.learn(urls);
      acknowledged({ report: reported, sentAt, leaseMs, fenced, stateFormat });
      return this.#intervalMs;
    }
    return this.#refused(answer);
  }

  #refused(answer: CoordinatorAnswer): number {
    const { coordinators, say } = this.#options;
    if (answer.code === 'stale_incarnation') return this.#replaced(answer);
    say.heartbeatFailed(coordinators.url, problemOf(answer));
    if (answer.code === 'worker_not_found' || answer.status === 401 || answer.status === 403) this.#status = 'registering';
    return this.#backoffMs(RETRY_MS_MAX);
  }

  #replaced(answer: CoordinatorAnswer): number {
    this.#status = 'replaced';
    this.#lease.end();
    this.#options.say.replaced(problemOf(answer));
    this.#options.replaced();
    return 0;
  }

  async #ask(request: CoordinatorRequest): Promise<CoordinatorAnswer | NoCoordinator> {
    try {
      return await this.#options.coordinators.ask({ ...request, signal: this.#end.signal });
    } catch (error) {
      if (error instanceof NoCoordinator) return error;
      throw error;
    }
  }

  /** Exponential, and by chance within that, so that many workers do not come back together. */
  #backoffMs(max: number): number {
    const ceiling = Math.min(max, BACKOFF_MS_FIRST * 2 ** Math.min(this.#failures++, 20));
    return ceiling / 2 + (this.#options.clock.random() * ceiling) / 2;
  }
}

/** Whether bytes are JSON of the shape. */
function isOf(shape: { readonly Check: (value: unknown) => boolean }): (bytes: Buffer) => boolean {
  return (bytes) => {
    try {
      return shape.Check(JSON.parse(bytes.toString('utf8')));
    } catch {
      return false; // It is no JSON.
    }
  };
}

function json<T>({ bytes }: CoordinatorAnswer): T {
  return JSON.parse(bytes.toString('utf8')) as T;
}

function problemOf({ status, message }: CoordinatorAnswer): string {
  return message === undefined ? `the answer was ${status}` : message;
}

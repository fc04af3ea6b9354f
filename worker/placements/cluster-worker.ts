import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebDoor } from '../../shared/outbound/web-door.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { LATEST_STATE_FORMAT } from '../engine/state/format.ts';
import { CoordinatorClient } from '../membership/coordinator-client.ts';
import { type HeartbeatReport, Membership, type MembershipStatus } from '../membership/membership.ts';
import type { PlacementHost } from '../runtime/placed/placement-host.ts';
import type { RuntimeMetrics } from '../runtime/service.ts';
import { PlacementTable } from './placement-table.ts';
import type { PeerAnswer } from './route-link.ts';

/** How often it is looked whether a lease has ended. What is said is asked for each time besides. */
const LOOK_MS = 200;
const PEER_ANSWER_MS = 15_000;
/** How long the coordinators have to give what runs here to others, when the process ends. */
const DRAIN_SECONDS = 20;

export interface ClusterWorkerOptions {
  readonly workerId: string;
  /** Where coordinators and other workers reach this process. */
  readonly address: string;
  /** Of this process: no other one has it. */
  readonly incarnation: string;
  readonly version: string;
  /** Of any members. */
  readonly coordinators: readonly string[];
  /** The cluster's key, which is that of this server. */
  readonly apiKey: string | undefined;
  readonly web: WebDoor;
  readonly host: PlacementHost;
  readonly scrape: () => Pick<RuntimeMetrics, 'pipelines'>;
  readonly telemetry: Telemetry;
}

/** This server as a worker of a cluster: what it holds for it, and how it stays a member. */
export class ClusterWorker {
  readonly placements: PlacementTable;
  readonly #options: ClusterWorkerOptions;
  readonly #client: CoordinatorClient;
  readonly #membership: Membership;
  readonly #looking: NodeJS.Timeout;
  #cpuBefore = process.cpuUsage();
  #cpuAt = performance.now();

  constructor(options: ClusterWorkerOptions) {
    const { workerId, address, incarnation, version, coordinators, apiKey, web, host, telemetry } = options;
    this.#options = options;
    this.#client = new CoordinatorClient({ urls: coordinators, apiKey, web });
    const now = (): number => performance.now();
    const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
      await sleep(ms, undefined, { signal }).catch(() => undefined); // Whoever waits looks why it is over.
    };
    this.placements = new PlacementTable({
      ...{ host, coordinators: this.#client, now, wait },
      clusterTime: () => this.#membership.clusterTime(),
      post: (url, body) => this.#post(url, body),
      report: ({ level, message, fields }) => telemetry.log.log(level, message, fields),
      changed: () => this.#membership.hurry(),
      fenced: (placement) => telemetry.report('PlacementFenced', { placement }),
    });
    this.#membership = new Membership({
      identity: {
        ...{ worker_id: workerId, address, incarnation, version },
        capacity: { cpu_cores: availableParallelism(), pipelines_running: 0, max_pipelines: 0 },
      },
      coordinators: this.#client,
      clock: { now, wait, wall: () => Date.now(), random: Math.random },
      report: () => this.#report(),
      acknowledged: ({ report, ...heartbeat }) => this.placements.acknowledged(report, heartbeat),
      replaced: () => this.placements.close(),
      say: {
        registered: (coordinator) => telemetry.report('WorkerRegistered', { worker: workerId, coordinator }),
        notRegistered: (coordinator, reason) => telemetry.report('WorkerNotRegistered', { worker: workerId, coordinator, reason }),
        keyRefused: (coordinator) => telemetry.report('WorkerKeyRefused', { worker: workerId, coordinator }),
        heartbeatFailed: (coordinator, reason) => telemetry.report('HeartbeatFailed', { worker: workerId, coordinator, reason }),
        replaced: (reason) => telemetry.report('WorkerReplaced', { worker: workerId, reason }),
      },
    });
    this.#looking = setInterval(() => this.placements.look(), LOOK_MS);
    this.#looking.unref();
  }

  get identity(): { readonly workerId: string; readonly incarnation: string } {
    const { workerId, incarnation } = this.#options;
    return { workerId, incarnation };
  }

  get status(): MembershipStatus {
    return this.#membership.status;
  }

  /** Of the last heartbeat that was answered. */
  get leaseRemainingMs(): number {
    return this.#membership.leaseRemainingMs;
  }

  /** A coordinator holds a connection to this process: one that has just begun to lead knows nothing of what is here, and waits for that. */
  noteWatch(): void {
    this.#membership.hurry();
  }

  start(): void {
    this.#options.host.prepare();
    this.#membership.start();
  }

  /** Gives what runs here to other workers, with its state; heartbeats go on meanwhile. What could not be given in time is only stopped: its state is at the coordinators. */
  async drain(): Promise<void> {
    const { workerId, telemetry } = this.#options;
    if (this.placements.size === 0 || this.#membership.status !== 'registered') return;
    const path = `/workers/${encodeURIComponent(workerId)}/drain`;
    const request = { method: 'POST', path, body: { timeout_secs: DRAIN_SECONDS }, deadlineMs: (DRAIN_SECONDS + 2) * 1_000 } as const;
    const late = sleep((DRAIN_SECONDS + 2) * 1_000, 'no answer in time', { ref: false });
    const drained = this.#client
      .ask(request)
      .then(({ status, message }) => (status === 200 ? undefined : (message ?? `the answer was ${status}`)));
    const problem = await Promise.race([drained, late]).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (problem !== undefined) telemetry.report('WorkerNotDrained', { worker: workerId, reason: problem });
  }

  /** Nothing runs for the cluster any more, and it is told nothing more. */
  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.placements.close();
    await this.#membership.leave();
  }

  #report(): HeartbeatReport {
    const { pipelines } = this.#options.scrape();
    const held = this.placements.report();
    const running = (held.pipelines ?? []).filter(({ status }) => status === 'running' || status === 'degraded');
    return {
      ...held,
      state_format: LATEST_STATE_FORMAT,
      events_processed: pipelines.reduce((sum, { eventsProcessed }) => sum + eventsProcessed, 0),
      pipelines_running: running.length,
      load: { cpu: this.#cpuCores(), queue: pipelines.reduce((sum, { eventsInFlight }) => sum + eventsInFlight, 0) },
    };
  }

  /** In use since the last time that this was asked. */
  #cpuCores(): number {
    const [used, at] = [process.cpuUsage(this.#cpuBefore), performance.now()];
    const cores = (used.user + used.system) / 1_000 / Math.max(1, at - this.#cpuAt);
    [this.#cpuBefore, this.#cpuAt] = [process.cpuUsage(), at];
    return Math.round(cores * 1_000) / 1_000;
  }

  async #post(url: string, body: string): Promise<PeerAnswer> {
    const { apiKey, web } = this.#options;
    const headers = { 'content-type': 'application/json', ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
    const answer = await web.request(new URL(url), { method: 'POST', headers, body, deadlineMs: PEER_ANSWER_MS });
    const parsed = (await answer.body.json()) as { readonly code?: string; readonly error?: string };
    return { status: answer.statusCode, code: parsed.code, message: parsed.error, body: parsed };
  }
}

import { WorkerRefusal } from '../../../../coordinator/workers-client/worker-client.ts';
import { CepError } from '../../../../shared/errors/error.ts';
import type { CoordinatorAnswer, CoordinatorRequest } from '../../../../worker/membership/coordinator-client.ts';
import { PlacementTable } from '../../../../worker/placements/placement-table.ts';
import type { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedHost, type SimulatedPipeline } from './simulated-pipeline.ts';

export interface SimulatedWorkerOptions {
  readonly id: string;
  readonly incarnation: string;
  readonly network: SimulatedNetwork;
  readonly askCluster: (request: CoordinatorRequest) => Promise<CoordinatorAnswer>;
  /** How fast its clock runs. */
  readonly pace: number;
}

/** One process of a worker, with what a real one has but its engine and its sockets. */
export class SimulatedWorker {
  readonly id: string;
  readonly incarnation: string;
  readonly host: SimulatedHost;
  readonly table: PlacementTable;
  readonly #options: SimulatedWorkerOptions;
  /** What came while it was stopped. */
  #waiting: (() => void)[] = [];
  isAlive = true;
  isStopped = false;
  isRegistered = false;
  /** Another process has its place. */
  isReplaced = false;

  constructor(options: SimulatedWorkerOptions) {
    const { id, incarnation, network, askCluster } = options;
    this.#options = options;
    [this.id, this.incarnation] = [id, incarnation];
    this.host = new SimulatedHost(() => new Promise((resolve) => network.send(() => this.reach(resolve))));
    this.table = new PlacementTable({
      host: this.host,
      coordinators: { url: 'any', learn: () => undefined, ask: askCluster },
      now: () => this.now(),
      clusterTime: () => this.now(),
      wait: (ms, signal) =>
        new Promise((resolve) => {
          const end = (): void => {
            signal.removeEventListener('abort', end);
            resolve();
          };
          network.after(ms, end);
          signal.addEventListener('abort', end);
        }),
      post: () => Promise.reject(new Error('there are no routes here')),
      report: () => undefined,
      changed: () => undefined,
      fenced: () => undefined,
    });
  }

  now(): number {
    return this.#options.network.nowMs * this.#options.pace;
  }

  get key(): string {
    return `${this.id}/${this.incarnation}`;
  }

  get works(): boolean {
    return this.isAlive && !this.isStopped;
  }

  /** What it runs and may say something of. */
  get open(): readonly SimulatedPipeline[] {
    return this.isAlive ? [...this.host.pipelines].filter(({ isOpen }) => isOpen) : [];
  }

  /** Something reaches it. */
  reach(then: () => void): void {
    if (this.isStopped) this.#waiting.push(then);
    else if (this.isAlive) then();
  }

  /** As SIGSTOP does: its clock goes on, and it does nothing. */
  stop(): void {
    this.isStopped = true;
  }

  goOn(): void {
    this.isStopped = false;
    for (const then of this.#waiting.splice(0)) this.reach(then);
  }

  kill(): void {
    this.isAlive = false;
    this.host.pipelines.clear();
    this.host.warmed.clear();
  }

  /** What a request does, and how it is answered. */
  async act<T>(handle: (table: PlacementTable) => T | Promise<T>): Promise<T> {
    try {
      return await handle(this.table);
    } catch (error) {
      if (!(error instanceof CepError)) throw error;
      const { code, message, details, status } = error;
      throw new WorkerRefusal(status, { code, error: message, details });
    }
  }
}

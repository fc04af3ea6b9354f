import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { PlacementRequest } from '../../../worker/placements/placement.ts';
import { type RunningServer, startServer } from '../../../worker/server/start-server.ts';
import { clusterKey, type StubCoordinator } from './stub-coordinator.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what its answer holds.
  readonly body: any;
}

interface WorkerOptions {
  readonly workerId?: string;
  readonly apiKey?: string;
  readonly checkpointIntervalMs?: number;
  readonly stateDir?: string;
  /** Of the runtime, to which the server hands on what it is started with. */
  readonly eventBudgetMs?: number;
}

/** A server that is a worker, in this process. */
export class WorkerUnderTest {
  readonly url: string;
  readonly server: RunningServer;
  readonly log: string[];

  private constructor(url: string, server: RunningServer, log: string[]) {
    this.url = url;
    this.server = server;
    this.log = log;
  }

  static async start(
    coordinators: readonly string[],
    { workerId = 'w1', apiKey = clusterKey, checkpointIntervalMs = 60_000, stateDir, eventBudgetMs = 5_000 }: WorkerOptions = {},
  ): Promise<WorkerUnderTest> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const log: string[] = [];
    const server = await startServer({
      ...{ port, apiKey, engineThreads: 1, checkpointIntervalMs, stateDir, eventBudgetMs, writeLog: (line) => log.push(line) },
      cluster: { coordinators, workerId, address: url, incarnation: randomUUID() },
    });
    return new WorkerUnderTest(url, server, log);
  }

  async ask(method: string, path: string, body?: object, key = clusterKey, more: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { 'x-api-key': key, ...more, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  put(id: string, request: PlacementRequest): Promise<Answer> {
    return this.ask('PUT', placement(id), request);
  }

  get(id: string): Promise<Answer> {
    return this.ask('GET', placement(id));
  }

  post(id: string, verb: string, body: object): Promise<Answer> {
    return this.ask('POST', `${placement(id)}/${verb}`, body);
  }

  /** One batch for each event, numbered from `first` on. `logEnd`: the last batch that there is. @default a coordinator that does not say it */
  inject(
    id: string,
    {
      epoch,
      first,
      events,
      at = Date.now(),
      logEnd,
    }: { epoch: number; first: number; events: readonly object[]; at?: number; logEnd?: number },
  ): Promise<Answer> {
    const batches = events.map((event, index) => ({ sequence: first + index, received_at: at, events: [event] }));
    const body = { epoch, from: { placement_id: '_external', epoch: 0 }, batches };
    const said: Record<string, string> = logEnd === undefined ? {} : { 'x-cep-log-end': String(logEnd) };
    return this.ask('POST', `${placement(id)}/events`, body, clusterKey, said);
  }
}

function placement(id: string): string {
  return `/api/v1/worker/placements/${encodeURIComponent(id)}`;
}

/** What a coordinator asks for, with the rest as it mostly is. */
export function placing(source: string, change: Partial<PlacementRequest> = {}): PlacementRequest {
  const place = { group: 'orders', group_id: 'g_1', pipeline: 'p', replica: 0, replicas: 1 };
  const epoch = change.epoch ?? 1;
  return { epoch, revision: '1', tenure: epoch, ...place, source, connectors: [], routes: [], ...change };
}

/** As a coordinator that has decided it. */
export async function place(stub: StubCoordinator, worker: WorkerUnderTest, id: string, request: PlacementRequest): Promise<void> {
  stub.epochs.set(id, request.epoch);
  const { status, body } = await worker.put(id, request);
  if (status !== 200) throw new Error(`PUT was answered ${status}: ${JSON.stringify(body)}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

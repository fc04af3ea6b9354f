import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { compiledTools } from '../../../chaos/process/cluster/compiled-tools.ts';
import { Machine } from '../../../chaos/process/cluster/machine.ts';
import { freePortPairs } from '../../contract/coordinator.ts';
import { CepProcess } from '../../integration/cli/cep-process.ts';

export const clusterKey = 'the-key-of-the-cluster';
const READY_MS = 60_000;
/** Of the kernel's accounting of processor time. */
const TICK_MS = 10;

export interface Asked {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object | string;
}

export interface ClusterUnderLoadOptions {
  readonly coordinatorArgs?: readonly string[];
  readonly onDisk?: boolean;
  readonly hasMachines?: boolean;
}

/** By process, ms. */
export type ProcessorTimes = Readonly<Record<string, number>>;

/** User and system time of a process. */
function processorMsOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Processes of the built command: one coordinator with its log on disk, and workers. */
export class ClusterUnderLoad {
  readonly coordinator: Pool;
  readonly workers = new Map<string, { readonly process: CepProcess; readonly pool: Pool; readonly machine: Machine | undefined }>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'cep-bench-cluster-'));
  readonly #ports: number[];
  readonly #args: readonly string[];
  #process: CepProcess;

  private constructor(ports: number[], args: readonly string[]) {
    this.#ports = ports;
    const own = ['--port', String(ports.shift()), '--raft-data-dir', join(this.#folder, 'raft'), '--rate-limit', '0', ...args];
    this.coordinator = new Pool(`http://127.0.0.1:${own[1]}`, { connections: 256 });
    this.#args = ['coordinator', ...own];
    this.#process = this.#startCoordinator();
  }

  #startCoordinator(): CepProcess {
    return new CepProcess(this.#args, { env: { CEP_API_KEY: clusterKey } });
  }

  /** Until now, of the processes of the cluster and of this one, which is its client. */
  processorMs(): ProcessorTimes {
    const { user, system } = process.cpuUsage();
    const workers = Array.from(
      this.workers,
      ([
        id,
        {
          process: { child },
        },
      ]) => [id, processorMsOf(child.pid)] as const,
    );
    return { client: (user + system) / 1_000, coordinator: processorMsOf(this.#process.child.pid), ...Object.fromEntries(workers) };
  }

  /** Kills it, and starts it again with its log. */
  async restartCoordinator(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.ended;
    this.#process = this.#startCoordinator();
  }

  /** @param options `onDisk`: workers keep a log and what is asked of them; `hasMachines`: they do, and their machine can be made worse. */
  static async start(
    workers: number,
    { coordinatorArgs = [], onDisk = false, hasMachines = false }: ClusterUnderLoadOptions = {},
  ): Promise<ClusterUnderLoad> {
    const cluster = new ClusterUnderLoad(await freePortPairs(1 + 2 * workers), coordinatorArgs);
    const tools = hasMachines ? await compiledTools(cluster.#folder) : undefined;
    for (let at = 1; at <= workers; at++) {
      const machine = hasMachines ? new Machine(cluster.#folder, `w${at}`, tools?.slowSync) : undefined;
      cluster.#startWorker(`w${at}`, { machine, onDisk: onDisk || hasMachines });
    }
    await cluster.until({ method: 'GET', path: '/api/v1/cluster/workers' }, (body) => {
      return (body as { status: string }[]).filter(({ status }) => status === 'ready').length === workers;
    });
    return cluster;
  }

  #startWorker(id: string, { machine, onDisk }: { readonly machine: Machine | undefined; readonly onDisk: boolean }): void {
    const [port, metricsPort] = [this.#ports.shift(), this.#ports.shift()];
    const args = ['--port', String(port), '--metrics-port', String(metricsPort), '--worker-id', id, '--rate-limit', '0'];
    const url = `http://127.0.0.1:${port}`;
    const more = ['--coordinator', String(this.url), ...(onDisk ? ['--state-dir', join(this.#folder, id)] : [])];
    this.workers.set(id, {
      process: new CepProcess(['server', ...args, ...more], { env: { CEP_API_KEY: clusterKey, ...machine?.env } }),
      pool: new Pool(url, { connections: 256 }),
      machine,
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#process.child.spawnargs[this.#process.child.spawnargs.indexOf('--port') + 1]}`;
  }

  /** @throws Error when it is refused */
  async ask({ method, path, body }: Asked, pool = this.coordinator): Promise<unknown> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'x-api-key': clusterKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const answer = await pool.request({ method, path, headers, ...(text === undefined ? {} : { body: text }) });
    const told = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${told.slice(0, 300)}`);
    return JSON.parse(told);
  }

  async until(asked: Asked, isReached: (body: unknown) => boolean): Promise<unknown> {
    const end = performance.now() + READY_MS;
    for (;;) {
      const body = await this.ask(asked).catch(() => undefined);
      if (body !== undefined && isReached(body)) return body;
      if (performance.now() > end) throw new Error(`${asked.path} did not come to what was waited for: ${JSON.stringify(body)}`);
      await sleep(50);
    }
  }

  async close(): Promise<void> {
    for (const { process } of this.workers.values()) process.kill('SIGKILL');
    this.#process.kill('SIGKILL');
    await this.#process.ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

import { expect, vi } from 'vitest';
import { freePortPairs } from '../../../contract/coordinator.ts';
import { type Answer, ask } from '../../../contract/declared-answer.ts';
import { CepProcess } from '../../cli/cep-process.ts';

const key = 'the-key-of-the-cluster';
const wait = { timeout: 120_000, interval: 50 };

/** A coordinator and two workers, each a process. */
export class ClusterOfTwo {
  readonly #url: string;
  readonly #processes = new Map<string, CepProcess>();

  readonly #workers = new Map<string, readonly string[]>();

  private constructor(url: string) {
    this.#url = url;
  }

  /** `checkpointInterval`: of the workers, seconds. */
  static async start({ checkpointInterval }: { readonly checkpointInterval: number }): Promise<ClusterOfTwo> {
    const [port = 0, ...ports] = await freePortPairs(5);
    const cluster = new ClusterOfTwo(`http://127.0.0.1:${port}`);
    cluster.#run('coordinator', ['coordinator', '--port', `${port}`, '--heartbeat-interval', '1', '--heartbeat-timeout', '3']);
    for (const id of ['w1', 'w2']) {
      const own = ['--port', `${ports.shift()}`, '--metrics-port', `${ports.shift()}`, '--worker-id', id];
      cluster.#workers.set(id, ['server', '--coordinator', cluster.#url, ...own, '--checkpoint-interval', `${checkpointInterval}`]);
      cluster.startWorker(id);
    }
    await cluster.ready();
    return cluster;
  }

  /** Resolves when both workers can take pipelines. */
  async ready(): Promise<void> {
    const ready = [{ status: 'ready' }, { status: 'ready' }];
    await vi.waitFor(async () => expect((await this.ask('GET', '/workers')).body).toMatchObject(ready), wait);
  }

  /** Starts one, or starts it again where it was killed. */
  startWorker(id: string): void {
    this.#run(id, this.#workers.get(id) ?? []);
  }

  #run(name: string, args: readonly string[]): void {
    this.#processes.set(name, new CepProcess(args, { env: { CEP_API_KEY: key } }));
  }

  ask(method: string, path: string, body?: object): Promise<Answer> {
    return ask({ method, url: `${this.#url}/api/v1/cluster${path}`, key, ...(body === undefined ? {} : { body }) });
  }

  /** Kills the worker that has the first pipeline of a group, and gives its id. */
  async killHolder(group: string): Promise<string> {
    const { body } = await this.ask('GET', `/pipeline-groups/${group}`);
    const { worker_id: holder } = (body as { deployments: { worker_id: string }[] }).deployments[0] as { worker_id: string };
    const process = this.#processes.get(holder);
    process?.kill('SIGKILL');
    await process?.ended;
    return holder;
  }

  /** Replicas of its pipeline run on both workers. */
  async isSpread(group: string): Promise<void> {
    const { body } = await this.ask('GET', `/pipeline-groups/${group}`);
    const { deployments } = body as { deployments: { worker_id: string }[] };
    expect(new Set(deployments.map(({ worker_id: id }) => id)).size).toBe(2);
  }

  async close(): Promise<void> {
    for (const process of this.#processes.values()) process.kill('SIGKILL');
    await Promise.all(Array.from(this.#processes.values(), ({ ended }) => ended));
  }
}

import { expect, vi } from 'vitest';
import { Sink } from '../../../../chaos/process/cluster/sink.ts';
import { freePortPairs } from '../../../contract/coordinator.ts';
import { type Answer, ask } from '../../../contract/declared-answer.ts';
import { CepProcess } from '../../cli/cep-process.ts';
import type { NumberedPublisher } from './audited-run.ts';

const key = 'the-key-of-the-cluster';
const wait = { timeout: 120_000, interval: 50 };
/** So many begin a pair, and as many end one. */
const PAIRS = 60;

/** A coordinator and two workers, each a process. */
class ClusterOfTwo {
  readonly #url: string;
  readonly #processes = new Map<string, CepProcess>();

  private constructor(url: string) {
    this.#url = url;
  }

  static async start(): Promise<ClusterOfTwo> {
    const [port = 0, ...ports] = await freePortPairs(5);
    const cluster = new ClusterOfTwo(`http://127.0.0.1:${port}`);
    cluster.#run('coordinator', ['coordinator', '--port', `${port}`, '--heartbeat-interval', '1', '--heartbeat-timeout', '3']);
    for (const id of ['w1', 'w2']) {
      const own = ['--port', `${ports.shift()}`, '--metrics-port', `${ports.shift()}`, '--worker-id', id];
      // No checkpoint is made but when something waits for one.
      cluster.#run(id, ['server', '--coordinator', cluster.#url, ...own, '--checkpoint-interval', '600']);
    }
    const ready = [{ status: 'ready' }, { status: 'ready' }];
    await vi.waitFor(async () => expect((await cluster.ask('GET', '/workers')).body).toMatchObject(ready), wait);
    return cluster;
  }

  #run(name: string, args: readonly string[]): void {
    this.#processes.set(name, new CepProcess(args, { env: { CEP_API_KEY: key } }));
  }

  ask(method: string, path: string, body?: object): Promise<Answer> {
    return ask({ method, url: `${this.#url}/api/v1/cluster${path}`, key, ...(body === undefined ? {} : { body }) });
  }

  /** Kills the worker that has the only pipeline of a group. */
  async killHolder(group: string): Promise<void> {
    const { body } = await this.ask('GET', `/pipeline-groups/${group}`);
    const { worker_id: holder } = (body as { deployments: { worker_id: string }[] }).deployments[0] as { worker_id: string };
    this.#processes.get(holder)?.kill('SIGKILL');
  }

  async close(): Promise<void> {
    for (const process of this.#processes.values()) process.kill('SIGKILL');
    await Promise.all(Array.from(this.#processes.values(), ({ ended }) => ended));
  }
}

interface MovedSource {
  /** Its declaration. */
  readonly connector: string;
  /** What else `.from` says. */
  readonly from: string;
  readonly publisher: NumberedPublisher;
}

/**
 * Lets a pipeline take the first halves of pairs, kills its worker the moment it has them, and gives what the other worker makes of the
 * second halves: the numbers of the pairs. What the broker was told was taken, and no checkpoint had, would be missing.
 */
export async function pairsOverKill({ connector, from, publisher }: MovedSource): Promise<readonly number[]> {
  const sink = await Sink.start('127.0.0.1');
  const cluster = await ClusterOfTwo.start();
  try {
    const source = `
event Reading:
    n: int

connector Store = ${connector}
connector Out = http (url: "${sink.url}")

stream Seen = Reading.from(Store, ${from})
    .emit(n: n)
    .to(Out)

stream Pair = Seen as a -> Seen where n == a.n + ${PAIRS} as b
    .within(1h)
    .emit(n: a.n)
    .to(Out)
`;
    const made = await cluster.ask('POST', '/pipeline-groups', { name: 'moved', pipelines: [{ name: 'p', source }] });
    expect([made.status, made.body.status]).toEqual([201, 'running']);
    const numbers = (type: string): readonly number[] => {
      const texts = sink.deliveries.filter(({ text }) => text.startsWith(`${type} `)).map(({ text }) => text.slice(type.length));
      return [...new Set(texts)].map((text) => (JSON.parse(text) as { n: number }).n).sort((a, b) => a - b);
    };
    const have = (type: string, count: number) => vi.waitFor(() => expect(numbers(type)).toHaveLength(count), wait);
    // Where it stands is in a checkpoint from the first ones on.
    await publisher.publish(10);
    await have('Seen', 10);
    await publisher.publish(PAIRS - 10);
    await have('Seen', PAIRS);
    await cluster.killHolder('moved');
    await publisher.publish(PAIRS);
    await have('Seen', 2 * PAIRS);
    await publisher.leave();
    // What is missing does not come.
    await vi.waitFor(() => expect(numbers('Pair')).toHaveLength(PAIRS), { ...wait, timeout: 10_000 }).catch(() => undefined);
    return numbers('Pair');
  } finally {
    await cluster.close();
    await sink.close();
  }
}

export const allPairs = Array.from({ length: PAIRS }, (_, n) => n);

import type { Pool } from 'undici';
import { closedLoop } from '../raft/load.ts';
import type { ClusterUnderLoad, ProcessorTimes } from './cluster-under-load.ts';

const source = 'stream High = Reading where value > 90 .emit(sensor: sensor, value: value)';
const groupPath = '/api/v1/cluster/pipeline-groups';
const ROUNDS = 5;
/** For so long each way is asked before it counts: V8 compiles for 200,000 events what they pass through, and a process takes up to three times as much until then. */
const WARM_S = 20;
/** A closed loop runs for a tenth longer than it counts. */
const WARM_SHARE = 1.1;

interface Way {
  readonly name: string;
  readonly pool: Pool;
  /** For one event, and for many. */
  readonly one: string;
  readonly many: string;
}

let next = 0;

function event(): object {
  const n = next++;
  return { event_type: 'Reading', fields: { sensor: `s${n % 1_000}`, value: n % 100 }, timestamp: 1_700_000_000_000 + n };
}

/** What each process took for an event, in microseconds. */
function perEvent(before: ProcessorTimes, after: ProcessorTimes, events: number): string {
  return Object.entries(after)
    .map(([name, ms]) => `${name} ${((1_000 * (ms - (before[name] ?? 0))) / events).toFixed(1)}`)
    .join(' + ')
    .concat(' us');
}

/**
 * The same events to a pipeline of the worker itself, and to one that the cluster has placed on it: in turns, in one run. The worker is asked in both
 * of its ways: to answer when it has worked them through, and, as the coordinator does, when they are on disk too.
 */
export async function measureInject(cluster: ClusterUnderLoad, seconds: number, print: (line: string) => void): Promise<void> {
  const { pool } = cluster.workers.get('w1') as { pool: Pool };
  await cluster.ask({ method: 'POST', path: groupPath, body: { name: 'bench', pipelines: [{ name: 'p', source }] } });
  const { id } = (await cluster.ask({ method: 'POST', path: '/api/v1/pipelines', body: { name: 'own', source } }, pool)) as { id: string };
  const own = `/api/v1/pipelines/${id}`;
  const direct = { name: 'direct', pool, one: `${own}/events`, many: `${own}/events-batch` };
  const onDisk = { name: 'direct on disk', pool, one: `${direct.one}?durable=true`, many: `${direct.many}?durable=true` };
  const through = {
    ...{ name: 'coordinator', pool: cluster.coordinator },
    ...{ one: `${groupPath}/bench/inject`, many: `${groupPath}/bench/inject-batch` },
  };
  const ways: readonly Way[] = [direct, onDisk, through];
  const one = (way: Way) => () => cluster.ask({ method: 'POST', path: way.one, body: event() }, way.pool);
  const many = (count: number) => (way: Way) => () =>
    cluster.ask({ method: 'POST', path: way.many, body: { events: Array.from({ length: count }, event) } }, way.pool);
  // With few clients who each wait for an answer it is measured how long one takes, which is longer where a disk is written; with many, how much can be done.
  for (const clients of [64, 256]) await compare(`single events, ${clients} clients`, { count: 1, clients, work: one });
  for (const clients of [8, 32]) await compare(`batches of 500, ${clients} clients`, { count: 500, clients, work: many(500) });

  async function compare(
    what: string,
    { count, clients, work }: { count: number; clients: number; work: (way: Way) => () => Promise<unknown> },
  ): Promise<void> {
    const rates = new Map(ways.map((way) => [way, [] as number[]]));
    for (const way of ways) await closedLoop({ clients, seconds: WARM_S }, work(way));
    for (let round = 0; round < ROUNDS; round++) {
      for (const way of ways) {
        const before = cluster.processorMs();
        const { perSecond, p50Us, p99Us, failed } = await closedLoop({ clients, seconds }, work(way));
        const took = perEvent(before, cluster.processorMs(), perSecond * count * seconds * WARM_SHARE);
        rates.get(way)?.push(perSecond * count);
        print(
          `inject, ${what}, ${way.name}: ${Math.round(perSecond * count)} events/s, p50 ${p50Us / 1_000} ms, p99 ${p99Us / 1_000} ms, failed ${failed}, processor time of an event ${took}`,
        );
      }
    }
    const median = (way: Way): number => rates.get(way)?.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    const [beside, besideOnDisk] = [direct, onDisk].map((way) => (median(through) / median(way)).toFixed(2));
    print(`inject, ${what}: coordinator / direct = ${beside}, coordinator / direct on disk = ${besideOnDisk} (goal 0.5)`);
  }
}

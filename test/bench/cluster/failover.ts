import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterUnderLoad } from './cluster-under-load.ts';

const KEYS = 100_000;
const BATCH = 2_000;
const groupPath = '/api/v1/cluster/pipeline-groups';
/** Each key has its state: a sequence that has begun. */
const source = 'stream Pairs = Begin as a -> End as b where key == a.key .within(1d)\n    .emit(key: a.key)';
const CHECKPOINT_WAIT_MS = 12_000;
/** What the log of a worker says of a pipeline that goes on there. */
const RESTORED = 'Placement restored from its checkpoint';

interface Group {
  readonly deployments: readonly { readonly worker_id: string }[];
}

/** From the kill of a worker to the first output that its successor gives, of a pattern that had begun before. */
export async function measureFailover(first: ClusterUnderLoad, trials: number, print: (line: string) => void): Promise<void> {
  const took: number[] = [];
  for (let trial = 0; trial < trials; trial++) {
    const cluster = trial === 0 ? first : await ClusterUnderLoad.start(2);
    try {
      const { firstMs, steps } = await failover(cluster);
      took.push(firstMs);
      print(`failover ${trial + 1} with ${KEYS} keys: ${Math.round(firstMs)} ms (${steps})`);
    } finally {
      if (trial > 0) await cluster.close();
    }
  }
  took.sort((a, b) => a - b);
  const p50 = Math.round(took[Math.floor(took.length / 2)] ?? 0);
  print(
    `failover: SIGKILL to first output p50 ${p50} ms, max of ${took.length} ${Math.round(took.at(-1) ?? 0)} ms (goal p50 2 s, p99 5 s)`,
  );
}

interface Failover {
  readonly firstMs: number;
  /** What was done when, in ms since the kill. */
  readonly steps: string;
}

async function failover(cluster: ClusterUnderLoad): Promise<Failover> {
  const made = await cluster.ask({ method: 'POST', path: groupPath, body: { name: 'keys', pipelines: [{ name: 'p', source }] } });
  const worker = (made as Group).deployments[0]?.worker_id ?? '';
  for (let from = 0; from < KEYS; from += BATCH) {
    const events = Array.from({ length: BATCH }, (_, at) => event('Begin', from + at, beganAt(from + at)));
    await cluster.ask({ method: 'POST', path: `${groupPath}/keys/inject-batch`, body: { events } });
  }
  await sleep(CHECKPOINT_WAIT_MS);
  cluster.workers.get(worker)?.process.kill('SIGKILL');
  const killed = performance.now();
  const successor = [...cluster.workers].find(([id]) => id !== worker)?.[1].process;
  const sinceKill = (): number => Math.round(performance.now() - killed);
  const given = cluster
    .until({ method: 'GET', path: `${groupPath}/keys` }, (body) => (body as Group).deployments[0]?.worker_id !== worker)
    .then(sinceKill);
  const restored = successor?.until(({ stderr }) => stderr.includes(RESTORED)).then(sinceKill);
  for (let key = 0; ; key++) {
    const asked = { method: 'POST', path: `${groupPath}/keys/inject`, body: event('End', key, beganAt(KEYS)) } as const;
    const answer = (await cluster.ask(asked).catch(() => undefined)) as { output_events: unknown[] } | undefined;
    if (answer?.output_events.length === 1) {
      const firstMs = performance.now() - killed;
      const line = successor?.stderr.split('\n').find((text) => text.includes(RESTORED)) ?? '';
      const [fetch, load] = ['fetch', 'load'].map((step) => Math.round(1_000 * Number(line.match(`${step}_seconds=([0-9.]+)`)?.[1])));
      return {
        firstMs,
        steps: `given to another ${await given}, state fetched in ${fetch}, loaded in ${load}, restored ${await restored}`,
      };
    }
    if (performance.now() - killed > 60_000) throw new Error('no output for a minute');
    await sleep(5);
  }
}

/** No two at one time, nor at one distance: as times are, that are saved. */
function beganAt(key: number): number {
  return 1_700_000_000_000 + 10 * key + (key % 7);
}

function event(type: string, key: number, timestamp: number): object {
  return { event_type: type, fields: { key: `k${key}` }, timestamp };
}

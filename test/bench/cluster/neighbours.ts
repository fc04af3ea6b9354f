import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Machine } from '../../../chaos/process/cluster/machine.ts';
import { burningGroup } from '../../../chaos/process/cluster/programs.ts';
import { type ClusterUnderLoad, clusterKey } from './cluster-under-load.ts';

const groupPath = '/api/v1/cluster/pipeline-groups';
const source = 'stream High = Reading where value > 90 .emit(sensor: sensor, value: value)';
const ROUNDS = 4;
/** How long the load works, and rests, in turn, and how long the cluster needs until only the one or the other can be seen. */
const TURN_MS = 2_000;
const SETTLE_MS = 500;
const BATCH = 500;
/** Between the events that a worker has whose machine ails. */
const OWN_EVENT_MS = 20;

interface Load {
  readonly name: string;
  readonly group: object;
  readonly path: string;
  readonly body: object;
}

const events = Array.from({ length: BATCH }, (_, n) => ({ event_type: 'Reading', fields: { sensor: `s${n}`, value: n % 100 } }));
const loads: readonly Load[] = [
  {
    name: 'a group at full load on the same worker',
    group: { name: 'flooded', pipelines: [{ name: 'p', source, worker_affinity: 'w1' }] },
    path: 'flooded/inject-batch',
    body: { events },
  },
  {
    name: 'a pipeline that burns its budget, on either worker',
    group: burningGroup('burning'),
    path: 'burning/inject',
    body: { event_type: 'Burn', fields: {} },
  },
];

/**
 * What one group at full load costs the events of another: alone and beside it in turns, so that whatever else the machine does changes both
 * alike. The load is a process of its own, which stands still while it rests.
 */
export async function measureNeighbours(cluster: ClusterUnderLoad, print: (line: string) => void): Promise<void> {
  await cluster.ask({
    method: 'POST',
    path: groupPath,
    body: { name: 'victim', pipelines: [{ name: 'p', source, worker_affinity: 'w1' }] },
  });
  for (const load of loads) {
    await cluster.ask({ method: 'POST', path: groupPath, body: load.group });
    const [alone, beside]: [number[], number[]] = [[], []];
    const loading = await startLoad(cluster, load);
    let answers = 0;
    loading.on('message', () => answers++);
    for (let round = 0; round < ROUNDS; round++) {
      loading.kill('SIGSTOP');
      await sleep(SETTLE_MS);
      await live(cluster, alone);
      loading.kill('SIGCONT');
      await sleep(SETTLE_MS);
      await live(cluster, beside);
    }
    loading.kill('SIGKILL');
    const perSecond = Math.round(answers / ((ROUNDS * (TURN_MS + SETTLE_MS)) / 1_000));
    print(
      `neighbours, ${load.name}, ${perSecond} requests a second: ${shown(alone, beside, 0.5)}, ${shown(alone, beside, 0.99)} (goal 2 x)`,
    );
    await cluster.ask({ method: 'DELETE', path: `${groupPath}/${load.path.split('/')[0]}` });
  }
}

interface Ailment {
  readonly name: string;
  readonly begin: (machine: Machine) => Promise<void>;
}

const ailments: readonly Ailment[] = [
  { name: 'a worker whose disk takes 500 ms more for each sync', begin: (machine) => machine.slowSync(500) },
  { name: 'a worker whose clock is an hour ahead', begin: (machine) => machine.become({ shiftMs: 3_600_000 }) },
  { name: 'a worker whose clock is an hour behind', begin: (machine) => machine.become({ shiftMs: -3_600_000 }) },
];

/**
 * What a worker whose machine ails costs the events of a pipeline on another one, while it has work of its own: alone and beside it in
 * turns. The other pipeline counts in windows of the clock, whose middle the wrong one must not move.
 */
export async function measureAilingNeighbours(cluster: ClusterUnderLoad, print: (line: string) => void): Promise<void> {
  const counting = 'stream Counts = Reading .watermark(idle: 100ms) .window(1s) .aggregate(n: count()) .emit(n: n)';
  const groups = [
    { name: 'victim', pipelines: [{ name: 'p', source, worker_affinity: 'w1' }] },
    { name: 'ailing', pipelines: [{ name: 'p', source: counting, worker_affinity: 'w2' }] },
  ];
  for (const body of groups) await cluster.ask({ method: 'POST', path: groupPath, body });
  const { machine } = cluster.workers.get('w2') ?? {};
  if (machine === undefined) throw new Error('the workers have no machines that could ail');
  // What it keeps on its own disk is under way too.
  const path = `${groupPath}/ailing/inject`;
  const own = setInterval(() => {
    // What becomes of its own work is not what is asked here.
    void cluster.ask({ method: 'POST', path, body: { event_type: 'Reading', fields: { sensor: 'x', value: 1 } } }).catch(() => undefined);
  }, OWN_EVENT_MS);
  for (const { name, begin } of ailments) {
    const [alone, beside]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      await machine.mend();
      await sleep(SETTLE_MS);
      await live(cluster, alone);
      await begin(machine);
      await sleep(SETTLE_MS);
      await live(cluster, beside);
    }
    await machine.mend();
    print(`neighbours, ${name}: ${shown(alone, beside, 0.5)}, ${shown(alone, beside, 0.99)} (goal 2 x)`);
  }
  clearInterval(own);
}

async function startLoad(cluster: ClusterUnderLoad, { path, body }: Load): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('load-process.ts', import.meta.url));
  const args = ['--import', 'tsx', script, `${cluster.url}${groupPath}/${path}`, clusterKey];
  const loading = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'inherit', 'ipc'] });
  loading.stdin?.end(JSON.stringify(body));
  await once(loading, 'message');
  return loading;
}

async function live(cluster: ClusterUnderLoad, latencies: number[]): Promise<void> {
  const body = { event_type: 'Reading', fields: { sensor: 'own', value: 95 } };
  for (const end = performance.now() + TURN_MS; performance.now() < end; await sleep(10)) {
    const began = performance.now();
    await cluster.ask({ method: 'POST', path: `${groupPath}/victim/inject`, body });
    latencies.push(performance.now() - began);
  }
}

function shown(alone: readonly number[], beside: readonly number[], share: number): string {
  const [before, after] = [alone, beside].map((all) => all.toSorted((a, b) => a - b)[Math.floor(all.length * share)] ?? Number.NaN) as [
    number,
    number,
  ];
  return `p${share * 100} ${before.toFixed(1)} ms alone, ${after.toFixed(1)} ms beside = ${(after / before).toFixed(1)} x`;
}

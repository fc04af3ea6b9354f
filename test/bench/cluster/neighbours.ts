import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { burningGroup } from '../../../chaos/process/cluster/programs.ts';
import { type ClusterUnderLoad, clusterKey } from './cluster-under-load.ts';

const groupPath = '/api/v1/cluster/pipeline-groups';
const source = 'stream High = Reading where value > 90 .emit(sensor: sensor, value: value)';
const ROUNDS = 4;
/** How long the load works, and rests, in turn, and how long the cluster needs until only the one or the other can be seen. */
const TURN_MS = 2_000;
const SETTLE_MS = 500;
const BATCH = 500;

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

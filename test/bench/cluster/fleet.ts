import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterUnderLoad } from './cluster-under-load.ts';
import { SimulatedWorkers } from './simulated-workers.ts';

const WORKERS = 100;
const GROUPS = 20;
const PIPELINES_PER_GROUP = 100;
const QUIET_MS = 20_000;
const source = 'stream High = Reading where value > 90 .emit(sensor: sensor)';
const api = '/api/v1/cluster';

/** A hundred workers that only say what they have, two thousand pipelines, one coordinator: what heartbeats cost, how long placement takes. */
export async function measureFleet(cluster: ClusterUnderLoad, print: (line: string) => void): Promise<void> {
  const ask = (path: string, body: object): Promise<unknown> => cluster.ask({ method: 'POST', path: `${api}${path}`, body });
  const workers = await SimulatedWorkers.start(WORKERS, ask);
  try {
    const began = performance.now();
    for (let at = 0; at < GROUPS; at++) await makeGroup(cluster, `group${at}`);
    const made = performance.now();
    await allRunning(cluster);
    print(
      `fleet: ${GROUPS * PIPELINES_PER_GROUP} pipelines on ${WORKERS} workers: made in ${seconds(made - began)}, all run ${seconds(performance.now() - made)} later`,
    );
    const [before, since] = [cluster.processorMs()['coordinator'] ?? 0, performance.now()];
    await sleep(QUIET_MS);
    const share = ((cluster.processorMs()['coordinator'] ?? 0) - before) / (performance.now() - since);
    print(`fleet: heartbeats and looks of ${QUIET_MS / 1_000} quiet seconds: ${(100 * share).toFixed(1)} % of a core (goal 20 %)`);
    await cluster.restartCoordinator();
    const back = performance.now();
    await cluster.until({ method: 'GET', path: '/ready' }, () => true);
    const ready = performance.now();
    await makeGroup(cluster, 'behind');
    await allRunning(cluster);
    print(
      `fleet: after a kill of the leader: ready in ${seconds(ready - back)}, ${PIPELINES_PER_GROUP} new pipelines run ${seconds(performance.now() - ready)} later (goal for all 10 s)`,
    );
  } finally {
    workers.close();
  }
}

async function makeGroup(cluster: ClusterUnderLoad, name: string): Promise<void> {
  const pipelines = Array.from({ length: PIPELINES_PER_GROUP }, (_, at) => ({ name: `p${at}`, source }));
  await cluster.ask({ method: 'POST', path: `${api}/pipeline-groups?wait=false`, body: { name, pipelines } });
}

async function allRunning(cluster: ClusterUnderLoad): Promise<void> {
  await cluster.until({ method: 'GET', path: `${api}/pipeline-groups` }, (body) => {
    return (body as { status: string }[]).every(({ status }) => status === 'running');
  });
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

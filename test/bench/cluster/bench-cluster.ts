import { parseArgs } from 'node:util';
import { ClusterUnderLoad, type ClusterUnderLoadOptions } from './cluster-under-load.ts';
import { measureDrain } from './drain.ts';
import { measureFailover } from './failover.ts';
import { measureFleet } from './fleet.ts';
import { measureInject } from './inject.ts';
import { measureAilingNeighbours, measureNeighbours } from './neighbours.ts';

/**
 * `npm run bench:cluster -- [--only PART,..] [--seconds N] [--trials N]` measures a cluster of processes of the built command on this
 * machine: what injection through the coordinator costs, how long a kill and a drain take, what a fleet costs, what a group at full load costs another,
 * and what a worker with a slow disk or a wrong clock costs the others. Ratios of one run say something, figures of
 * different runs do not.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'inject,failover,drain,fleet,neighbours,ailing' },
    seconds: { type: 'string', default: '4' },
    trials: { type: 'string', default: '5' },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const parts: Readonly<Record<string, () => Promise<void>>> = {
  inject: () => withCluster(1, (cluster) => measureInject(cluster, Number(values.seconds), print), { onDisk: true }),
  failover: () => withCluster(2, (cluster) => measureFailover(cluster, Number(values.trials), print)),
  fleet: () => withCluster(0, (cluster) => measureFleet(cluster, print)),
  neighbours: () => withCluster(2, (cluster) => measureNeighbours(cluster, print)),
  ailing: () => withCluster(3, (cluster) => measureAilingNeighbours(cluster, print), { hasMachines: true }),
  drain: () => withCluster(2, (cluster) => measureDrain(cluster, print)),
};

for (const part of values.only.split(',')) await parts[part]?.();

async function withCluster(
  workers: number,
  measure: (cluster: ClusterUnderLoad) => Promise<void>,
  options: ClusterUnderLoadOptions = {},
): Promise<void> {
  const cluster = await ClusterUnderLoad.start(workers, options);
  try {
    await measure(cluster);
  } finally {
    await cluster.close();
  }
}

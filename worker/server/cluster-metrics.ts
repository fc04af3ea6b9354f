import type { MetricRegistry } from '../../shared/telemetry/metric-registry.ts';
import type { ClusterWorker } from '../placements/cluster-worker.ts';

/** From now on a scrape of the registry shows what runs here for the cluster, and for how long it may. */
export function collectClusterWorker(registry: MetricRegistry, { placements }: ClusterWorker): void {
  registry.collect('cep_worker_lease_remaining_seconds', () => {
    const ms = placements.leaseRemainingMs;
    return ms === null ? [] : [{ labels: [], value: ms / 1_000 }];
  });
  registry.collect('cep_worker_placements', () => {
    const counts = new Map<string, number>();
    for (const { status } of placements.list()) counts.set(status, (counts.get(status) ?? 0) + 1);
    return Array.from(counts, ([status, value]) => ({ labels: [status], value }));
  });
}

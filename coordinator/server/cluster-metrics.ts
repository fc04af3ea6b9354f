import type { MetricRegistry } from '../../shared/telemetry/metric-registry.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import { transitions } from '../state/transitions.ts';

/** From now on a scrape of the registry shows the state of the cluster as this member has it. */
export function collectCluster(registry: MetricRegistry, group: GroupMember): void {
  registry.collect('cep_cluster_workers', () => byStatus('worker', group.state.workers.values()));
  registry.collect('cep_cluster_deployments', () => byStatus('placement', group.state.placements.values()));
  registry.collect('cep_cluster_pipeline_groups', () => [{ labels: [], value: group.state.groups.size }]);
  registry.collect('cep_cluster_connectors', () => [{ labels: [], value: group.state.connectors.size }]);
}

/** Of every status that there can be, also when nothing has it. */
function byStatus(kind: 'worker' | 'placement', entities: Iterable<{ readonly status: string }>): { labels: string[]; value: number }[] {
  const counts = new Map(Object.keys(transitions[kind]).map((status) => [status, 0]));
  for (const { status } of entities) counts.set(status, (counts.get(status) ?? 0) + 1);
  return Array.from(counts, ([status, value]) => ({ labels: [status], value }));
}

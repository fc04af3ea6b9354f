import { CepError } from '../../shared/errors/error.ts';
import { type ClusterState, type Connector, type Group, type Placement, placementId, type Worker } from './cluster-state.ts';

/** All connectors, oldest first. */
export function connectorsOf({ connectors }: Pick<ClusterState, 'connectors'>): readonly Connector[] {
  return [...connectors.values()].sort((a, b) => a.createdIndex - b.createdIndex);
}

/** @throws CepError `connector_not_found` */
export function requireConnector({ connectors }: ClusterState, name: string): Connector {
  const connector = connectors.get(name);
  if (connector) return connector;
  throw new CepError('connector_not_found', `the cluster has no connector '${name}'`, {
    hint: 'GET /api/v1/cluster/connectors lists those there are',
  });
}

/** How much there is of everything, as `/health` says it. */
export function countsOf({ workers, groups, migrations }: ClusterState): {
  readonly workers: { readonly total: number; readonly ready: number; readonly unhealthy: number; readonly draining: number };
  readonly pipeline_groups: number;
  readonly active_migrations: number;
} {
  const statuses = Array.from(workers.values(), ({ status }) => status).filter((status) => status !== 'removed');
  const having = (wanted: string): number => statuses.filter((status) => status === wanted).length;
  return {
    workers: { total: statuses.length, ready: having('ready'), unhealthy: having('unhealthy'), draining: having('draining') },
    pipeline_groups: groups.size,
    active_migrations: [...migrations.values()].filter(({ status }) => status === 'started' || status === 'moved').length,
  };
}

/** All workers that were not removed, the oldest registration first. */
export function workersOf({ workers }: ClusterState): readonly Worker[] {
  const known = listed.get(workers);
  if (known !== undefined) return known;
  const all = [...workers.values()].filter(({ status }) => status !== 'removed').sort((a, b) => a.registeredIndex - b.registeredIndex);
  listed.set(workers, all);
  return all;
}

/** A table never changes, and each heartbeat asks for its list. */
const listed = new WeakMap<ClusterState['workers'], readonly Worker[]>();

/** @throws CepError `worker_not_found` */
export function requireWorker({ workers }: ClusterState, id: string): Worker {
  const worker = workers.get(id);
  if (worker && worker.status !== 'removed') return worker;
  throw new CepError('worker_not_found', `the cluster has no worker '${id}'`, {
    hint: 'GET /api/v1/cluster/workers lists those there are',
  });
}

/** What a worker is to run. */
export function placementsOn({ placements }: ClusterState, workerId: string): readonly Placement[] {
  return [...placements.values()].filter((placement) => placement.workerId === workerId);
}

/** The same of each worker that has something, in one go over all placements. */
export function placementsByWorker({ placements }: ClusterState): ReadonlyMap<string, readonly Placement[]> {
  const byWorker = new Map<string, Placement[]>();
  for (const placement of placements.values()) {
    if (placement.workerId === undefined) continue;
    const own = byWorker.get(placement.workerId);
    if (own === undefined) byWorker.set(placement.workerId, [placement]);
    else own.push(placement);
  }
  return byWorker;
}

/** All groups, the oldest first. */
export function groupsOf({ groups }: ClusterState): readonly Group[] {
  return [...groups.values()].sort((a, b) => a.createdIndex - b.createdIndex);
}

function groupsByName(groups: ClusterState['groups']): ReadonlyMap<string, Group> {
  const known = named.get(groups);
  if (known !== undefined) return known;
  const all = new Map<string, Group>();
  for (const group of groups.values()) if (!all.has(group.name)) all.set(group.name, group);
  named.set(groups, all);
  return all;
}

/** A table never changes, and each event that is injected asks for its group. */
const named = new WeakMap<ClusterState['groups'], ReadonlyMap<string, Group>>();

/** By its id, else by its name. */
export function groupNamed({ groups }: Pick<ClusterState, 'groups'>, idOrName: string): Group | undefined {
  return groups.get(idOrName) ?? groupsByName(groups).get(idOrName);
}

/** By its id, else by its name. @throws CepError `group_not_found` */
export function requireGroup(state: Pick<ClusterState, 'groups'>, idOrName: string): Group {
  const group = groupNamed(state, idOrName);
  if (group) return group;
  throw new CepError('group_not_found', `the cluster has no pipeline group '${idOrName}'`, {
    hint: 'GET /api/v1/cluster/pipeline-groups lists those there are',
  });
}

/** In the order of the pipelines of their group. */
export function placementsOf({ placements }: ClusterState, { id, pipelines }: Group): readonly Placement[] {
  return pipelines.flatMap(({ name, replicas }) =>
    Array.from({ length: replicas }, (_, replica) => placements.get(placementId(id, name, replica))).filter((one) => one !== undefined),
  );
}

/** There are events of a placement that no checkpoint has. */
export function isOwed({ ingressLogs }: Pick<ClusterState, 'ingressLogs'>, placementId: string): boolean {
  const log = ingressLogs.get(placementId);
  return log !== undefined && log.first <= log.last;
}

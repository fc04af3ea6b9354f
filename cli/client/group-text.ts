import type { GroupEntry, MigrationEntry } from './cluster-api.ts';
import { tableText } from './table.ts';

const groupColumns = [{ title: 'GROUP' }, { title: 'ID' }, { title: 'STATUS' }, { title: 'PIPELINES', isNumber: true }];
const deploymentColumns = [
  { title: 'PIPELINE' },
  { title: 'REPLICA', isNumber: true },
  { title: 'STATUS' },
  { title: 'WORKER' },
  { title: 'EPOCH', isNumber: true },
];
const migrationColumns = [
  { title: 'MIGRATION' },
  { title: 'GROUP' },
  { title: 'PIPELINE' },
  { title: 'FROM' },
  { title: 'TO' },
  { title: 'STATUS' },
];

/** A pipeline, and which of its replicas where it is not the first. */
export function replicaText({
  pipeline_name: pipeline,
  replica,
}: Pick<GroupEntry['deployments'][number], 'pipeline_name' | 'replica'>): string {
  return replica > 0 ? `${pipeline} (${replica})` : pipeline;
}

/** PIPELINES: how many run, of how many there are, replicas each for itself. */
export function groupsText(groups: readonly GroupEntry[]): string {
  const rows = groups.map(({ name, id, status, deployments }) => {
    const running = deployments.filter((deployment) => deployment.status === 'running').length;
    return [name, id, status, `${running} of ${deployments.length}`];
  });
  return tableText(groupColumns, rows);
}

export function deploymentsText({ deployments }: GroupEntry): string {
  const rows = deployments.map(({ pipeline_name: pipeline, replica, status, worker_id: worker, epoch, error }) => {
    return [pipeline, String(replica), error === undefined ? status : `${status}: ${error}`, worker ?? '-', String(epoch)];
  });
  return tableText(deploymentColumns, rows);
}

export function migrationsText(migrations: readonly MigrationEntry[]): string {
  const rows = migrations.map(({ id, group, pipeline, replica, source_worker: from, target_worker: to, status }) => [
    id,
    group,
    replicaText({ pipeline_name: pipeline, replica }),
    from,
    to,
    status,
  ]);
  return tableText(migrationColumns, rows);
}

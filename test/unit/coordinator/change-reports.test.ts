import { beforeEach, describe, expect, it } from 'vitest';
import { GroupMember } from '../../../coordinator/cluster/group-member.ts';
import { MemoryMember } from '../../../coordinator/cluster/memory-member.ts';
import { Replica } from '../../../coordinator/cluster/replica.ts';
import { WorkerLeases } from '../../../coordinator/liveness/worker-leases.ts';
import { ChangeReports } from '../../../coordinator/reconcile/change-reports.ts';
import { type Command, encodeProposal } from '../../../coordinator/state/commands.ts';
import { Redactor } from '../../../shared/security/redaction.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';

const timeoutMs = 15_000;
const incarnation = 'i1';
const worker = (id: string): Command[] => [
  { type: 'RegisterWorker', payload: { id, address: 'http://w', incarnation, version: '1', cpuCores: 2, pipelinesMax: 9 } },
  { type: 'SetWorkerStatus', payload: { id, incarnation, status: 'ready' } },
];
const pipelines = [{ name: 'p', source: '', replicas: 1 }];
const id = 'g_00000000000005:p:0';
/** Workers `a` and `b`, and a placement that `a` runs: indexes 1 to 7. */
const beginning: readonly Command[] = [
  ...worker('a'),
  ...worker('b'),
  { type: 'CreateGroup', payload: { name: 'g', pipelines, routes: [] } },
  { type: 'AssignPlacement', payload: { id, workerId: 'a' } },
  { type: 'ReportPlacement', payload: { id, epoch: 6, status: 'running' } },
];
/** To `b` and under index 9: indexes 8 to 10. */
const migration: readonly Command[] = [
  { type: 'StartMigration', payload: { placementId: id, targetWorker: 'b' } },
  { type: 'MovePlacement', payload: { migrationId: 'm_00000000000008' } },
  { type: 'EndMigration', payload: { migrationId: 'm_00000000000008', status: 'completed' } },
];

let lines: { level: string; message: string }[] = [];
let metrics: MetricRegistry;
let replica: Replica;
let group: GroupMember;
let leases: WorkerLeases;
let clockMs = 0;
let nowMs = 0;

beforeEach(() => {
  [clockMs, nowMs] = [0, 0];
  lines = [];
  metrics = new MetricRegistry();
  const write = (line: string): void => void lines.push(JSON.parse(line));
  const logger = createLogger({ level: 'info', format: 'json', timestamps: false, redactor: new Redactor(), write, metrics });
  replica = new Replica();
  const member = new MemoryMember({ nodeId: 1, url: 'http://127.0.0.1:1', state: replica });
  group = new GroupMember({ member, replica, clock: () => clockMs });
  leases = new WorkerLeases({ timeoutMs, now: () => nowMs });
  new ChangeReports({ group, leases, telemetry: new Telemetry(logger, metrics) });
});

async function propose(...commands: readonly Command[]): Promise<void> {
  for (const command of commands) await group.propose(command, undefined);
}

/** The values of all series of the three metrics that have counted something, by name and labels. */
const counted = async (): Promise<string[]> =>
  (await metrics.render()).split('\n').filter((line) => /^cep_cluster_(failovers|migration(s|_seconds_(sum|count))).* [^0]/.test(line));

describe('what becomes of a cluster', () => {
  it('is said: that a pipeline is deployed, and that it moves, with the time that it took', async () => {
    await propose(...beginning);
    expect(lines).toEqual([{ level: 'info', message: 'Pipeline deployed', placement: id, worker: 'a', epoch: 6 }]);
    lines = [];
    clockMs = 1_000;
    await propose(...migration.slice(0, 2));
    clockMs = 3_500;
    await propose(...migration.slice(2));
    const about = { level: 'info', migration: 'm_00000000000008', placement: id };
    expect(lines).toEqual([
      { ...about, message: 'Migration started', source: 'a', target: 'b' },
      { ...about, message: 'Migration ended', result: 'completed', seconds: 2.5 },
    ]);
    expect(await counted()).toEqual([
      'cep_cluster_migrations_total{result="completed"} 1',
      'cep_cluster_migration_seconds_sum 2.5',
      'cep_cluster_migration_seconds_count 1',
    ]);
  });

  it('is said of a worker that is lost, and of what another gets, at once or when one comes', async () => {
    await propose(...beginning);
    lines = [];
    nowMs = 20_000;
    await propose({ type: 'SetWorkerStatus', payload: { id: 'a', incarnation, status: 'unhealthy' } });
    await propose({ type: 'AssignPlacement', payload: { id, workerId: 'b' } });
    leases.died({ id: 'b', incarnation });
    await propose({ type: 'SetWorkerStatus', payload: { id: 'b', incarnation, status: 'unhealthy' } });
    await propose({ type: 'ReleasePlacement', payload: { id, epoch: 9 } }, ...worker('c'));
    await propose({ type: 'AssignPlacement', payload: { id, workerId: 'c' } });
    expect(lines).toEqual([
      { level: 'warn', message: 'Worker lost', worker: 'a', reason: 'nothing was heard of it for 20.0 s', placements: 1 },
      { level: 'info', message: 'Pipeline given to another worker', placement: id, worker: 'b' },
      { level: 'warn', message: 'Worker lost', worker: 'b', reason: 'its process has ended', placements: 1 },
      { level: 'info', message: 'Pipeline given to another worker', placement: id, worker: 'c' },
    ]);
    expect(await counted()).toEqual(['cep_cluster_failovers_total 2']);
  });

  it('is not called a failover when a worker that lives gives a pipeline back', async () => {
    await propose(...beginning);
    leases.heard({ id: 'a', incarnation }, 0);
    await propose({ type: 'ReleasePlacement', payload: { id, epoch: 6 } }, { type: 'AssignPlacement', payload: { id, workerId: 'b' } });
    expect(lines.map(({ message }) => message)).toEqual(['Pipeline deployed']);
    expect(await counted()).toEqual([]);
  });

  it('is said of events that went with a pipeline, and of none that a checkpoint has', async () => {
    const append = (events: number): Command => ({
      type: 'AppendIngress',
      payload: { batches: [{ placementId: id, receivedAtMs: 1, events: '[]', eventCount: events }] },
    });
    await propose(...beginning, append(3), append(4), append(5));
    const manifest = { bytes: 1, checksum: 1, locations: ['node-1'], received: { _external: 1 } };
    await propose({ type: 'CommitCheckpoint', payload: { placementId: id, epoch: 6, sequence: 1, ...manifest } });
    lines = [];
    await propose({ type: 'DeleteGroup', payload: { id: 'g_00000000000005' } });
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'Injected events given up with a pipeline that is gone: no checkpoint has them',
        ...{ placement: id, events: 9 },
      },
    ]);
    expect(await metrics.render()).toContain('cep_cluster_ingress_given_up_total 9\n');
  });

  it('is not said again of entries of an earlier leader', async () => {
    for (const [at, command] of [...beginning, ...migration].entries()) {
      replica.apply({ index: at + 1, term: 0, data: encodeProposal({ command, request: undefined, atMs: 0 }) });
    }
    expect([replica.state.migrations.size, lines, await counted()]).toEqual([1, [], []]);
  });
});

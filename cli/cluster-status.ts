import { Command, Option } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { type ClusterFacts, clusterProblems, startingPipelines } from './client/cluster-problems.ts';
import { groupsText } from './client/group-text.ts';
import type { ServerApi } from './client/server-api.ts';
import { factsText } from './client/table.ts';
import { askUntil, readWait, waitOption } from './client/wait-option.ts';
import { workersText } from './client/worker-text.ts';
import { thousands } from './counts.ts';
import { visible } from './event-text.ts';
import { wholeNumber } from './whole-number.ts';

export class ClusterStatusCommand extends ClusterCommand {
  static override paths = [['cluster', 'status']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Show what is wrong in a cluster, and then how it is',
    details:
      'Problems come first, each with what shows more. Ends with 1 when there is one. With --wait it is one too that a pipeline is with a worker ' +
      'but does not run yet.',
    examples: [
      ['On this machine', '$0 cluster status'],
      ['In a script', '$0 cluster status --json'],
      ['After a start: until two workers are ready, for a minute at most', '$0 cluster status --workers 2 --wait 60s'],
    ],
  });

  wait = waitOption();
  workersMin = Option.String('--workers', { description: 'How many workers must be ready: fewer are a problem' });

  protected override async ask(api: ServerApi): Promise<number> {
    const workersMin = this.workersMin === undefined ? 0 : wholeNumber('--workers', this.workersMin, 1);
    const waitMs = readWait(this.wait);
    const look = async () => {
      const facts = await factsOf(api);
      // Who waits wants to go on when everything runs.
      const unfinished = waitMs > 0 ? startingPipelines(facts.groups) : [];
      return { facts, problems: [...missingWorkers(facts, workersMin), ...clusterProblems(facts), ...unfinished] };
    };
    const { facts, problems } = await askUntil(waitMs, look, (seen) => seen.problems.length === 0);
    if (this.json) this.printJson({ problems, ...facts });
    else this.print(statusText(facts, problems));
    return problems.length === 0 ? 0 : 1;
  }
}

async function factsOf(api: ServerApi): Promise<ClusterFacts> {
  const cluster = new ClusterApi(api.http);
  const [health, raft, workers, groups, migrations] = await Promise.all([
    cluster.health(),
    api.raftStatus(),
    cluster.workers(),
    cluster.groups(),
    cluster.migrations(),
  ]);
  return { health, raft, workers, groups, migrations };
}

function missingWorkers({ health }: ClusterFacts, min: number): string[] {
  const { ready } = health.workers;
  return ready < min ? [`${ready} of ${min} workers are ready (cep workers)`] : [];
}

function statusText(facts: ClusterFacts, problems: readonly string[]): string {
  const { health, raft, workers, groups } = facts;
  const { ready, total } = health.workers;
  const reachable = raft.nodes.filter((node) => node.reachable).length;
  const leader = raft.leader_id === null ? 'no leader' : `member ${raft.leader_id} leads`;
  const named = problems.length === 0 ? '' : `Problems:\n${problems.map((problem) => `  ${visible(problem)}\n`).join('')}\n`;
  const told = factsText([
    ['Cluster', `${health.status}, version ${health.version}`],
    ['Coordinators', `${reachable} of ${raft.nodes.length} reachable, ${leader} in term ${thousands(raft.term)}`],
    ['Workers', `${ready} of ${total} ready`],
    ['Groups', `${thousands(health.pipeline_groups)}, ${thousands(health.active_migrations)} pipelines moving`],
  ]);
  const tables = [workers.length > 0 ? workersText(workers, Date.now()) : '', groups.length > 0 ? groupsText(groups) : ''];
  return named + told + tables.map((table) => (table === '' ? '' : `\n${table}`)).join('');
}

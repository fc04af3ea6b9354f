import { Command } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { factsText } from './client/table.ts';
import { tenths, thousands } from './counts.ts';

export class ScalingCommand extends ClusterCommand {
  static override paths = [['scaling']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Show whether a cluster has too few or too many workers',
    details: 'By the --scaling options of the coordinator; it starts and ends no workers itself.',
    examples: [['As data', '$0 scaling --json']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const answer = await new ClusterApi(api.http).scaling();
    if (this.json) {
      this.printJson(answer);
      return;
    }
    this.print(
      factsText([
        ['Action', answer.action.replace('_', ' ')],
        ['Reason', answer.reason],
        ['Workers', `${thousands(answer.current_workers)}, ${thousands(answer.target_workers)} wanted`],
        ['Pipelines', `${thousands(answer.total_pipelines)}, ${tenths(answer.avg_pipelines_per_worker)} a worker`],
      ]),
    );
  }
}

import { Command } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { migrationsText } from './client/group-text.ts';
import type { ServerApi } from './client/server-api.ts';

export class RebalanceCommand extends ClusterCommand {
  static override paths = [['rebalance']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Spread the pipelines of a cluster evenly over its workers',
    details: 'Pipelines that prefer a worker stay with it. The moves go on while the command has ended.',
    examples: [['After workers were added', '$0 rebalance']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const answer = await new ClusterApi(api.http).rebalance();
    if (this.json) this.printJson(answer);
    else this.print(answer.migrations.length === 0 ? 'Nothing to move.\n' : migrationsText(answer.migrations));
  }
}

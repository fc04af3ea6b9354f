import { Command, Option } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';

export class GroupsDeleteCommand extends ClusterCommand {
  static override paths = [['groups', 'delete']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Stop the pipelines of a group and forget it, with their state',
    details: 'GROUP is an id or a name.',
    examples: [['By name', '$0 groups delete fraud']],
  });

  group = Option.String({ name: 'GROUP', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const cluster = new ClusterApi(api.http);
    const { id, name } = await cluster.group(this.group);
    const answer = await cluster.remove(id);
    if (this.json) this.printJson(answer);
    else this.print(answer.torn_down ? `Deleted group ${name}\n` : `Group ${name} is being deleted: workers are still stopping it\n`);
  }
}

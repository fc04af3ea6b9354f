import { Command } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { groupsText } from './client/group-text.ts';
import type { ServerApi } from './client/server-api.ts';

export class GroupsCommand extends ClusterCommand {
  static override paths = [['groups']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'List the groups of pipelines of a cluster',
    details: 'Oldest first. PIPELINES counts each replica.',
    examples: [['As a table', '$0 groups']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const groups = await new ClusterApi(api.http).groups();
    if (this.json) this.printJson({ groups, total: groups.length });
    else this.print(groups.length === 0 ? 'No groups. cep groups deploy <FILE> adds one.\n' : groupsText(groups));
  }
}

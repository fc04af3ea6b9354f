import { Command, Option } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { deploymentsText } from './client/group-text.ts';
import type { ServerApi } from './client/server-api.ts';
import { factsText } from './client/table.ts';

export class GroupsShowCommand extends ClusterCommand {
  static override paths = [['groups', 'show']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Show a group: where each of its pipelines runs, and how it does',
    details: 'GROUP is an id or a name.',
    examples: [['By name', '$0 groups show fraud']],
  });

  group = Option.String({ name: 'GROUP', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const group = await new ClusterApi(api.http).group(this.group);
    if (this.json) {
      this.printJson(group);
      return;
    }
    const routes = group.routes.map(
      ({ from_pipeline: from, to_pipeline: to, event_types: types }) => `${from} -> ${to} (${types.join(', ')})`,
    );
    const facts = factsText([
      ['Group', group.name],
      ['Id', group.id],
      ['Status', group.status],
      ['Version', String(group.version)],
      ['Routes', routes.length === 0 ? 'none' : routes.join('; ')],
    ]);
    this.print(`${facts}\n${deploymentsText(group)}`);
  }
}

import { Command, Option } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';

export class MigrateCommand extends ClusterCommand {
  static override paths = [['migrate']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Move a pipeline of a group to another worker, with its state',
    details: 'GROUP is an id or a name. Without --to it goes where a new pipeline would. It goes on while the command has ended.',
    examples: [
      ['To whoever has least', '$0 migrate fraud scoring'],
      ['To a certain worker', '$0 migrate fraud scoring --to worker-2'],
    ],
  });

  to = Option.String('--to', { description: 'The worker that gets it' });
  group = Option.String({ name: 'GROUP', required: true });
  pipeline = Option.String({ name: 'PIPELINE', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const migration = await new ClusterApi(api.http).migrate(this.group, this.pipeline, this.to);
    if (this.json) this.printJson(migration);
    else
      this.print(
        `Moving ${this.pipeline} from ${migration.source_worker} to ${migration.target_worker} (${migration.id}): ${migration.status}\n`,
      );
  }
}

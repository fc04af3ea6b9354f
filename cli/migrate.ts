import { Command, Option } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { replicaText } from './client/group-text.ts';
import type { ServerApi } from './client/server-api.ts';
import { wholeNumber } from './whole-number.ts';

export class MigrateCommand extends ClusterCommand {
  static override paths = [['migrate']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Move a pipeline of a group to another worker, with its state',
    details:
      'GROUP is an id or a name. Without --to it goes where a new pipeline would. Of a pipeline with replicas one moves, that of --replica. It ' +
      'goes on while the command has ended.',
    examples: [
      ['To whoever has least', '$0 migrate fraud scoring'],
      ['To a certain worker', '$0 migrate fraud scoring --to worker-2'],
      ['The second of its replicas', '$0 migrate fraud scoring --replica 1'],
    ],
  });

  to = Option.String('--to', { description: 'The worker that gets it' });
  replica = Option.String('--replica', { description: 'Which of its replicas moves (0, the first)' });
  group = Option.String({ name: 'GROUP', required: true });
  pipeline = Option.String({ name: 'PIPELINE', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { group, pipeline, to } = this;
    const replica = this.replica === undefined ? undefined : wholeNumber('--replica', this.replica, 0);
    const migration = await new ClusterApi(api.http).migrate({ group, pipeline, replica, to });
    const { id, source_worker: source, target_worker: target, status } = migration;
    const moving = replicaText({ pipeline_name: pipeline, replica: replica ?? 0 });
    if (this.json) this.printJson(migration);
    else this.print(`Moving ${moving} from ${source} to ${target} (${id}): ${status}\n`);
  }
}

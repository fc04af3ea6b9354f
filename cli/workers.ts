import { Command } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { workersText } from './client/worker-text.ts';

export class WorkersCommand extends ClusterCommand {
  static override paths = [['workers']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'List the workers of a cluster',
    details: 'In the order in which they registered. HEARD is how long ago the last heartbeat came.',
    examples: [
      ['As a table', '$0 workers'],
      ['As data', '$0 workers --json'],
    ],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const workers = await new ClusterApi(api.http).workers();
    if (this.json) this.printJson({ workers, total: workers.length });
    else if (workers.length === 0) this.print('No workers. cep server --coordinator <URL> adds one.\n');
    else this.print(workersText(workers, Date.now()));
  }
}

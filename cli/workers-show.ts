import { Command, Option } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { factsText } from './client/table.ts';
import { heardText, pipelinesText } from './client/worker-text.ts';
import { thousands } from './counts.ts';
import { visible } from './event-text.ts';

export class WorkersShowCommand extends ClusterCommand {
  static override paths = [['workers', 'show']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Show a worker of a cluster and what it runs',
    details: 'What it runs is named by group, pipeline and replica.',
    examples: [['One worker', '$0 workers show worker-1']],
  });

  workerId = Option.String({ name: 'ID', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const worker = await new ClusterApi(api.http).worker(this.workerId);
    if (this.json) {
      this.printJson(worker);
      return;
    }
    this.print(
      factsText([
        ['Worker', `${worker.id} at ${worker.address}`],
        ['Status', worker.status],
        ['Version', worker.version],
        ['Cores', worker.cpu_cores === 0 ? 'not told' : thousands(worker.cpu_cores)],
        ['Registered', new Date(worker.registered_at).toISOString()],
        ['Last heartbeat', heardText(worker, Date.now())],
        ['Events', `${thousands(worker.events_processed)}, ${thousands(Math.round(worker.events_per_second))} per second`],
        ['Pipelines', pipelinesText(worker)],
      ]) + worker.pipelines.map((pipeline) => `  ${visible(pipeline)}\n`).join(''),
    );
  }
}

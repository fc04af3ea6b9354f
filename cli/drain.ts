import { Command, Option } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { counted } from './counts.ts';
import { wholeNumber } from './whole-number.ts';

export class DrainCommand extends ClusterCommand {
  static override paths = [['drain']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Move the pipelines of a worker to others, with their state',
    details:
      'The worker gets no new ones from now on. Ends with 4 when some could not be moved in time: they stay where they are, the worker ' +
      'keeps draining, and the command can be given again. A drained worker can be ended without loss.',
    examples: [
      ['Before maintenance', '$0 drain worker-1'],
      ['With more time', '$0 drain worker-1 --wait 120 --timeout 130s'],
    ],
  });

  wait = Option.String('--wait', { description: 'How many seconds the coordinator waits for the moves, at most 600 (20)' });
  workerId = Option.String({ name: 'WORKER', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const wait = this.wait === undefined ? undefined : wholeNumber('--wait', this.wait, 0);
    const answer = await new ClusterApi(api.http).drain(this.workerId, wait);
    if (this.json) this.printJson(answer);
    else this.print(`Drained ${answer.worker_id}: ${counted(answer.pipelines_migrated, 'pipeline')} moved\n`);
  }
}

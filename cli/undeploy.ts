import { Command, Option } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { visible } from './event-text.ts';

export class UndeployCommand extends ClientCommand {
  static override paths = [['undeploy']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Remove a pipeline and its state from a server',
    details: 'PIPELINE is an id or a name. Nobody is asked, and nothing brings the state back.',
    examples: [['By name', '$0 undeploy rules']],
  });

  pipeline = Option.String({ name: 'PIPELINE', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id, name } = await api.pipeline(this.pipeline);
    const answer = await api.remove(id);
    if (this.json) this.printJson({ ...answer, id, name });
    else this.print(`Removed ${visible(name)}, id ${id}\n`);
  }
}

import { Command } from 'clipanion';
import { OnePipelineCommand } from './client/pipeline-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { visible } from './event-text.ts';

export class StopCommand extends OnePipelineCommand {
  static override paths = [['stop']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Stop a pipeline and keep its state',
    details:
      'What it has accepted is finished first. It stays stopped, over restarts of the server too, until start. PIPELINE is an id or a name.',
    examples: [['By name', '$0 stop rules']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id } = await api.pipeline(this.pipeline);
    const entry = await api.stop(id);
    if (this.json) this.printJson(entry);
    else this.print(`Stopped ${visible(entry.name)}, id ${id}\n`);
  }
}

import { Command, Option } from 'clipanion';
import { OnePipelineCommand } from './client/pipeline-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { visible } from './event-text.ts';

export class AlertsWatchCommand extends OnePipelineCommand {
  static override paths = [['alerts', 'watch']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Keep the alerts of a pipeline with the events that made them, from now on',
    details:
      'The engine is changed between two events and keeps all state; its alerts stay the same. It takes fewer events a second while it ' +
      'is watched, so look at what you wanted to see and end it with --off. Holds over reloads and restarts. A tenant may watch 20 ' +
      'pipelines at a time. PIPELINE is an id or a name.',
    examples: [
      ['Begin', '$0 alerts watch rules'],
      ['End', '$0 alerts watch rules --off'],
    ],
  });

  isOff = Option.Boolean('--off', false, { description: 'Keep them no longer' });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id } = await api.pipeline(this.pipeline);
    const entry = await api.watch(id, !this.isOff);
    if (this.json) this.printJson(entry);
    else if (entry.watched) this.print(`Watching ${visible(entry.name)}: alerts from now on are kept with the events that made them\n`);
    else this.print(`Watching ${visible(entry.name)} no longer\n`);
  }
}

import { Command, Option } from 'clipanion';
import { alertText } from './client/alert-text.ts';
import { OnePipelineCommand } from './client/pipeline-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { colorsFor } from './colors.ts';
import { wholeNumber } from './whole-number.ts';

export class AlertsShowCommand extends OnePipelineCommand {
  static override paths = [['alerts', 'show']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Show an alert with the events that made it',
    details:
      'The events of a match stand under their steps, those of a join under its sides; of a window those of its key and time are shown. ' +
      'At most 64: of more the first and the last. They are kept for pipelines that are watched: deployed with --watch, or after `cep ' +
      'alerts watch`. PIPELINE is an id or a name, ALERT the number that `cep alerts` shows.',
    examples: [['The third alert of a pipeline', '$0 alerts show rules 3']],
  });

  alert = Option.String({ name: 'ALERT', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const sequence = wholeNumber('ALERT', this.alert, 1);
    const { id } = await api.pipeline(this.pipeline);
    const alert = await api.alert(id, sequence);
    if (this.json) this.printJson(alert);
    else this.print(alertText(alert, colorsFor(this.context.stdout, this.context.env)));
  }
}

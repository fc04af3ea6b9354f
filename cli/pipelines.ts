import { Command } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { tableText, uptimeText } from './client/table.ts';
import { thousands } from './counts.ts';

const columns = [
  { title: 'NAME' },
  { title: 'ID' },
  { title: 'STATUS' },
  { title: 'VERSION', isNumber: true },
  { title: 'EVENTS', isNumber: true },
  { title: 'ALERTS', isNumber: true },
  { title: 'UP', isNumber: true },
];

export class PipelinesCommand extends ClientCommand {
  static override paths = [['pipelines']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'List the pipelines of a server',
    details: 'Oldest first. What a pipeline says of a failure is shown by pipeline.',
    examples: [
      ['As a table', '$0 pipelines'],
      ['As data', '$0 pipelines --json'],
    ],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const pipelines = await api.pipelines();
    if (this.json) this.printJson({ pipelines, total: pipelines.length });
    else if (pipelines.length === 0) this.print('No pipelines. cep deploy <FILE> adds one.\n');
    else {
      const rows = pipelines.map(
        ({ name, id, status, version, events_processed: events, alerts_generated: alerts, uptime_secs: uptime }) => {
          return [name, id, status, String(version), thousands(events), thousands(alerts), uptimeText(uptime)];
        },
      );
      this.print(tableText(columns, rows));
    }
  }
}

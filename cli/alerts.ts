import { Command, Option } from 'clipanion';
import { fromJson } from '../shared/events/text.ts';
import { limits } from '../shared/limits.ts';
import { ClientCommand } from './client/client-command.ts';
import type { AlertAnswer, ServerApi } from './client/server-api.ts';
import { tableText } from './client/table.ts';
import { clockText, literalText } from './event-text.ts';
import { wholeNumberIn } from './whole-number.ts';

const columns = [{ title: 'TIME' }, { title: 'PIPELINE' }, { title: 'ALERT', isNumber: true }, { title: 'TYPE' }, { title: 'FIELDS' }];

export class AlertsCommand extends ClientCommand {
  static override paths = [['alerts']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'List the newest alerts, of all pipelines or of one',
    details:
      'The newest first. The server keeps the last 1,000 of each pipeline until it restarts. ALERT is the number by which `cep alerts ' +
      'show` finds one. PIPELINE is an id or a name.',
    examples: [
      ['Of all pipelines', '$0 alerts'],
      ['The last three of one', '$0 alerts rules -n 3'],
    ],
  });

  limit = Option.String('-n,--limit', '20', { description: 'How many to show at most, up to 1000 (20)' });
  pipeline = Option.String({ name: 'PIPELINE', required: false });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const limit = wholeNumberIn('--limit', this.limit, [1, limits.pageEntriesMax]);
    const id = this.pipeline === undefined ? undefined : (await api.pipeline(this.pipeline)).id;
    const alerts = await api.alerts(limit, id);
    if (this.json) this.printJson({ alerts });
    else this.print(alerts.length === 0 ? 'No alerts.\n' : tableText(columns, alerts.map(rowOf)));
  }
}

function rowOf({ timestamp, pipeline, sequence, event_type: type, data }: AlertAnswer): string[] {
  const fields = Object.entries(data).map(([name, value]) => `${name}: ${literalText(fromJson(value))}`);
  return [clockText(timestamp), pipeline, String(sequence), type, fields.join(', ')];
}

import { Command } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { tableText } from './client/table.ts';
import { thousands } from './counts.ts';

const columns = [
  { title: 'NAME' },
  { title: 'ID' },
  { title: 'PLAN' },
  { title: 'PIPELINES', isNumber: true },
  { title: 'EVENTS/S', isNumber: true },
  { title: 'KEY DIGEST' },
  { title: 'CREATED' },
];

export class TenantsCommand extends ClientCommand {
  static override paths = [['tenants']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'List the tenants of a server with their quotas',
    details: 'Needs the key of the server itself. Oldest first; of the keys their digests are shown.',
    examples: [['As a table', '$0 tenants']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const tenants = await api.tenants();
    if (this.json) {
      this.printJson({ tenants, total: tenants.length });
      return;
    }
    const rows = tenants.map(({ name, id, plan, quota, key_digest: digest, created_at: created }) => {
      const { max_pipelines: pipelines, max_events_per_second: events } = quota;
      return [name, id, plan, thousands(pipelines), thousands(events), digest ?? '-', new Date(created).toISOString()];
    });
    this.print(tableText(columns, rows));
  }
}

import { Command } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi, UsageAnswer } from './client/server-api.ts';
import { factsText } from './client/table.ts';
import { thousands } from './counts.ts';

export class UsageCommand extends ClientCommand {
  static override paths = [['usage']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Show what a tenant has used, and its quota',
    details: 'The tenant is the one of the key that is sent.',
    examples: [['Of the tenant of a key', '$0 usage --api-key-file key']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const usage = await api.usage();
    if (this.json) return this.printJson(usage) as undefined;
    const { quota } = usage;
    this.print(
      factsText([
        ['Tenant', `${usage.tenant_name} (${usage.tenant_id})`],
        ['Pipelines', `${thousands(usage.active_pipelines)} of ${thousands(quota.max_pipelines)}`],
        ['Events', `${thousands(usage.events_processed)}, at most ${thousands(quota.max_events_per_second)} per second`],
        ['Rejected', rejected(usage)],
        ['Alerts', thousands(usage.output_events_emitted)],
        ['Streams', `at most ${thousands(quota.max_streams_per_pipeline)} in a pipeline`],
        ['State', `at most ${thousands(quota.max_state_bytes)} bytes in all`],
      ]),
    );
  }
}

function rejected({ events_rejected: events, requests_rejected: requests }: UsageAnswer): string {
  return requests > 0 ? `${thousands(events)}, and ${thousands(requests)} requests unread` : thousands(events);
}

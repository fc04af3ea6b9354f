import { Command, Option } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi, TenantRequest } from './client/server-api.ts';
import { visible } from './event-text.ts';
import { wholeNumber } from './whole-number.ts';

export class TenantCreateCommand extends ClientCommand {
  static override paths = [['tenant', 'create']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Make a tenant with a key, pipelines and quotas of its own',
    details: 'Needs the key of the server itself. The key of the tenant is shown this once: the server keeps a digest only.',
    examples: [
      ['With the quotas of a plan', '$0 tenant create acme --plan pro'],
      ['With another quota', '$0 tenant create acme --max-pipelines 3'],
    ],
  });

  plan = Option.String('--plan', { description: 'free, default, pro or enterprise (default)' });
  maxPipelines = Option.String('--max-pipelines', { description: 'How many pipelines it may have' });
  maxEventsPerSecond = Option.String('--max-events-per-second', { description: 'How many events it may send' });
  maxStreamsPerPipeline = Option.String('--max-streams-per-pipeline', { description: 'How many streams a program of it may have' });
  maxStateBytes = Option.String('--max-state-bytes', { description: 'How much state its pipelines may hold together' });
  name = Option.String({ name: 'NAME', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const quota = this.#quota();
    const { name, plan } = this;
    const tenant = await api.createTenant({ name, ...(plan === undefined ? {} : { plan }), ...(quota === undefined ? {} : { quota }) });
    if (this.json) this.printJson(tenant);
    else this.print(`Made tenant ${visible(tenant.name)}: id ${tenant.id}, plan ${tenant.plan}\nKey, shown this once: ${tenant.api_key}\n`);
  }

  #quota(): TenantRequest['quota'] {
    const given = [
      ['max_pipelines', '--max-pipelines', this.maxPipelines],
      ['max_events_per_second', '--max-events-per-second', this.maxEventsPerSecond],
      ['max_streams_per_pipeline', '--max-streams-per-pipeline', this.maxStreamsPerPipeline],
      ['max_state_bytes', '--max-state-bytes', this.maxStateBytes],
    ] as const;
    const members = given.flatMap(([member, option, text]) =>
      text === undefined ? [] : [[member, wholeNumber(option, text, 0)] as const],
    );
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }
}

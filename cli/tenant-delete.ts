import { Command, Option } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { visible } from './event-text.ts';

export class TenantDeleteCommand extends ClientCommand {
  static override paths = [['tenant', 'delete']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Remove a tenant, its key and its pipelines',
    details: 'Needs the key of the server itself. TENANT is an id or a name. Nobody is asked, and nothing brings the state back.',
    examples: [['By name', '$0 tenant delete acme']],
  });

  tenant = Option.String({ name: 'TENANT', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const { id, name } = await api.tenant(this.tenant);
    const answer = await api.removeTenant(id);
    if (this.json) this.printJson({ ...answer, id, name });
    else this.print(`Removed tenant ${visible(name)}, id ${id}\n`);
  }
}

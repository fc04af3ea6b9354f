import { Command } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { factsText } from './client/table.ts';
import { thousands } from './counts.ts';

export class BackupCommand extends ClientCommand {
  static override paths = [['backup']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Copy the state directory of a server while it runs',
    details:
      'Needs the key of the server itself. The copy lies on the machine of the server, in its state directory: bring it elsewhere. Of copies that stay there the server keeps the newest (--keep-backups).',
    examples: [['Of the server on this machine', '$0 backup --api-key-file cep-key']],
  });

  /** The server says nothing while it copies, and a copy takes as long as its disk. */
  protected override get timeoutUnset(): string {
    return '30m';
  }

  protected override async ask(api: ServerApi): Promise<undefined> {
    const backup = await api.backUp();
    if (this.json) return this.printJson(backup) as undefined;
    const { path, size_bytes: bytes, removed } = backup;
    this.print(
      factsText([
        ['Copy', path],
        ['Size', `${thousands(bytes)} bytes`],
        ...removed.map((old) => ['Removed', old] as const),
        ['To restore', 'stop the server, put the copy in the place of its state directory, start it'],
      ]),
    );
  }
}

import { Command, Option } from 'clipanion';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { wholeNumber } from './whole-number.ts';

export class RaftTransferCommand extends ClusterCommand {
  static override paths = [['raft', 'transfer']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Let another member lead a group of coordinators',
    details: 'Without a number the member that has most entries. A leader that is ended with SIGTERM does this by itself.',
    examples: [
      ['To whoever is furthest', '$0 raft transfer'],
      ['To the member with the number 3', '$0 raft transfer 3'],
    ],
  });

  memberId = Option.String({ name: 'ID', required: false });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const to = this.memberId === undefined ? undefined : wholeNumber('ID', this.memberId, 1);
    const answer = await api.transferLeadership(to);
    if (this.json) this.printJson(answer);
    else this.print(`Member ${answer.leader_id} leads\n`);
  }
}

import { Command, Option } from 'clipanion';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { wholeNumber } from './whole-number.ts';

export class RaftAddCommand extends ClusterCommand {
  static override paths = [['raft', 'add']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Add a member to a group of coordinators',
    details:
      'The new member receives everything and does not vote before it is promoted. Its number is one that no member has ever had; ' +
      'start it with that number and the --raft-peers of the others.',
    examples: [['A fourth member', '$0 raft add 4 http://10.0.0.4:9100']],
  });

  memberId = Option.String({ name: 'ID', required: true });
  url = Option.String({ name: 'URL', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const member = await api.addMember(wholeNumber('ID', this.memberId, 1), this.url);
    if (this.json) this.printJson(member);
    else if (member.role !== 'learner') this.print(`Member ${member.id} at ${member.url} is there already, and votes\n`);
    else this.print(`Added member ${member.id} at ${member.url}. It does not vote yet: cep raft promote ${member.id}\n`);
  }
}

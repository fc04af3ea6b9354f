import { Command, Option } from 'clipanion';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { uncopiedWarning } from './client/uncopied-checkpoints.ts';
import { wholeNumber } from './whole-number.ts';

export class RaftPromoteCommand extends ClusterCommand {
  static override paths = [['raft', 'promote']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Let a member that was added vote',
    details: 'It must have nearly all entries: at most 1,000 fewer than the leader.',
    examples: [['The member with the number 4', '$0 raft promote 4']],
  });

  memberId = Option.String({ name: 'ID', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const member = await api.promoteMember(wholeNumber('ID', this.memberId, 1));
    if (this.json) this.printJson(member);
    else this.print(`Member ${member.id} votes from now on\n`);
    if (member.uncopied) this.note(uncopiedWarning(member.uncopied, 'the members that vote now'));
  }
}

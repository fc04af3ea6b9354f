import { Command, Option } from 'clipanion';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { uncopiedWarning } from './client/uncopied-checkpoints.ts';
import { wholeNumber } from './whole-number.ts';

export class RaftRemoveCommand extends ClusterCommand {
  static override paths = [['raft', 'remove']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Remove a member from a group of coordinators',
    details:
      'Its number is never used again. Refused for the leader, and when too few of the others can be reached for the group to go on.',
    examples: [['A machine that does not come back', '$0 raft remove 2']],
  });

  memberId = Option.String({ name: 'ID', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const id = wholeNumber('ID', this.memberId, 1);
    const answer = await api.removeMember(id);
    if (this.json) this.printJson({ id, ...answer });
    else this.print(`Removed member ${id}\n`);
    if (answer.uncopied) this.note(uncopiedWarning(answer.uncopied, 'the members that are left'));
  }
}

import { Command, Option } from 'clipanion';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
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
    this.#warnOfUncopied(answer.uncopied ?? []);
  }

  /** Whoever removes the next member takes the last copy away. */
  #warnOfUncopied(placements: readonly string[]): void {
    if (placements.length === 0) return;
    this.note(
      `warning: the newest checkpoints of ${placements.join(', ')} are on too few of the members that are left, and cannot be copied now: ` +
        'another member may be the last that has them, so keep the data directories of all, removed ones too, and bring back those that are down',
    );
  }
}

import { Command } from 'clipanion';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { factsText, tableText } from './client/table.ts';
import { thousands } from './counts.ts';

const columns = [
  { title: 'MEMBER', isNumber: true },
  { title: 'ROLE' },
  { title: 'REACHABLE' },
  { title: 'LAG', isNumber: true },
  { title: 'URL' },
];

export class RaftStatusCommand extends ClusterCommand {
  static override paths = [['raft', 'status']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Show who leads a group of coordinators, and how far each member is',
    details: 'As the asked member knows it. How far the others are (LAG, in entries) only the leader knows.',
    examples: [
      ['On this machine', '$0 raft status'],
      ['Of another member, as data', '$0 raft status --coordinator http://10.0.0.2:9100 --json'],
    ],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const status = await api.raftStatus();
    if (this.json) {
      this.printJson(status);
      return;
    }
    const { enabled, node_id: id, role, leader_id: leader, leader_url: leaderUrl, term, nodes, recovering } = status;
    this.print(
      factsText([
        ['Member', `${id}, ${role}${recovering ? ', recovering what its disk has lost' : ''}${enabled ? '' : ', on its own'}`],
        ['Leader', leader === null ? 'none known' : `${leader}${leaderUrl === null ? '' : ` at ${leaderUrl}`}`],
        ['Term', thousands(term)],
        [
          'Entries',
          `${thousands(status.last_index)}, ${thousands(status.commit_index)} agreed on, ${thousands(status.applied_index)} applied here`,
        ],
      ]),
    );
    const rows = nodes.map((node) => {
      const lag = node.lag === null ? '-' : thousands(node.lag);
      return [String(node.id), node.role, node.reachable ? 'yes' : 'no', lag, node.url];
    });
    this.print(`\n${tableText(columns, rows)}`);
  }
}

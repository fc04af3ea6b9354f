import { Command } from 'clipanion';
import { ClusterCommand } from './client/cluster-command.ts';
import type { RaftStatusAnswer, ServerApi } from './client/server-api.ts';
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
    const {
      enabled,
      node_id: id,
      role,
      leader_id: leader,
      leader_url: leaderUrl,
      term,
      nodes,
      recovering,
      removed,
      log_format: format,
    } = status;
    this.print(
      factsText([
        [
          'Member',
          `${id}, ${role}${recovering ? ', recovering what its disk has lost' : ''}${removed === true ? ', removed from the group' : ''}${enabled ? '' : ', on its own'}`,
        ],
        ['Leader', leader === null ? 'none known' : `${leader}${leaderUrl === null ? '' : ` at ${leaderUrl}`}`],
        ['Term', thousands(term)],
        [
          'Entries',
          `${thousands(status.last_index)}, ${thousands(status.commit_index)} agreed on, ${thousands(status.applied_index)} applied here`,
        ],
        ...(format === undefined ? [] : [['Log format', formatText(format, nodes)] as const]),
      ]),
    );
    const rows = nodes.map((node) => {
      const lag = node.lag === null ? '-' : thousands(node.lag);
      return [String(node.id), node.role, node.reachable ? 'yes' : 'no', lag, node.url];
    });
    this.print(`\n${tableText(columns, rows)}`);
  }
}

/** With the members that hold a later one up, if there are any. */
function formatText(format: number, nodes: RaftStatusAnswer['nodes']): string {
  const latest = Math.max(format, ...nodes.map(({ log_format_max: max = 0 }) => max));
  const behind = nodes.filter(({ log_format_max: max }) => max === undefined || max < latest).map(({ id }) => id);
  return latest === format ? String(format) : `${format}; ${latest} once all members take it (not yet: ${behind.join(', ')})`;
}

import { Command, Option } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { type ClusterLook, clusterTopHead, clusterTopText } from './client/cluster-top-table.ts';
import type { ServerApi } from './client/server-api.ts';
import { watch } from './client/watching.ts';

export class ClusterTopCommand extends ClusterCommand {
  static override paths = [['cluster', 'top']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Watch the workers of a cluster and what they run',
    details:
      'Looks every two seconds and shows what came in between, as the leader has heard it: each worker, and below it its pipelines. On a ' +
      'terminal a table to scroll, which q ends; elsewhere, and with --count, one table after the other. A coordinator that is away is asked ' +
      'again. Runs until Ctrl+C, which ends it with 0; ends with 4 when no coordinator can be reached at first.',
    examples: [
      ['On this machine', '$0 cluster top'],
      ['The rates of a minute, once', '$0 cluster top --interval 1m --count 1'],
    ],
  });

  interval = Option.String('--interval', '2s', { description: 'Time between two looks, seconds or a duration (2s)' });
  count = Option.String('-n,--count', { description: 'End after so many tables' });

  protected override ask(api: ServerApi): Promise<number> {
    const { interval, count, json: isJson, context } = this;
    const cluster = new ClusterApi(api.http);
    const look = async (): Promise<ClusterLook> => {
      const [workers, groups, metrics] = await Promise.all([cluster.workers(), cluster.groups(), cluster.metrics()]);
      return { time: Date.now(), workers, groups, metrics };
    };
    const text = (now: ClusterLook, before: ClusterLook) => ({ head: clusterTopHead(now), table: clusterTopText(now, before) });
    return watch({ title: 'Workers', look, text }, { interval, count, isJson, context });
  }
}

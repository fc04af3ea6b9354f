import { Command } from 'clipanion';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { tableText } from './client/table.ts';

const placementColumns = [{ title: 'GROUP' }, { title: 'PIPELINE' }, { title: 'REPLICA', isNumber: true }, { title: 'WORKER' }];
const routeColumns = [{ title: 'FROM' }, { title: 'AT' }, { title: 'TO' }, { title: 'AT' }, { title: 'EVENTS' }];

export class TopologyCommand extends ClusterCommand {
  static override paths = [['topology']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Show which pipeline runs where, and what goes from one to another',
    details: 'A pipeline without a worker waits for one.',
    examples: [['As data', '$0 topology --json']],
  });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const topology = await new ClusterApi(api.http).topology();
    if (this.json) {
      this.printJson(topology);
      return;
    }
    const placements = topology.groups.flatMap(({ name, pipelines }) =>
      pipelines.map((pipeline) => [name, pipeline.name, String(pipeline.replica), pipeline.worker_id ?? '-']),
    );
    const routes = topology.routes.map((route) => {
      return [
        route.source_pipeline,
        route.source_worker ?? '-',
        route.target_pipeline,
        route.target_worker ?? '-',
        route.event_types.join(', '),
      ];
    });
    if (placements.length === 0) this.print('No pipelines. cep groups deploy <FILE> adds some.\n');
    else this.print(tableText(placementColumns, placements) + (routes.length === 0 ? '' : `\n${tableText(routeColumns, routes)}`));
    const { routes_omitted: omitted = 0 } = topology;
    if (omitted > 0) this.print(`.. and ${omitted} more routes between workers\n`);
  }
}

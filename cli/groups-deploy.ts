import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { deploymentsText } from './client/group-text.ts';
import type { ServerApi } from './client/server-api.ts';
import { groupOf } from './program/group-file.ts';

export class GroupsDeployCommand extends ClusterCommand {
  static override paths = [['groups', 'deploy']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Deploy a group of pipelines, or a new version of one',
    details:
      'FILE is JSON or YAML: {"name", "pipelines": [{"name", "file"}], "routes": [{"from_pipeline", "to_pipeline", "event_types"}]}. ' +
      '"file" is a program, named relative to FILE; "source" is the program itself. A program of a group imports no files. A pipeline may also have "replicas" with a ' +
      '"partition_key", and a "worker_affinity". What cep groups show --json prints can be deployed again.',
    examples: [
      ['From a file', '$0 groups deploy fraud.yaml'],
      ['Another version of it', '$0 groups deploy fraud.yaml --update'],
    ],
  });

  update = Option.Boolean('--update', false, { description: 'Change the group that has this name' });
  noWait = Option.Boolean('--no-wait', false, { description: 'Do not wait until it runs' });
  file = Option.String({ name: 'FILE', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const group = await groupOf(this.file, (path, what) => this.readFile(path, what));
    const cluster = new ClusterApi(api.http);
    const waits = !this.noWait;
    const document = JSON.stringify(group);
    const deployed: Awaited<ReturnType<ClusterApi['update']>> = this.update
      ? await cluster.update((await cluster.group(nameIn(group, this.file))).id, document, waits)
      : await cluster.deploy(document, waits);
    for (const warning of deployed.warnings ?? []) this.note(`warning: ${warning}`);
    if (this.json) this.printJson(deployed);
    else
      this.print(
        `Deployed group ${deployed.name} (${deployed.id}), version ${deployed.version}: ${deployed.status}\n\n${deploymentsText(deployed)}`,
      );
  }
}

function nameIn({ name }: Readonly<Record<string, unknown>>, file: string): string {
  if (typeof name === 'string') return name;
  throw new CepError('usage_error', `'${file}' has no "name" that says which group it changes`);
}

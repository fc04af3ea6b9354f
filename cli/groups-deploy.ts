import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { deploymentsText } from './client/group-text.ts';
import type { ServerApi } from './client/server-api.ts';

export class GroupsDeployCommand extends ClusterCommand {
  static override paths = [['groups', 'deploy']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Deploy a group of pipelines, or a new version of one',
    details:
      'FILE is JSON: {"name", "pipelines": [{"name", "source"}], "routes": [{"from_pipeline", "to_pipeline", "event_types"}]}. ' +
      'A pipeline may also have "replicas" with a "partition_key", and a "worker_affinity".',
    examples: [
      ['From a file', '$0 groups deploy fraud.json'],
      ['Another version of it', '$0 groups deploy fraud.json --update'],
    ],
  });

  update = Option.Boolean('--update', false, { description: 'Change the group that has this name' });
  noWait = Option.Boolean('--no-wait', false, { description: 'Do not wait until it runs' });
  file = Option.String({ name: 'FILE', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const document = await this.readFile(this.file, 'group file');
    const cluster = new ClusterApi(api.http);
    const waits = !this.noWait;
    const group = this.update
      ? await cluster.update((await cluster.group(nameIn(document, this.file))).id, document, waits)
      : await cluster.deploy(document, waits);
    if (this.json) this.printJson(group);
    else this.print(`Deployed group ${group.name} (${group.id}), version ${group.version}: ${group.status}\n\n${deploymentsText(group)}`);
  }
}

function nameIn(document: string, file: string): string {
  let name: unknown;
  try {
    name = (JSON.parse(document) as { readonly name?: unknown }).name;
  } catch (cause) {
    throw new CepError('usage_error', `'${file}' is no JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof name === 'string') return name;
  throw new CepError('usage_error', `'${file}' has no "name" that says which group it changes`);
}

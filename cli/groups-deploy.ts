import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { deploymentsText } from './client/group-text.ts';
import { refusedPipelines, shownDiagnostic } from './client/refused-program.ts';
import type { ServerApi } from './client/server-api.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { type GroupToSend, groupOf } from './program/group-file.ts';

export class GroupsDeployCommand extends ClusterCommand {
  static override paths = [['groups', 'deploy']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Deploy a group of pipelines, or a new version of one',
    details:
      'FILE is JSON or YAML: {"name", "pipelines": [{"name", "file"}], "routes": [{"from_pipeline", "to_pipeline", "event_types"}]}. ' +
      '"file" is a program, named relative to FILE; "source" is the program itself. A program of a group imports no files. A pipeline may also have "replicas" with a ' +
      '"partition_key", and a "worker_affinity". What cep groups show --json prints can be deployed again. Errors of the programs are shown ' +
      'with their positions, as check shows them; it ends with 1 then.',
    examples: [
      ['From a file', '$0 groups deploy fraud.yaml'],
      ['Another version of it', '$0 groups deploy fraud.yaml --update'],
    ],
  });

  update = Option.Boolean('--update', false, { description: 'Change the group that has this name' });
  noWait = Option.Boolean('--no-wait', false, { description: 'Do not wait until it runs' });
  file = Option.String({ name: 'FILE', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const toSend = await groupOf(this.file, (path, what) => this.readFile(path, what));
    const deployed = await this.#deploy(new ClusterApi(api.http), toSend);
    for (const warning of deployed.warnings ?? []) this.note(`warning: ${warning}`);
    if (this.json) this.printJson(deployed);
    else
      this.print(
        `Deployed group ${deployed.name} (${deployed.id}), version ${deployed.version}: ${deployed.status}\n\n${deploymentsText(deployed)}`,
      );
  }

  async #deploy(cluster: ClusterApi, { group, programOf }: GroupToSend): ReturnType<ClusterApi['update']> {
    const document = JSON.stringify(group);
    const waits = !this.noWait;
    try {
      if (!this.update) return await cluster.deploy(document, waits);
      return await cluster.update((await cluster.group(nameIn(group, this.file))).id, document, waits);
    } catch (error) {
      if (error instanceof CepError) this.#showPrograms(error, programOf);
      throw error;
    }
  }

  /** What is wrong with the programs, as check shows it. */
  #showPrograms(error: CepError, programOf: GroupToSend['programOf']): void {
    const pipelines = refusedPipelines(error);
    if (pipelines === undefined) return;
    if (this.json) {
      this.printJson({ valid: false, pipelines });
      return;
    }
    const { stderr, env } = this.context;
    for (const { name, diagnostics } of pipelines) {
      const program = { main: programOf(name), fileOf: () => undefined };
      const shown = diagnostics.map((diagnostic) => shownDiagnostic(diagnostic, program));
      stderr.write(diagnosticsText(shown, stderr, env));
    }
  }
}

function nameIn({ name }: Readonly<Record<string, unknown>>, file: string): string {
  if (typeof name === 'string') return name;
  throw new CepError('usage_error', `'${file}' has no "name" that says which group it changes`);
}

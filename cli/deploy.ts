import { basename, extname } from 'node:path';
import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ProgramCommand } from './client/program-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { visible } from './event-text.ts';
import { programPaths } from './program/program-paths.ts';

export class DeployCommand extends ProgramCommand {
  static override paths = [['deploy']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Deploy a program to a server as a pipeline',
    details:
      'Errors and warnings of the program are shown with their positions, as check shows them. What it imports is sent along: files that ' +
      'end in .vpl, relative to the file they stand in. Ends with 1 when the server refuses the program, 2 when the file cannot be read, ' +
      '4 when the server cannot be asked or refuses for another reason.',
    examples: [
      ['To the server on this machine; the pipeline is called rules', '$0 deploy rules.vpl'],
      ['To another one', '$0 deploy rules.vpl --name fraud --server https://cep.example.org --api-key-file key'],
      ['A folder of programs, each a pipeline', '$0 deploy rules'],
      ['With labels', '$0 deploy rules.vpl --label team=risk --label stage=test'],
    ],
  });

  name = Option.String('--name', { description: 'Name of the pipeline (that of the file without its extension)' });
  labels = Option.Array('--label', [], { description: 'A label NAME=VALUE; can be given several times' });
  isWatched = Option.Boolean('--watch', false, { description: 'Keep alerts with the events that made them, as cep alerts watch' });
  files = Option.Rest({ name: 'FILE', required: 1 });

  protected override async ask(api: ServerApi): Promise<number | undefined> {
    const files = programPaths(this.files);
    if (this.name !== undefined && files.length > 1) throw new CepError('usage_error', `--name is for one program, found ${files.length}`);
    requireOwnNames(files);
    let exitCode = 0;
    for (const file of files) exitCode = Math.max(exitCode, await this.#deploy(api, file));
    return exitCode;
  }

  /** A program that the server refuses stops none of the others. */
  async #deploy(api: ServerApi, file: string): Promise<number> {
    const name = this.name ?? nameOf(file);
    const labels = labelsOf(this.labels);
    const deployed = await this.handOver(file, (program) => api.deploy({ name, program, labels, isWatched: this.isWatched }));
    if (deployed === undefined) return 1;
    if (this.json) this.printJson(deployed);
    else this.print(`Deployed ${visible(deployed.name)}: ${deployed.status}, id ${deployed.id}\n`);
    return 0;
  }
}

function nameOf(file: string): string {
  return basename(file, extname(file));
}

/** Before the first is deployed. @throws CepError `usage_error` */
function requireOwnNames(files: readonly string[]): void {
  const twice = files.find((file, index) => files.findIndex((other) => nameOf(other) === nameOf(file)) !== index);
  if (twice !== undefined)
    throw new CepError('usage_error', `two programs would be called '${nameOf(twice)}'`, { hint: 'deploy them one by one, with --name' });
}

function labelsOf(texts: readonly string[]): Record<string, string> {
  const labels = new Map<string, string>();
  for (const text of texts) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new CepError('usage_error', `--label: expected NAME=VALUE, found '${text}'`);
    labels.set(name, value);
  }
  return Object.fromEntries(labels);
}

import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ClusterApi } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { counted, thousands } from './counts.ts';

export class GroupsInjectCommand extends ClusterCommand {
  static override paths = [['groups', 'inject']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Send events to the entry pipelines of a group',
    details:
      'GROUP is an id or a name. Its routes from _external say which pipelines get an event; --pipeline names one instead. A file is sent ' +
      'in one request of at most 16 MiB. Ends with 1 when an event was refused.',
    examples: [
      ['One event', `$0 groups inject fraud --event 'Login { user: "ann" }'`],
      ['A file', '$0 groups inject fraud --file events.evt'],
    ],
  });

  events = Option.Array('-e,--event', [], { description: 'An event, as a line of an event file; can be given several times' });
  file = Option.String('-f,--file', { description: 'An event file (.evt)' });
  pipeline = Option.String('--pipeline', { description: 'The pipeline that gets them, whatever the routes say' });
  group = Option.String({ name: 'GROUP', required: true });

  protected override async ask(api: ServerApi): Promise<number> {
    const text = await this.#text();
    const cluster = new ClusterApi(api.http);
    const { id } = await cluster.group(this.group);
    const answer = await cluster.inject(id, text, this.pipeline);
    if (this.json) this.printJson(answer);
    else {
      const alerts = counted((answer.output_events?.length ?? 0) + (answer.outputs_omitted ?? 0), 'alert');
      this.print(
        `${thousands(answer.accepted)} accepted, ${thousands(answer.rejected)} refused, ${alerts}, sent to ${answer.routed_to.join(', ')}\n`,
      );
      for (const { index, error } of answer.errors) this.note(`event ${index + 1}: ${error}`);
    }
    return answer.rejected === 0 ? 0 : 1;
  }

  async #text(): Promise<string> {
    if ((this.file === undefined) === (this.events.length === 0))
      throw new CepError('usage_error', 'expected events, from --event or from --file', { hint: 'one of the two' });
    if (this.file === undefined) return `${this.events.join('\n')}\n`;
    return this.readFile(this.file, 'event file');
  }
}

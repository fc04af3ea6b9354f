import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { nearestName } from '../shared/language/diagnostics/nearest-name.ts';
import { FollowCommand } from './client/follow-command.ts';
import type { PipelineEntry, ServerApi, TopologyAnswer } from './client/server-api.ts';

export class TapCommand extends FollowCommand {
  static override paths = [['tap']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Follow the alerts of one stream as they come',
    details:
      'PIPELINE is an id or a name; without a stream all alerts of the pipeline are shown, as cep logs does. Streams that emit as the same ' +
      'event type are shown together. Runs until Ctrl+C, which ends it with 0; a connection that is lost is opened again. Ends with 1 when ' +
      'the pipeline has no such stream.',
    examples: [
      ['One stream', '$0 tap rules/CardTesting'],
      ['Its next alert as data', '$0 tap rules/CardTesting --count 1 --json'],
    ],
  });

  target = Option.String({ name: 'PIPELINE[/STREAM]', required: true });

  protected override async ask(api: ServerApi): Promise<number> {
    const { pipeline, stream } = await this.#find(api);
    if (stream === undefined) return await this.follow(api, pipeline.id);
    const type = typeOf(stream, await api.topology(pipeline.id));
    return await this.follow(api, pipeline.id, ({ event_type: found }) => found === type);
  }

  /** Names of pipelines may hold slashes too. */
  async #find(api: ServerApi): Promise<{ readonly pipeline: PipelineEntry; readonly stream: string | undefined }> {
    const at = this.target.lastIndexOf('/');
    if (at < 0) return { pipeline: await api.pipeline(this.target), stream: undefined };
    try {
      return { pipeline: await api.pipeline(this.target.slice(0, at)), stream: this.target.slice(at + 1) };
    } catch (error) {
      if (!(error instanceof CepError) || error.code !== 'pipeline_not_found') throw error;
      const pipeline = await api.pipeline(this.target).catch(() => undefined);
      if (pipeline === undefined) throw error; // What was asked for first is what was meant.
      return { pipeline, stream: undefined };
    }
  }
}

/** The event type of the alerts of a stream: its name, unless it emits as another. @throws CepError when there is no such stream */
function typeOf(stream: string, { nodes }: TopologyAnswer): string {
  const streams = nodes.filter(({ id }) => id.startsWith('stream:'));
  const node = streams.find(({ label }) => label === stream);
  if (node === undefined) {
    const names = streams.map(({ label }) => label);
    const nearest = nearestName(stream, new Set(names));
    throw new CepError('usage_error', `the pipeline has no stream '${stream}'`, {
      hint: nearest === undefined ? `its streams: ${names.join(', ')}` : `did you mean '${nearest}'?`,
    });
  }
  const { operators } = node.config;
  const texts = Array.isArray(operators) ? operators.map(String) : [];
  return texts.flatMap((text) => /^emit\s+as\s+(\w+)/.exec(text)?.[1] ?? [])[0] ?? stream;
}

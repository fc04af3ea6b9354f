import { Command, Option } from 'clipanion';
import type { CepError } from '../shared/errors/error.ts';
import { ClientCommand } from './client/client-command.ts';
import { type FollowedOutput, followOutputs } from './client/follow-outputs.ts';
import { outputData, outputText } from './client/output-text.ts';
import type { ServerApi } from './client/server-api.ts';
import { colorsFor } from './colors.ts';
import { counted } from './counts.ts';
import { wholeNumber } from './whole-number.ts';

export class LogsCommand extends ClientCommand {
  static override paths = [['logs']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Follow the alerts of a pipeline as they come',
    details:
      'Runs until Ctrl+C, which ends it with 0. A connection that is lost is opened again and goes on behind the last alert; when the ' +
      'server no longer has some of those in between, it says how many. The server keeps the last 1,000. PIPELINE is an id or a name.',
    examples: [
      ['From now on', '$0 logs rules'],
      ['First those that the server still has', '$0 logs rules --after 0'],
      ['The next alert as data', '$0 logs rules --count 1 --json'],
    ],
  });

  after = Option.String('--after', { description: 'Begin behind this sequence number; 0 begins with the oldest that the server has' });
  count = Option.String('-n,--count', { description: 'End after so many alerts' });
  pipeline = Option.String({ name: 'PIPELINE', required: true });

  protected override async ask(api: ServerApi): Promise<number> {
    const after = this.after === undefined ? undefined : String(wholeNumber('--after', this.after, 0));
    const countMax = this.count === undefined ? Infinity : wholeNumber('--count', this.count, 1);
    const { id: pipelineId } = await api.pipeline(this.pipeline);
    const interrupt = new AbortController();
    const stop = (): void => interrupt.abort();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    try {
      const onLost = ({ message }: CepError): void => this.note(`${message}; trying again`);
      let count = 0;
      for await (const followed of followOutputs({ api, pipelineId, after, signal: interrupt.signal, onLost })) {
        this.#show(followed);
        if (followed.kind === 'output' && ++count >= countMax) break;
      }
      return 0;
    } finally {
      stop();
      process.off('SIGINT', stop).off('SIGTERM', stop);
    }
  }

  #show(followed: FollowedOutput): void {
    if (followed.kind === 'gap') {
      if (this.json) this.printJson({ type: 'gap', skipped: followed.skipped });
      else this.note(`${counted(followed.skipped, 'alert')} missed: the server no longer has them`);
      return;
    }
    const { output, sequence } = followed;
    const { stdout, env } = this.context;
    if (this.json) this.printJson({ ...outputData(output), sequence: Number(sequence) });
    else this.print(outputText(output, colorsFor(stdout, env)));
  }
}

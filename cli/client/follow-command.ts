import { Option } from 'clipanion';
import type { CepError } from '../../shared/errors/error.ts';
import { colorsFor } from '../colors.ts';
import { counted } from '../counts.ts';
import { wholeNumber } from '../whole-number.ts';
import { ClientCommand } from './client-command.ts';
import { type FollowedOutput, followOutputs } from './follow-outputs.ts';
import { outputData, outputText, type ToldOutput } from './output-text.ts';
import type { ServerApi } from './server-api.ts';

/** A command that shows alerts of a pipeline as they come. */
export abstract class FollowCommand extends ClientCommand {
  after = Option.String('--after', { description: 'Begin behind this sequence number; 0 begins with the oldest that the server has' });
  count = Option.String('-n,--count', { description: 'End after so many alerts' });

  /** Until Ctrl+C, or until as many alerts were shown as the user wants. */
  protected async follow(api: ServerApi, pipelineId: string, isShown: (output: ToldOutput) => boolean = () => true): Promise<number> {
    const after = this.after === undefined ? undefined : String(wholeNumber('--after', this.after, 0));
    const countMax = this.count === undefined ? Infinity : wholeNumber('--count', this.count, 1);
    const interrupt = new AbortController();
    const stop = (): void => interrupt.abort();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    try {
      const onLost = ({ message }: CepError): void => this.note(`${message}; trying again`);
      let count = 0;
      for await (const followed of followOutputs({ api, pipelineId, after, signal: interrupt.signal, onLost })) {
        if (followed.kind === 'output' && !isShown(followed.output)) continue;
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

import { Command } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { LettersCommand } from './client/letters-command.ts';
import type { ServerApi } from './client/server-api.ts';
import { counted } from './counts.ts';

export class DlqReplayCommand extends LettersCommand {
  static override paths = [['dlq', 'replay']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Send the dead letters of a pipeline again, each to the sink that did not take it',
    details: 'Those that are taken now are gone, the others stay. Ends with 4 when some stay. PIPELINE is an id or a name.',
    examples: [
      ['By name', '$0 dlq replay rules'],
      ['Those of one sink', '$0 dlq replay rules --connector Hook'],
    ],
  });

  protected override async ask(api: ServerApi): Promise<number> {
    const { id } = await api.pipeline(this.pipeline);
    const answer = await api.replayDeadLetters(id, this.choice);
    const { replayed, failed, unsent = 0 } = answer;
    if (replayed + failed === 0) await this.requireConnector(api, id);
    const stay = failed === 0 ? '' : `, ${failed} not taken again`;
    const open = unsent === 0 ? '' : `, ${unsent} of them not sent: the circuit breaker is open`;
    if (this.json) this.printJson(answer);
    else this.print(`${counted(replayed, 'dead letter')} delivered${stay}${open}\n`);
    return failed === 0 ? 0 : new CepError('runtime_error', '').exitCode;
  }
}

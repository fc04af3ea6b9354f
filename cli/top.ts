import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi, TenantMetricsAnswer } from './client/server-api.ts';
import { topText } from './client/top-table.ts';
import { counted, thousands } from './counts.ts';
import { runUntilInterrupted } from './interruption.ts';
import { intervalProblem, readInterval } from './interval.ts';
import { wholeNumber } from './whole-number.ts';

const CLEAR_TERMINAL = '\u001b[H\u001b[2J';

export class TopCommand extends ClientCommand {
  static override paths = [['top']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Watch the pipelines of a server at work',
    details:
      'Looks every two seconds and shows what came in between: a table that is drawn anew on a terminal, one table after the other elsewhere. ' +
      'PROBLEMS counts events that were invalid or late, and dead letters. A server that is away is asked again. Runs until Ctrl+C, which ' +
      'ends it with 0; ends with 4 when the server cannot be reached at first.',
    examples: [
      ['Of the server on this machine', '$0 top'],
      ['The rates of ten seconds, once', '$0 top --interval 10s --count 1'],
    ],
  });

  interval = Option.String('--interval', '2s', { description: 'Time between two looks, seconds or a duration (2s)' });
  count = Option.String('-n,--count', { description: 'End after so many tables' });

  protected override async ask(api: ServerApi): Promise<number> {
    const intervalMs = readInterval(this.interval);
    if (intervalMs === undefined) throw new CepError('usage_error', intervalProblem('--interval', this.interval));
    const countMax = this.count === undefined ? Infinity : wholeNumber('--count', this.count, 1);
    return runUntilInterrupted(async (interrupt) => {
      let before = await api.allMetrics();
      for (let shown = 0; shown < countMax; ) {
        await sleep(intervalMs, undefined, { signal: interrupt }).catch(() => undefined); // It rejects only when it is to end.
        if (interrupt.aborted) return 0;
        const now = await this.#look(api);
        if (now === undefined) continue;
        this.#show(now, before);
        before = now;
        shown++;
      }
      return 0;
    });
  }

  /** Undefined, and said, when the server is away. */
  async #look(api: ServerApi): Promise<TenantMetricsAnswer | undefined> {
    try {
      return await api.allMetrics();
    } catch (error) {
      if (!(error instanceof CepError) || error.code !== 'runtime_error') throw error;
      this.note(`${error.message}; trying again`);
      return undefined;
    }
  }

  #show(now: TenantMetricsAnswer, before: TenantMetricsAnswer): void {
    if (this.json) {
      this.printJson(now);
      return;
    }
    const { stdout } = this.context;
    const { totals } = now;
    const head = `${counted(totals.pipelines, 'pipeline')}, ${counted(totals.events_processed, 'event')}, ${thousands(totals.output_events_emitted)} alerts`;
    const isTerminal = 'isTTY' in stdout && stdout.isTTY === true;
    this.print(`${isTerminal ? CLEAR_TERMINAL : ''}${head}\n${topText(now, before)}`);
  }
}

import { Command, Option } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { ServerApi, TenantMetricsAnswer } from './client/server-api.ts';
import { topText } from './client/top-table.ts';
import { watch } from './client/watching.ts';
import { counted, thousands } from './counts.ts';

export class TopCommand extends ClientCommand {
  static override paths = [['top']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Watch the pipelines of a server at work',
    details:
      'Looks every two seconds and shows what came in between: on a terminal a table to scroll, which q ends; elsewhere, and with --count, one ' +
      'table after the other. PROBLEMS counts events that were invalid or late, and dead letters. A server that is away is asked again. Runs ' +
      'until Ctrl+C, which ends it with 0; ends with 4 when the server cannot be reached at first.',
    examples: [
      ['Of the server on this machine', '$0 top'],
      ['The rates of ten seconds, once', '$0 top --interval 10s --count 1'],
    ],
  });

  interval = Option.String('--interval', '2s', { description: 'Time between two looks, seconds or a duration (2s)' });
  count = Option.String('-n,--count', { description: 'End after so many tables' });

  protected override ask(api: ServerApi): Promise<number> {
    const { interval, count, json: isJson, context } = this;
    const watched = {
      title: 'Pipelines',
      look: () => api.allMetrics(),
      text: (now: TenantMetricsAnswer, before: TenantMetricsAnswer) => ({ head: headOf(now), table: topText(now, before) }),
    };
    return watch(watched, { interval, count, isJson, context });
  }
}

function headOf({ totals }: TenantMetricsAnswer): string {
  const { pipelines, events_processed: events, output_events_emitted: alerts } = totals;
  return `${counted(pipelines, 'pipeline')}, ${counted(events, 'event')}, ${thousands(alerts)} alerts`;
}

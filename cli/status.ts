import { Command } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ClientCommand } from './client/client-command.ts';
import type { ReadyAnswer, ServerApi } from './client/server-api.ts';
import { factsText, uptimeText } from './client/table.ts';
import { askUntil, readWait, waitOption } from './client/wait-option.ts';
import { thousands } from './counts.ts';

export class StatusCommand extends ClientCommand {
  static override paths = [['status']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Say whether a server lives and takes requests',
    details: 'Needs no key. Ends with 0 when the server is ready, 4 when it is not or cannot be reached.',
    examples: [
      ['Of the server on this machine', '$0 status'],
      ['After a start: until it is ready, for a minute at most', '$0 status --wait 60s'],
    ],
  });

  wait = waitOption();

  protected override async ask(api: ServerApi): Promise<number> {
    const look = async () => ({ health: await api.health(), ready: await readinessOf(api) });
    const { health, ready } = await askUntil(readWait(this.wait), look, (seen) => !(seen.ready instanceof CepError));
    const { version, uptime_seconds: uptime } = health;
    const isReady = !(ready instanceof CepError);
    if (this.json) {
      const state = isReady ? ready : { status: 'not_ready', reason: ready.message };
      this.printJson({ url: api.url, version, uptime_seconds: uptime, ...state });
    } else {
      const state = isReady ? readyFacts(ready) : ([['Status', ready.message]] as const);
      this.print(factsText([['Server', api.url], ['Version', version], ['Up', uptimeText(uptime)], ...state]));
    }
    return isReady ? 0 : ready.exitCode;
  }
}

async function readinessOf(api: ServerApi): Promise<ReadyAnswer | CepError> {
  try {
    return await api.readiness();
  } catch (error) {
    if (error instanceof CepError && error.code === 'not_ready') return error;
    throw error;
  }
}

function readyFacts({ pipelines, streams_count: streams, events_processed: events, output_events_emitted: alerts }: ReadyAnswer) {
  return [
    ['Status', 'ready'],
    ['Pipelines', thousands(pipelines)],
    ['Streams', thousands(streams)],
    ['Events', thousands(events)],
    ['Alerts', thousands(alerts)],
  ] as const;
}

import { Command, Option } from 'clipanion';
import { FollowCommand } from './client/follow-command.ts';
import type { ServerApi } from './client/server-api.ts';

export class LogsCommand extends FollowCommand {
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

  pipeline = Option.String({ name: 'PIPELINE', required: true });

  protected override async ask(api: ServerApi): Promise<number> {
    const { id } = await api.pipeline(this.pipeline);
    return await this.follow(api, id);
  }
}

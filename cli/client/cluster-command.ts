import { Option } from 'clipanion';
import { ClientCommand } from './client-command.ts';

/** A command that asks a coordinator: any member of its group, which asks the leader. */
export abstract class ClusterCommand extends ClientCommand {
  override server = Option.String('--coordinator', {
    description: 'URL of a coordinator (CEP_COORDINATOR_URL, http://127.0.0.1:9100)',
  });
  protected override readonly urlSetting = 'client.coordinator';
}

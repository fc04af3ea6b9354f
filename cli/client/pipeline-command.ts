import { Option } from 'clipanion';
import { ClientCommand } from './client-command.ts';

/** A command for one pipeline. */
export abstract class OnePipelineCommand extends ClientCommand {
  pipeline = Option.String({ name: 'PIPELINE', required: true });
}

import { Option } from 'clipanion';
import { OnePipelineCommand } from './pipeline-command.ts';
import type { LetterChoice } from './server-api.ts';

/** A command for dead letters of one pipeline: all of them, or those of a connector, or with a code. */
export abstract class LettersCommand extends OnePipelineCommand {
  connector = Option.String('--connector', { description: 'Only letters of this connector' });
  code = Option.String('--code', { description: 'Only letters with this code, such as http_503 or circuit_open' });

  protected get choice(): LetterChoice {
    return { connector: this.connector, code: this.code };
  }
}

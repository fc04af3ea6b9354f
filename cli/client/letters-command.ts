import { Option } from 'clipanion';
import { CepError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { OnePipelineCommand } from './pipeline-command.ts';
import type { LetterChoice, ServerApi } from './server-api.ts';

/** Under this name stand the rows that failed under `.on_error(dlq)`. */
const ofRows = 'on_error';

/** A command for dead letters of one pipeline: all of them, or those of a connector, or with a code. */
export abstract class LettersCommand extends OnePipelineCommand {
  connector = Option.String('--connector', { description: 'Only letters of this connector' });
  code = Option.String('--code', { description: 'Only letters with this code, such as http_503 or circuit_open' });

  protected get choice(): LetterChoice {
    return { connector: this.connector, code: this.code };
  }

  /**
   * For when no letter was chosen: there may be letters of a connector that the program no longer has, so names are looked at only then.
   * @throws CepError `connector_not_found` when the pipeline has nothing of the name that was given
   */
  protected async requireConnector(api: ServerApi, id: string): Promise<void> {
    const { connector } = this;
    if (connector === undefined || connector === ofRows) return;
    // With another code than the one that was asked for.
    if (this.code !== undefined && (await api.deadLetters(id, 1, { connector })).total > 0) return;
    const { nodes } = await api.topology(id);
    if (nodes.some(({ label }) => label === connector)) return;
    const ends = nodes.filter(({ node_type: type }) => type === 'sink' || type === 'source');
    const nearest = nearestName(connector, new Set(ends.map(({ label }) => label)));
    throw new CepError(
      'connector_not_found',
      `the pipeline has no connector '${connector}', and no dead letter of one`,
      nearest === undefined ? {} : { hint: `did you mean '${nearest}'?` },
    );
  }
}

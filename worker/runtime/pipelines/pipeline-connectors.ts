import { CepError } from '../../../shared/errors/error.ts';
import type { PipelineSinks, SavedDeliveries } from '../../connectors/delivery/pipeline-sinks.ts';
import { canRead, settingsOf } from '../../connectors/registry.ts';
import type { ProgramSummary } from '../threads/messages.ts';

/** The connectors of the program that a pipeline runs. */
export class PipelineConnectors {
  readonly #sinks: PipelineSinks;
  /** What a checkpoint says is still to be delivered; null once the sinks have it. */
  #undelivered: SavedDeliveries | null;

  constructor(sinks: PipelineSinks, undelivered: SavedDeliveries | null) {
    this.#sinks = sinks;
    this.#undelivered = undelivered;
  }

  /** Opens those of a program in the place of those before. @throws CepError `connector_error`; then nothing has changed */
  readonly connect = ({ connectors, sinks, sources }: ProgramSummary): void => {
    const types = new Map(connectors.map(({ name, type }) => [name, type]));
    const unreadable = sources.find((name) => !canRead(types.get(name) ?? ''));
    if (unreadable !== undefined) {
      throw new CepError(
        'connector_error',
        `connector '${unreadable}': this build cannot read from connectors of type ${types.get(unreadable)}`,
      );
    }
    this.#sinks.configure(
      connectors.map(({ name, type, parameters }) => settingsOf(name, type, parameters)),
      sinks,
    );
    if (this.#undelivered !== null) this.#sinks.load(this.#undelivered);
    this.#undelivered = null;
  };
}

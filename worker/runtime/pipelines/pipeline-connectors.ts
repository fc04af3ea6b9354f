import { CepError } from '../../../shared/errors/error.ts';
import { canConnect } from '../../../shared/language/connectors/table.ts';
import { limits } from '../../../shared/limits.ts';
import type { ConnectorUses } from '../../connectors/connector-problems.ts';
import type { PipelineSinks, SavedDeliveries } from '../../connectors/delivery/pipeline-sinks.ts';
import type { PipelineLookups } from '../../connectors/lookups/pipeline-lookups.ts';
import { settingsOf } from '../../connectors/registry.ts';
import type { PipelineSources } from '../../connectors/sources/pipeline-sources.ts';
import type { ProgramSummary } from '../threads/messages.ts';

/** The connectors of the program that a pipeline runs. */
export class PipelineConnectors {
  readonly #sinks: PipelineSinks;
  readonly #sources: PipelineSources;
  readonly #lookups: PipelineLookups;
  /** What a checkpoint says is still to be delivered; null once the sinks have it. */
  #undelivered: SavedDeliveries | null;

  constructor(
    { sinks, sources, lookups }: { readonly sinks: PipelineSinks; readonly sources: PipelineSources; readonly lookups: PipelineLookups },
    undelivered: SavedDeliveries | null,
  ) {
    this.#sinks = sinks;
    this.#sources = sources;
    this.#lookups = lookups;
    this.#undelivered = undelivered;
  }

  /** Opens those of a program in the place of those before. @throws CepError `connector_error`; then nothing has changed */
  readonly connect = (summary: ProgramSummary): void => {
    const { connectors: settings, sources, sinks, sends, lookups } = usesOf(summary);
    const types = new Map(settings.map(({ name, type }) => [name, type]));
    const typeOf = (name: string): string => types.get(name) ?? '';
    const unreadable = sources.find(({ connector }) => !canConnect(typeOf(connector), 'source'))?.connector;
    if (unreadable !== undefined) throw cannot(unreadable, `read from connectors of type ${typeOf(unreadable)}`, readHint);
    const unasked = lookups.find((name) => !canConnect(typeOf(name), 'enrich'));
    if (unasked !== undefined) throw cannot(unasked, `look anything up in connectors of type ${typeOf(unasked)} (.enrich)`, lookupHint);
    this.#sources.check(settings, sources);
    this.#lookups.check(settings, lookups);
    this.#sinks.configure(settings, sinks, sends);
    this.#sources.configure(settings, sources, messagesMaxOf(summary));
    this.#lookups.configure(settings, lookups);
    if (this.#undelivered !== null) this.#sinks.load(this.#undelivered);
    this.#undelivered = null;
  };
}

/** What a program does with its connectors, as the code of connectors takes it. */
export function usesOf({ connectors, sources, sinks, sends = [], lookups = [] }: ProgramSummary): ConnectorUses {
  return { connectors: connectors.map(({ name, type, parameters }) => settingsOf(name, type, parameters)), sources, sinks, sends, lookups };
}

/** Results of a record come together: where look-ups are waited for it is no larger than what is looked up at a time. */
export function messagesMaxOf({ lookups = [] }: ProgramSummary): number | undefined {
  return lookups.length > 0 ? limits.enrichLookupsDefault : undefined;
}

const readHint = 'leave .from out and send the events to the pipeline (POST .../events, cep inject)';
const lookupHint = 'send what it would look up as events of a type of their own, and join with them';

function cannot(name: string, what: string, hint: string): CepError {
  return new CepError('connector_error', `connector '${name}': this build cannot ${what}`, { hint });
}

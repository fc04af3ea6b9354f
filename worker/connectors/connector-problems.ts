import { CepError } from '../../shared/errors/error.ts';
import type { ConnectorEnvironment, ConnectorSettings, SourceSettings } from './connector.ts';
import { withProfile } from './profiles.ts';
import { type KnownSend, openLookup, openSink, openSource, requireSend } from './registry.ts';
import { requireDistinctClients } from './sources/distinct-clients.ts';
import { type SourceUse, settingsOfUse } from './sources/pipeline-sources.ts';

/** The connectors of a program, and what it does with them. */
export interface ConnectorUses {
  readonly connectors: readonly ConnectorSettings[];
  readonly sources: readonly SourceUse[];
  readonly lookups: readonly string[];
  readonly sinks: readonly string[];
  readonly sends: readonly KnownSend[];
}

export interface ConnectorProblem {
  readonly connector: string;
  readonly error: CepError;
}

/** Whatever a start of the program would be refused for because of its connectors. Nothing is connected. */
export function connectorProblems(
  { connectors, sources, lookups, sinks, sends }: ConnectorUses,
  environment: ConnectorEnvironment,
): readonly ConnectorProblem[] {
  const found = new Map<string, ConnectorProblem>();
  const judge = (connector: string, use: (settings: ConnectorSettings) => void): void => {
    const declared = connectors.find(({ name }) => name === connector);
    if (declared === undefined) return;
    try {
      use(declared);
    } catch (error) {
      if (!(error instanceof CepError)) throw error;
      if (!found.has(error.message)) found.set(error.message, { connector, error });
    }
  };
  const complete = (settings: ConnectorSettings): ConnectorSettings => withProfile(settings, environment);
  const read: SourceSettings[] = [];
  for (const use of sources)
    judge(use.connector, (settings) => {
      const own = settingsOfUse(use, settings, { environment, pipelineId: '' });
      void openSource(own, environment).close();
      read.push(own);
      requireDistinctClients(read);
    });
  for (const name of lookups) judge(name, (settings) => void openLookup(complete(settings), environment).close());
  for (const name of sinks) judge(name, (settings) => void openSink(complete(settings), environment).close());
  for (const send of sends) judge(send.connector, (settings) => requireSend(complete(settings), send, environment));
  return [...found.values()];
}

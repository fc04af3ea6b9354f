import { CepError } from '../../../shared/errors/error.ts';
import type { SourceSettings } from '../connector.ts';
import { connectorTypes } from '../registry.ts';

/** A server ends the connection of a client when another of the same name comes. @throws CepError `connector_error` when two sources would do that to each other for ever */
export function requireDistinctClients(sources: readonly SourceSettings[]): void {
  const known = new Set<string>();
  for (const settings of sources) {
    const client = connectorTypes.get(settings.type)?.clientOf?.(settings);
    if (client === undefined) continue;
    const key = JSON.stringify([client.name, client.server]);
    if (known.has(key)) {
      throw new CepError(
        'connector_error',
        `connector '${settings.name}': several \`.from\` would be the one client '${client.name}' of the broker`,
        {
          hint: 'leave client_id out, or declare a connector with a client_id of its own for each of them',
        },
      );
    }
    known.add(key);
  }
}

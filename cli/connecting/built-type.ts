import { CepError } from '../../shared/errors/error.ts';
import type { ConnectorDescriptor } from '../../shared/language/connectors/descriptor.ts';
import { connectors, findConnector } from '../../shared/language/connectors/table.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';

/** The type of this name or alias, if this build has code for it. @throws CepError `usage_error` */
export function builtType(name: string): ConnectorDescriptor {
  const found = findConnector(name);
  if (found?.built !== undefined) return found;
  const known = connectors.flatMap((type) => (type.built === undefined ? [] : [type.name]));
  const nearest = nearestName(name, known);
  throw new CepError('usage_error', `this build has no connectors of type '${name}'`, {
    hint: nearest === undefined ? `it has ${known.join(', ')}` : `did you mean '${nearest}'?`,
  });
}

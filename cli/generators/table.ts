import { CepError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { fraud } from './fraud.ts';
import type { Generator } from './generator.ts';
import { iot } from './iot.ts';
import { trading } from './trading.ts';

/** Every generator that can be named. */
export const generators: readonly Generator[] = [fraud, iot, trading];

/** @throws CepError `usage_error` */
export function findGenerator(name: string): Generator {
  const found = generators.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = generators.map((one) => one.name);
  const nearest = nearestName(name, new Set(names));
  throw new CepError('usage_error', `unknown schema '${name}', expected ${names.join(', ')}`, {
    ...(nearest === undefined ? {} : { hint: `did you mean '${nearest}'?` }),
  });
}

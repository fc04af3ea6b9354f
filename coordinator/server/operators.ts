import { hash, timingSafeEqual } from 'node:crypto';
import { CepError } from '../../shared/errors/error.ts';
import type { Callers } from '../../shared/http/callers.ts';
import type { Operator } from './cluster-route.ts';

const operator: Operator = { name: 'operator' };
const anybody: Operator = { name: 'anonymous' };

/** Those who have the key of the coordinator. Kept is a digest of it, and compared in constant time. */
export function operatorsWith(apiKey: string | undefined): Callers<Operator> {
  const digest = apiKey === undefined ? undefined : digestOf(apiKey);
  return {
    isAuthenticationOn: digest !== undefined,
    authenticate: (key) => {
      if (digest === undefined) return anybody;
      if (key === undefined) {
        const hint = "send it as 'x-api-key', or as 'Authorization: Bearer'";
        throw new CepError('missing_api_key', 'the request has no API key', { hint });
      }
      if (timingSafeEqual(digest, digestOf(key))) return operator;
      throw new CepError('invalid_api_key', 'the API key of the request is not the one of this coordinator');
    },
    isAdmin: () => true,
    nameOf: ({ name }) => name,
    // Requests that are sent again are known to the whole group: `ClusterRequests` sees to them.
    once: (_request, action) => action(),
  };
}

function digestOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

import type { FastifyContextConfig, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Kept, see `configOf`. */
    routeConfig: FastifyContextConfig | undefined;
  }
}

/** What the route of a request declares. The framework makes all of its options anew each time it is asked for them. */
export function configOf(request: FastifyRequest): FastifyContextConfig {
  request.routeConfig ??= request.routeOptions.config;
  return request.routeConfig;
}

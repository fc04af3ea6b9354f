import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { HttpAppOptions } from './http-app-options.ts';
import { openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';

/** The page asks nobody but this server, by the protocol with which it was asked for itself. */
const contentPolicy = "default-src 'self'; base-uri 'self'; object-src 'none'; frame-ancestors 'none'; img-src 'self' data:";

/** Serves the document of all routes at `/openapi.json`, and a page made of it at `/docs`. Both need no key. */
export async function registerDocs<Caller>(app: FastifyInstance, { routes, about, callers }: HttpAppOptions<Caller>): Promise<void> {
  const document = openApiDocument({ ...about, isAuthenticationOn: callers.isAuthenticationOn }, routes as readonly Route<never>[]);
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { access: 'open', operation: 'docs', ...route.config };
    });
    await docs.register(swagger, { mode: 'static', specification: { document: document as never } });
    await docs.register(swaggerUi, { routePrefix: '/docs', staticCSP: contentPolicy, uiConfig: { validatorUrl: null } });
    docs.get('/openapi.json', { config: { access: 'open', operation: 'getOpenApi' } }, () => document);
  });
}

import { Answer } from '../../../shared/http/answer.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';

/** `/metrics` of all tenants together, so where a key is needed it is the server's own. */
export function scrapeRoute(render: () => Promise<string>, access: 'open' | 'admin'): ApiRoute {
  return apiRoute({
    method: 'GET',
    path: '/metrics',
    operation: 'getMetrics',
    summary: 'Show all metrics in the Prometheus format',
    tag: 'probes',
    access,
    isProbe: true,
    success: { 200: 'Prometheus text exposition' },
    textType: 'text/plain',
    handle: async () => new Answer(200, await render(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  });
}

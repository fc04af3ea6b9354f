import manifest from '../../package.json' with { type: 'json' };
import { createHttpApp } from '../../shared/http/http-app.ts';
import { isLoopback, listen } from '../../shared/http/listen.ts';
import { readTlsPair } from '../../shared/security/tls-files.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { Runtime } from '../../worker/runtime/service.ts';
import { SERVER_TENANT } from '../../worker/runtime/tenants/tenant-registry.ts';
import { refusalOf } from '../../worker/server/routes/probes.ts';
import { webhookRoutes } from '../../worker/server/routes/webhooks.ts';
import { callersOf } from '../../worker/server/server.ts';
import type { HttpSettings } from '../serving/http-settings.ts';

export interface WebhookServing extends HttpSettings {
  readonly bind: string;
  readonly port: number;
}

export interface ServedProgram {
  readonly runtime: Runtime;
  /** Of its pipeline. */
  readonly id: string;
  readonly telemetry: Telemetry;
  readonly readPlace: () => Promise<WebhookServing>;
  /** Says a line to whoever runs it. */
  readonly note: (text: string) => void;
}

/** Listens for the webhooks of a program that takes some, and for nothing else. Gives what ends it. @throws CepError when the place is not to be had */
export async function serveWebhooks({ runtime, id, telemetry, readPlace, note }: ServedProgram): Promise<() => Promise<void>> {
  const hooks = runtime.pipelines
    .sources(SERVER_TENANT, id)
    .flatMap(({ connector, webhook }) => (webhook ? [{ connector, ...webhook }] : []));
  if (hooks.length === 0) return async () => undefined;
  const { bind, port, tls, rateLimit, corsOrigins, allowedHosts, trustedProxies } = await readPlace();
  const app = await createHttpApp({
    routes: webhookRoutes(runtime, { prefix: '', idOf: () => id }),
    callers: callersOf(runtime),
    telemetry,
    about: { title: 'cep run', version: manifest.version },
    ...{ rateLimit, corsOrigins, allowedHosts, trustedProxies },
    now: () => performance.now(),
    tls: tls && (await readTlsPair(tls)),
    refusal: () => refusalOf(runtime.readiness()),
    hasDocs: false,
  });
  const url = await listen(app, { bind, port, what: 'the place for webhooks' });
  for (const { connector, topic } of hooks) {
    note(`Events for ${connector} come to POST ${url}/webhooks/${connector}${topic === null ? '' : `/${encodeURIComponent(topic)}`}`);
  }
  const isOpen = !runtime.tenants.isAuthenticationOn && hooks.some(({ isSigned }) => !isSigned);
  if (isOpen && !isLoopback(bind)) note('Whoever reaches this port may send: give the connector a secret, or set CEP_API_KEY.');
  return () => app.close();
}

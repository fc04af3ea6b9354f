import type { AddressInfo } from 'node:net';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import { createServer, type Server, type ServerOptions } from '../../../worker/server/server.ts';
import { FakeRuntime } from './fake-runtime.ts';

export interface FakeServer extends Server {
  readonly runtime: FakeRuntime;
  /** Listens, and gives the URL. */
  listen(): Promise<string>;
}

const started: FakeServer[] = [];

/** A server upon a fake runtime; `closeServers` ends it. */
export async function fakeServer({ apiKey, ...options }: Partial<ServerOptions> & { readonly apiKey?: string } = {}): Promise<FakeServer> {
  const runtime = new FakeRuntime(apiKey);
  const telemetry = new Telemetry(silentLogger, new MetricRegistry());
  const server = await createServer({ runtime, telemetry, version: '9.9.9', rateLimit: 0, corsOrigins: [], ...options });
  const listen = async (): Promise<string> => {
    await server.api.listen({ port: 0, host: '127.0.0.1' });
    return `http://127.0.0.1:${(server.api.server.address() as AddressInfo).port}`;
  };
  const made = { ...server, runtime, listen };
  started.push(made);
  return made;
}

export async function closeServers(): Promise<void> {
  await Promise.all(started.splice(0).map((server) => server.close()));
}

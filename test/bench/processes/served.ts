/**
 * A server to be measured, in a process of its own: the real one, and an empty route of the framework. Tells its ports, then
 * answers each message with the time it has used.
 */
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import { createRuntime } from '../../../worker/runtime/runtime.ts';
import { createServer } from '../../../worker/server/server.ts';

/** Microseconds since the process began: of the processor in all threads, and those in which the event loop was not idle. */
export interface Used {
  readonly processor: number;
  readonly loop: number;
}

/** What the process tells when it is up. */
export interface Served {
  /** URL of the pipeline. */
  readonly pipeline: string;
  readonly server: string;
  readonly metrics: string;
  readonly empty: string;
  /** Key of the tenant that owns the pipeline. It may send more events a second than any plan has: speed is measured here. */
  readonly key: string;
  /** The program of the pipeline. */
  readonly program: string;
}

const program =
  'event Reading:\n    sensor: str\n    value: float\n    room: str\n\nstream Hot = Reading.where(value > 99).emit(sensor: sensor, value: value)\n';

async function listening(app: FastifyInstance): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

const UNLIMITED = 1_000_000_000;

const runtime = await createRuntime({ apiKey: 'key-of-the-server', engineThreads: 1, report: () => undefined });
const telemetry = new Telemetry(silentLogger, new MetricRegistry());
const { api, metrics } = await createServer({ runtime, telemetry, version: 'bench', rateLimit: 0, corsOrigins: [], hasMetrics: true });
if (metrics === undefined) throw new Error('the server has no metrics');
await runtime.start();
const { id, apiKey } = await runtime.tenants.create({ name: 'bench', plan: 'enterprise', quota: { maxEventsPerSecond: UNLIMITED } });
const { pipeline } = await runtime.pipelines.deploy(id, { name: 'bench', source: program });

const empty = fastify();
empty.post('/', async () => ({ accepted: true, output_events: [] }));

const server = await listening(api);
const served: Served = {
  pipeline: `${server}/api/v1/pipelines/${pipeline.id}`,
  server,
  metrics: `${await listening(metrics)}/metrics`,
  empty: await listening(empty),
  key: apiKey,
  program,
};
process.send?.(served);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const used: Used = { processor: user + system, loop: performance.eventLoopUtilization().active * 1000 };
  process.send?.(used);
});

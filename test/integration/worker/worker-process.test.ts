import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { CepProcess } from '../cli/cep-process.ts';
import { HttpSink } from './sink.ts';
import { clusterKey, StubCoordinator } from './stub-coordinator.ts';
import { placing } from './worker-under-test.ts';

const folder = mkdtempSync(join(tmpdir(), 'cep-worker-'));
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(() => rmSync(folder, { recursive: true }));

const id = 'g_1:p:0';
const path = `/api/v1/worker/placements/${encodeURIComponent(id)}`;
const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(
    async () => {
      if (!(await condition())) throw new Error('not yet');
    },
    { timeout: 40_000, interval: 20 },
  );

class Worker {
  readonly process: CepProcess;
  readonly url: string;

  constructor(stub: StubCoordinator, port: number, workerId: string) {
    this.url = `http://127.0.0.1:${port}`;
    const args = ['server', '--port', String(port), '--coordinator', stub.url, '--worker-id', workerId];
    this.process = new CepProcess([...args, '--checkpoint-interval', '1s', '--workdir', folder], { env: { CEP_API_KEY: clusterKey } });
    ends.push(() => this.process.kill('SIGKILL'));
  }

  static async start(stub: StubCoordinator, workerId = 'w1'): Promise<Worker> {
    const worker = new Worker(stub, await freePort(), workerId);
    await worker.process.until(({ stderr }) => stderr.includes('Worker registered'));
    return worker;
  }

  // biome-ignore lint/suspicious/noExplicitAny: each test knows what its answer holds.
  async ask(method: string, rest: string, body?: object): Promise<any> {
    const response = await fetch(`${this.url}${path}${rest}`, {
      method,
      headers: { 'x-api-key': clusterKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response.json();
  }

  async run(stub: StubCoordinator, request: ReturnType<typeof placing>): Promise<void> {
    stub.epochs.set(id, request.epoch);
    await this.ask('PUT', '', request);
    await until(async () => (await this.ask('GET', '')).status === 'running');
  }

  inject(epoch: number, from: number, types: string): Promise<unknown> {
    const batches = Array.from(types, (event_type, at) => ({
      ...{ sequence: from + at, received_at: 1_700_000_000_000 + from + at },
      events: [{ event_type, fields: { n: from + at }, timestamp: 1_700_000_000_000 + from + at }],
    }));
    return this.ask('POST', '/events', { epoch, from: { placement_id: '_external', epoch: 0 }, batches });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function world(): Promise<{ stub: StubCoordinator; hook: HttpSink; program: string }> {
  const [stub, hook] = [await StubCoordinator.start(), await HttpSink.start()];
  ends.push(() => stub.close());
  ends.push(() => hook.close());
  const program = `connector Hook = http (url: "${hook.url}")\nstream Pairs = A as a -> B as b .within(1h) .emit(a: a.n, b: b.n) .to(Hook)\n`;
  return { stub, hook, program };
}

describe('a worker process', () => {
  it('takes any name of a host with a key, as a server does', async () => {
    const { stub } = await world();
    const worker = await Worker.start(stub);
    const headers = { host: 'cep.example.org', 'x-api-key': clusterKey };
    const status = new Promise((resolve, reject) => {
      get(`${worker.url}/api/v1/pipelines`, { headers }, (answer) => resolve(answer.resume().statusCode)).once('error', reject);
    });
    expect(await status).toBe(200);
  });

  it('that was stopped for longer than its lease says nothing more when it goes on, though the sink is there again', async () => {
    const { stub, hook, program } = await world();
    stub.leaseMs = 2_000;
    const worker = await Worker.start(stub);
    await worker.run(stub, placing(program));
    hook.status = 503;
    await worker.inject(1, 1, 'AB');
    await until(() => hook.requests > 0);
    worker.process.kill('SIGSTOP');
    const stopped = performance.now();
    await until(() => performance.now() > stopped + 3_000);
    hook.status = 200;
    worker.process.kill('SIGCONT');
    await until(() => stub.heartbeats.at(-1)?.pipelines[0]?.status === 'fenced');
    await worker.process.until(({ stderr }) => stderr.includes('Placement fenced'));
    // Twice as long as any retry of a delivery waits.
    const fenced = performance.now();
    await until(() => performance.now() > fenced + 2_000);
    expect(hook.delivered).toEqual([]);
  }, 90_000);

  it('tells what it has as soon as a coordinator watches it, which may have begun to lead only now', async () => {
    const { stub } = await world();
    stub.heartbeatIntervalSecs = 600;
    const worker = await Worker.start(stub);
    await until(() => stub.heartbeats.length === 1);
    const watch = await fetch(`${worker.url}/api/v1/worker/watch`, { headers: { 'x-api-key': clusterKey } });
    await until(() => stub.heartbeats.length === 2);
    await watch.body?.cancel();
  }, 90_000);

  it('serves its own API while its coordinator is away, and ends with 0 when it is told to', async () => {
    const { stub } = await world();
    const worker = await Worker.start(stub);
    await stub.close();
    await worker.process.until(({ stderr }) => stderr.includes('Heartbeat failed'));
    const ready = await fetch(`${worker.url}/ready`);
    expect(ready.status).toBe(200);
    const before = stub.heartbeats.length;
    await stub.listen();
    await until(() => stub.heartbeats.length > before);
    // As the coordinator that leads holds one to each worker; it is let go, and not waited for.
    const watch = await fetch(`${worker.url}/api/v1/worker/watch`, { headers: { 'x-api-key': clusterKey } });
    worker.process.kill('SIGTERM');
    expect(await watch.text()).toMatch(/^\{"worker_id":"w1",/);
    expect((await worker.process.ended).code).toBe(0);
  }, 90_000);
});

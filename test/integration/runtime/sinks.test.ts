import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { event, type RuntimeUnderTest, startRuntime, TENANT } from './runtime-under-test.ts';

const page = { limit: 50, offset: 0 };

describe('a pipeline that sends', () => {
  let server: Server;
  let origin: string;
  let bodies: { readonly id: string; readonly data: unknown }[];
  let status: number;
  let stateDir: string;
  let under: RuntimeUnderTest | undefined;

  beforeEach(async () => {
    bodies = [];
    status = 204;
    stateDir = mkdtempSync(join(tmpdir(), 'cep-sinks-'));
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (status < 300) bodies.push(JSON.parse(body));
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await under?.runtime.shutdown({ deadlineMs: 5_000 });
    server.closeAllConnections();
    server.close();
    rmSync(stateDir, { recursive: true, force: true });
  });

  const program = (more = ''): string => `connector Hook = http (url: "${origin}/hook"${more})
stream Alert = Tx
  .where(amount > 10)
  .emit(amount: amount)
  .to(Hook)
`;

  async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('delivers its outputs in order, under their stable ids', async () => {
    under = await startRuntime();
    const id = await under.deploy(program());
    await under.inject(
      id,
      [5, 11, 12, 13].map((amount) => event('Tx', { amount })),
    );
    await until(() => under?.runtime.scrape().connectors[0]?.pending === 0);
    expect(bodies.map(({ data }) => data)).toEqual([{ amount: 11 }, { amount: 12 }, { amount: 13 }]);
    expect(new Set(bodies.map((body) => body.id)).size).toBe(3);
    expect(under.runtime.scrape().connectors).toMatchObject([
      { pipelineId: id, connector: 'Hook', state: 'closed', delivered: 3, pending: 0 },
    ]);
  });

  it('is degraded while a circuit is open, keeps dead letters in the file, and sends them when they are replayed', async () => {
    under = await startRuntime({ stateDir });
    const id = await under.deploy(program(', retries: 0, failure_threshold: 2, reset_timeout: 1s'));
    status = 503;
    await under.inject(
      id,
      [11, 12, 13].map((amount) => event('Tx', { amount })),
    );
    const dead = async (): Promise<number> => (await under?.runtime.pipelines.deadLetters(TENANT, id, page))?.total ?? 0;
    await until(async () => (await dead()) === 3);
    expect(under.runtime.pipelines.get(TENANT, id)).toMatchObject({
      status: 'degraded',
      error: 'the circuit breaker is open: Hook',
      failingConnectors: ['Hook'],
    });
    expect(under.reports).toContainEqual(expect.objectContaining({ level: 'warn', message: 'Circuit breaker opened' }));
    expect(under.reports).toContainEqual(expect.objectContaining({ level: 'warn', message: 'DLQ write' }));
    const lines = readFileSync(join(stateDir, 'dlq.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        connector: 'Hook',
        code: 'http_503',
        pipeline_id: id,
        stream: 'Alert',
        attempts: 1,
        event: { event_type: 'Alert', data: { amount: 11 } },
      },
      { code: 'http_503' },
      { code: 'circuit_open', attempts: 0 },
    ]);
    expect((await under.runtime.pipelines.deadLetters(TENANT, id, { limit: 1, offset: 1 })).entries).toEqual([lines[1]]);
    status = 204;
    expect(await under.runtime.pipelines.replayDeadLetters(TENANT, id)).toEqual({ replayed: 3, failed: 0 });
    expect(bodies.map(({ data }) => data)).toEqual([{ amount: 11 }, { amount: 12 }, { amount: 13 }]);
    expect(await dead()).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    await under.inject(id, event('Tx', { amount: 14 }));
    await until(() => under?.runtime.pipelines.get(TENANT, id).status === 'running');
    expect(await under.runtime.pipelines.metrics(TENANT, id)).toMatchObject({ dlqEvents: 3 });
  });

  it('counts its dead letters on after a restart, also those that came behind the last checkpoint', async () => {
    under = await startRuntime({ stateDir });
    const source = `${program(', retries: 0')}stream Broken = Tx.on_error(dlq).emit(sum: name - 1)\n`;
    const id = await under.deploy(source);
    status = 400;
    await under.inject(id, event('Tx', { amount: 30, name: 'x' }));
    const counted = async (): Promise<unknown[]> => [
      (await under?.runtime.pipelines.metrics(TENANT, id))?.dlqEvents,
      under?.runtime.scrape().connectors[0]?.dlqEvents,
    ];
    await until(async () => (await counted()).join() === '2,1');
    await under.runtime.pipelines.checkpoint(TENANT, id);
    await under.runtime.shutdown({ deadlineMs: 5_000 });
    under = await startRuntime({ stateDir });
    expect(await counted()).toEqual([2, 1]);
    await under.inject(id, event('Tx', { amount: 30, name: 'x' }));
    await until(async () => (await counted()).join() === '4,2');
  });

  it('takes dead letters with it when it is deleted, and leaves those of others', async () => {
    under = await startRuntime({ stateDir });
    const ids = [await under.deploy(program(', retries: 0')), await under.deploy(program(', retries: 0'))] as const;
    status = 400;
    for (const id of ids) await under.inject(id, event('Tx', { amount: 11 }));
    const letters = (): string[] => {
      const lines = readFileSync(join(stateDir, 'dlq.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line).pipeline_id);
    };
    await until(() => letters().length === 2);
    await under.runtime.pipelines.delete(TENANT, ids[0]);
    expect(letters()).toEqual([ids[1]]);
  });

  it('delivers after a restart what was pending, once and under the same id', async () => {
    under = await startRuntime({ stateDir });
    const id = await under.deploy(program(', retries: 1000000'));
    status = 503;
    const { outputs } = await under.inject(id, event('Tx', { amount: 11 }), { durable: true });
    expect(outputs).toHaveLength(1);
    expect(await under.runtime.shutdown({ deadlineMs: 8_000 })).toEqual({ clean: true });
    status = 204;
    under = await startRuntime({ stateDir });
    await until(() => bodies.length > 0);
    await under.inject(id, event('Tx', { amount: 12 }));
    await until(() => bodies.length === 2);
    expect(bodies.map(({ data }) => data)).toEqual([{ amount: 11 }, { amount: 12 }]);
    expect(bodies[0]?.id).toContain(id);
  }, 30_000);

  it('holds up no start of the server though its sinks take nothing and what the log has for them is much', async () => {
    under = await startRuntime({ stateDir, checkpointIntervalMs: 3_600_000 });
    const id = await under.deploy(program(', retries: 1000000'));
    status = 503;
    const many = Array.from({ length: 10_500 }, () => event('Tx', { amount: 11, padding: 'x'.repeat(200) }));
    const [first, second] = [1, 2].map(() => under?.inject(id, many, { durable: true, outputs: false }));
    const ended = expect(second).rejects.toMatchObject({ code: 'pipeline_not_found' });
    await first;
    const copy = `${stateDir}.crashed`;
    cpSync(stateDir, copy, { recursive: true });
    await under.runtime.pipelines.delete(TENANT, id);
    await ended;
    await under.runtime.shutdown({ deadlineMs: 8_000 });
    rmSync(stateDir, { recursive: true });
    renameSync(copy, stateDir);
    rmSync(join(stateDir, 'store/LOCK'), { force: true });
    under = await startRuntime({ stateDir });
    expect(under.runtime.readiness().ready).toBe(true);
    expect(under.runtime.pipelines.get(TENANT, id).eventsProcessed).toBe(21_000);
    await expect(under.inject(id, event('Tx', { amount: 12 }))).rejects.toMatchObject({ code: 'queue_full' });
  }, 120_000);

  it('makes dead letters of rows that its program cannot evaluate', async () => {
    under = await startRuntime();
    const id = await under.deploy('stream Sum = Tx\n  .on_error(dlq)\n  .emit(sum: amount - 1)\n');
    await under.inject(id, [event('Tx', { amount: 2 }), event('Tx', { amount: 'x' })]);
    expect((await under.runtime.pipelines.deadLetters(TENANT, id, page)).entries.map((entry) => JSON.parse(entry))).toMatchObject([
      { connector: 'on_error', code: 'evaluation_failed', stream: 'Sum', attempts: 0, event: { data: { amount: 'x' } } },
    ]);
    expect(await under.runtime.pipelines.replayDeadLetters(TENANT, id)).toEqual({ replayed: 0, failed: 1 });
    expect(await under.runtime.pipelines.clearDeadLetters(TENANT, id)).toEqual({ cleared: 1 });
  });

  it('writes to the console of its host', async () => {
    const lines: string[] = [];
    under = await startRuntime({ console: (line) => lines.push(line) });
    const id = await under.deploy('connector Out = console ()\nstream A = Tx\n  .emit(n: n)\n  .to(Out, topic: "label")\n');
    await under.inject(id, event('Tx', { n: 1 }));
    await until(() => lines.length > 0);
    expect(lines).toEqual([expect.stringMatching(/^label: \{"event_type":"A",.*"data":\{"n":1\}\}$/)]);
  });
});

describe('tenants at work', () => {
  let under: RuntimeUnderTest;
  const source = 'stream A = Tx\n  .emit(n: n)\n';
  const body = new TextEncoder().encode('{"event_type":"Tx","fields":{"n":1}}');

  beforeEach(async () => {
    under = await startRuntime({ apiKey: 'k' });
  });
  afterEach(() => under.runtime.shutdown({ deadlineMs: 5_000 }));

  it('see nothing of each other', async () => {
    const { pipelines, tenants } = under.runtime;
    const [red, blue] = [await tenants.create({ name: 'red' }), await tenants.create({ name: 'blue' })];
    const { pipeline } = await pipelines.deploy(red.id, { name: 'same', source });
    await pipelines.deploy(blue.id, { name: 'same', source });
    const strangers = [
      () => pipelines.get(blue.id, pipeline.id),
      () => pipelines.topology(blue.id, pipeline.id),
      () => pipelines.programLog(blue.id, pipeline.id, 1),
    ];
    for (const look of strangers) expect(look).toThrow(expect.objectContaining({ code: 'pipeline_not_found' }));
    const acts = [
      pipelines.inject(blue.id, pipeline.id, { body, format: 'event' }),
      pipelines.delete(blue.id, pipeline.id),
      pipelines.stop(blue.id, pipeline.id),
      pipelines.reload(blue.id, pipeline.id, { source }),
      pipelines.checkpoint(blue.id, pipeline.id),
      pipelines.restore(blue.id, pipeline.id, body),
      pipelines.metrics(blue.id, pipeline.id),
      pipelines.deadLetters(blue.id, pipeline.id, page),
    ];
    for (const act of acts) await expect(act).rejects.toMatchObject({ code: 'pipeline_not_found' });
    await pipelines.inject(red.id, pipeline.id, { body, format: 'event' });
    expect([tenants.usage(red.id), tenants.usage(blue.id)]).toMatchObject([
      { tenantName: 'red', eventsProcessed: 1, outputEventsEmitted: 1, activePipelines: 1 },
      { tenantName: 'blue', eventsProcessed: 0, activePipelines: 1 },
    ]);
    await tenants.delete(red.id);
    expect(pipelines.all().map(({ tenantId }) => tenantId)).toEqual([blue.id]);
  });

  it('make changes one after the other, of which those that nobody waits for are not made', async () => {
    const { pipelines, tenants } = under.runtime;
    const [red, blue] = [await tenants.create({ name: 'busy' }), await tenants.create({ name: 'calm' })];
    const deploy = async (tenant: string, name: string) => (await pipelines.deploy(tenant, { name, source })).pipeline.id;
    const [first, second, other] = [await deploy(red.id, 'first'), await deploy(red.id, 'second'), await deploy(blue.id, 'other')];
    const gone = new AbortController();
    const deleted = [pipelines.delete(red.id, first), pipelines.delete(blue.id, other)];
    const refused = [pipelines.delete(red.id, second, gone), pipelines.delete(blue.id, other, gone)].map((one) =>
      expect(one).rejects.toMatchObject({ code: 'not_ready' }),
    );
    gone.abort();
    await Promise.all([...deleted, ...refused]);
    expect(pipelines.list(red.id, page).pipelines.map(({ id }) => id)).toEqual([second]);
    const reloaded = pipelines.reload(red.id, second, { source: `${source}# 2\n` }, { signal: gone.signal });
    await expect(reloaded).rejects.toMatchObject({ code: 'not_ready' });
    await expect(pipelines.deploy(red.id, { name: 'third', source }, gone)).rejects.toMatchObject({ code: 'not_ready' });
    expect(pipelines.list(red.id, page).pipelines.map(({ name, version }) => [name, version])).toEqual([['second', 1]]);
    await tenants.delete(red.id);
    await tenants.delete(blue.id);
  });

  it('get no more than their quota, and are told when to come again', async () => {
    const { pipelines, tenants } = under.runtime;
    const quota = { maxPipelines: 1, maxEventsPerSecond: 3, maxStreamsPerPipeline: 1 };
    const { id } = await tenants.create({ name: 'small', quota });
    await expect(pipelines.deploy(id, { name: 'two streams', source: `${source}stream B = Tx\n  .emit(n: n)\n` })).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    const { pipeline } = await pipelines.deploy(id, { name: 'first', source });
    await expect(pipelines.deploy(id, { name: 'second', source })).rejects.toMatchObject({ code: 'quota_exceeded' });
    const four = new TextEncoder().encode('{"event_type":"Tx","fields":{"n":1}}\n'.repeat(4));
    const tooMany = pipelines.inject(id, pipeline.id, { body: four, format: 'ndjson' });
    await expect(tooMany).rejects.toMatchObject({
      code: 'quota_exceeded',
      retryAfterSeconds: 1,
      hint: expect.stringContaining('smaller batches'),
    });
    expect(tenants.usage(id)).toMatchObject({ eventsProcessed: 0, eventsRejected: 4 });
    await pipelines.inject(id, pipeline.id, { body, format: 'event' });
    expect(tenants.usage(id)).toMatchObject({ eventsProcessed: 1 });
  });
});

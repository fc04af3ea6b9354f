import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Level } from 'level';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { EngineOpening } from '../../../worker/runtime/pipelines/engine-opening.ts';
import { DurableStorage } from '../../../worker/runtime/storage/durable-storage.ts';
import { FailingFiles } from '../../unit/runtime/failing-files.ts';
import { event, outputTexts, type RuntimeUnderTest, startRuntime, TENANT } from './runtime-under-test.ts';

const spending = `stream Spent = Tx
  .partition_by(user)
  .aggregate(user: last(user), n: count(), sum: sum(amount))
  .emit(user: user, n: n, sum: sum)
`;

const tx = (user: string, amount: number): object => event('Tx', { user, amount });
const durable = { durable: true } as const;
const page = { limit: 50, offset: 0 };

describe('a state directory', () => {
  let stateDir: string;
  let running: RuntimeUnderTest[];

  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), 'cep-state-'));
    running = [];
  });
  afterEach(async () => {
    for (const { runtime } of running) await runtime.shutdown({ deadlineMs: 5_000 });
    rmSync(stateDir, { recursive: true, force: true });
  });

  async function start(options: Parameters<typeof startRuntime>[0] = {}): Promise<RuntimeUnderTest> {
    const under = await startRuntime({ stateDir, ...options });
    running.push(under);
    return under;
  }

  async function stop(under: RuntimeUnderTest): Promise<void> {
    running = running.filter((one) => one !== under);
    expect(await under.runtime.shutdown({ deadlineMs: 5_000 })).toEqual({ clean: true });
  }

  it('brings back pipelines with state, version, labels and the numbering of outputs', async () => {
    const first = await start();
    const { pipeline } = await first.runtime.pipelines.deploy(TENANT, { name: 'spending', source: spending, labels: { team: 'x' } });
    await first.inject(pipeline.id, [tx('a', 1), tx('b', 2)]);
    await first.runtime.pipelines.reload(TENANT, pipeline.id, { source: `${spending}\nstream All = Tx\n  .emit(user: user)\n` });
    await first.inject(pipeline.id, tx('a', 3));
    await stop(first);
    const second = await start();
    expect(second.runtime.pipelines.get(TENANT, pipeline.id)).toMatchObject({
      status: 'running',
      version: 2,
      labels: { team: 'x' },
      eventsProcessed: 3,
      outputEventsEmitted: 4,
    });
    const answer = await second.inject(pipeline.id, tx('a', 4));
    expect(outputTexts(answer)).toEqual(['Spent {"user":"a","n":3,"sum":8}', 'All {"user":"a"}']);
    expect(answer.outputs.map(({ sequence }) => sequence)).toEqual([5, 6]);
  });

  it('keeps a stopped pipeline stopped and a deleted one deleted', async () => {
    const first = await start();
    const [stopped, deleted] = [await first.deploy(spending, 'stopped'), await first.deploy(spending, 'deleted')];
    await first.inject(stopped, tx('a', 1));
    await first.runtime.pipelines.stop(TENANT, stopped);
    await first.runtime.pipelines.delete(TENANT, deleted);
    await stop(first);
    const second = await start();
    expect(second.runtime.pipelines.list(TENANT, page).pipelines).toMatchObject([{ id: stopped, status: 'stopped' }]);
    await second.runtime.pipelines.start(TENANT, stopped);
    expect(outputTexts(await second.inject(stopped, tx('a', 1)))).toEqual(['Spent {"user":"a","n":2,"sum":2}']);
  });

  it('knows tenants by the digest of their key, and holds the key nowhere', async () => {
    const first = await start({ apiKey: 'the key of the server' });
    const { id, apiKey } = await first.runtime.tenants.create({ name: 'acme', plan: 'free' });
    const { pipeline } = await first.runtime.pipelines.deploy(id, { name: 'theirs', source: spending });
    await stop(first);
    const files = readdirSync(stateDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const contents = files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1')).join();
    expect(contents).toContain('acme');
    for (const secret of [apiKey, 'the key of the server']) expect(contents).not.toContain(secret);
    const second = await start({ apiKey: 'the key of the server' });
    expect(second.runtime.tenants.authenticate(apiKey)).toEqual({ tenantId: id, role: 'tenant' });
    expect(second.runtime.pipelines.get(id, pipeline.id).name).toBe('theirs');
    await second.runtime.tenants.delete(id);
    await stop(second);
    const third = await start({ apiKey: 'the key of the server' });
    expect(() => third.runtime.tenants.authenticate(apiKey)).toThrow(expect.objectContaining({ code: 'invalid_api_key' }));
    expect(third.runtime.pipelines.all()).toEqual([]);
  });

  it('belongs to one server at a time', async () => {
    await start();
    await expect(startRuntime({ stateDir })).rejects.toMatchObject({
      code: 'io_error',
      message: expect.stringContaining('another process uses it'),
    });
  });

  it('gives the first answer to an idempotency key after a restart too', async () => {
    const first = await start();
    const id = await first.deploy(spending);
    const options = { ...durable, idempotencyKey: 'once' };
    const answer = await first.inject(id, tx('a', 1), options);
    await stop(first);
    const second = await start();
    expect(await second.inject(id, tx('a', 1), options)).toMatchObject({ repeated: true, outputs: answer.outputs });
    expect(outputTexts(await second.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":2,"sum":2}']);
  });

  describe('of a server that ended in the middle', () => {
    /** As a crash leaves it: events in the log that no checkpoint has. */
    async function crashed(
      events: number,
      more: (under: RuntimeUnderTest, id: string) => Promise<unknown> = async () => undefined,
    ): Promise<string> {
      const under = await start({ checkpointIntervalMs: 3_600_000 });
      const id = await under.deploy(spending, 'spending');
      for (let n = 0; n < events; n++) await under.inject(id, tx('a', 1), durable);
      await more(under, id);
      const copy = `${stateDir}.crashed`;
      cpSync(stateDir, copy, { recursive: true });
      await stop(under);
      rmSync(stateDir, { recursive: true });
      cpSync(copy, stateDir, { recursive: true });
      rmSync(copy, { recursive: true });
      rmSync(join(stateDir, 'store/LOCK'), { force: true });
      return id;
    }

    it('knows how long nothing came, which only ticks without effect had seen', async () => {
      // However long the machine takes from tick to tick, time goes on by a few seconds.
      let now = Date.parse('2026-01-31T10:00:00Z');
      const clock = { wallMs: () => (now += 500), elapsedMs: () => performance.now() };
      const source = 'stream S = A as a -> B as b within 20s\n  .watermark(idle: 5s)\n  .emit(n: b.n)\n';
      const began = now;
      const saveIdle = vi.spyOn(DurableStorage.prototype, 'saveIdle');
      const under = await start({ checkpointIntervalMs: 50, clock });
      const id = await under.deploy(source, 'silence');
      await under.inject(id, event('A', { n: 1 }, began), durable);
      await vi.waitFor(() => expect(now).toBeGreaterThan(began + 60_000), { timeout: 15_000 });
      const before = saveIdle.mock.results.length;
      await vi.waitFor(() => expect(saveIdle.mock.results.length).toBeGreaterThan(before), { timeout: 15_000 });
      saveIdle.mockRestore();
      const copy = `${stateDir}.crashed`;
      cpSync(stateDir, copy, { recursive: true });
      rmSync(join(copy, 'store/LOCK'), { force: true });
      const late = event('B', { n: 2 }, began + 15_000);
      const without = outputTexts(await under.inject(id, late));
      const again = await start({ stateDir: copy, clock });
      try {
        expect(outputTexts(await again.inject(id, late))).toEqual(without);
        expect(without).toEqual([]);
      } finally {
        await stop(again);
        rmSync(copy, { recursive: true });
      }
    });

    it('does again what a version before accepted with more beside the events, and not what was refused for that', async () => {
      const send = (under: RuntimeUnderTest, id: string) => {
        const body = new TextEncoder().encode(`{"events":[${JSON.stringify(tx('a', 1))}],"durable":true}`);
        return expect(under.runtime.pipelines.inject(TENANT, id, { body, format: 'batch', durable: true })).rejects.toMatchObject({
          code: 'validation_error',
        });
      };
      const refused = await crashed(2, send);
      const under = await start();
      expect(under.runtime.pipelines.get(TENANT, refused)).toMatchObject({ eventsProcessed: 2 });
      await stop(under);
      rmSync(stateDir, { recursive: true });
      const accepted = await crashed(2, async (before, id) => {
        const { append } = DurableStorage.prototype;
        // A version before has nothing to take back.
        const skipless = vi.spyOn(DurableStorage.prototype, 'append').mockImplementation(function (this: DurableStorage, record) {
          return record.kind === 'skip' ? Promise.resolve() : append.call(this, record);
        });
        await send(before, id);
        skipless.mockRestore();
      });
      const again = await start();
      expect(again.runtime.pipelines.get(TENANT, accepted)).toMatchObject({ eventsProcessed: 3 });
    });

    const logPath = (): string => join(stateDir, 'log/00000001.log');

    it('does again what the log has beyond the checkpoint', async () => {
      const id = await crashed(3);
      const under = await start();
      expect(under.runtime.pipelines.get(TENANT, id)).toMatchObject({ eventsProcessed: 3, outputEventsEmitted: 3 });
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":4,"sum":4}']);
      const recovered = under.reports.find(({ message }) => message === 'State recovered')?.fields;
      expect(recovered).toMatchObject({ pipelines: 1 });
      // Ticks of the clock may stand in the log too.
      expect(recovered?.['records']).toBeGreaterThanOrEqual(3);
    });

    it('has what was first sent without durable, once a repetition with it was answered', async () => {
      const repeated = { ...durable, idempotencyKey: 'once' };
      const id = await crashed(1, async (under, pipeline) => {
        await under.inject(pipeline, tx('a', 1), { idempotencyKey: 'once' });
        expect(await under.inject(pipeline, tx('a', 1), repeated)).toMatchObject({ repeated: true });
        // It is known to be on disk from here on: no checkpoint is made for this.
        const saved = vi.spyOn(DurableStorage.prototype, 'savePipeline');
        await under.inject(pipeline, tx('a', 1));
        expect(await under.inject(pipeline, tx('a', 1), repeated)).toMatchObject({ repeated: true });
        expect(saved).not.toHaveBeenCalled();
        saved.mockRestore();
      });
      const under = await start();
      expect(under.runtime.pipelines.get(TENANT, id)).toMatchObject({ eventsProcessed: 2, outputEventsEmitted: 2 });
      expect(await under.inject(id, tx('a', 1), repeated)).toMatchObject({ repeated: true });
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":3,"sum":3}']);
    });

    it('keeps what the log has for a program that cannot start, however often that is tried', async () => {
      const id = await crashed(3);
      const opening = vi.spyOn(EngineOpening.prototype, 'open').mockRejectedValue(new CepError('connector_error', 'no profile'));
      const under = await start();
      expect(under.runtime.pipelines.get(TENANT, id).status).toBe('failed');
      await expect(under.runtime.pipelines.start(TENANT, id)).rejects.toMatchObject({ code: 'connector_error' });
      opening.mockRestore();
      await under.runtime.pipelines.start(TENANT, id);
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":4,"sum":4}']);
    });

    it('gives what the log has for a program that cannot start to the one that takes its place, with its state', async () => {
      const id = await crashed(3);
      const opening = vi.spyOn(EngineOpening.prototype, 'open').mockRejectedValue(new CepError('validation_error', 'errors'));
      const under = await start();
      opening.mockRestore();
      const { pipelines } = under.runtime;
      const source = `${spending}\nstream All = Tx\n  .emit(user: user)\n`;
      for (const careful of [{ dryRun: true }, { acceptReset: false }]) {
        const refused = {
          code: 'pipeline_not_running',
          message: 'the pipeline is failed: errors',
          hint: expect.stringContaining('`dry_run`'),
        };
        await expect(pipelines.reload(TENANT, id, { source, ...careful })).rejects.toMatchObject(refused);
      }
      await expect(pipelines.reload(TENANT, id, { source, versions: [7] })).rejects.toMatchObject({ code: 'version_conflict' });
      await expect(pipelines.reload(TENANT, id, { source: 'stream' })).rejects.toMatchObject({ code: 'parse_error' });
      expect(pipelines.get(TENANT, id)).toMatchObject({ status: 'failed', version: 1, source: spending });
      expect(await pipelines.reload(TENANT, id, { source })).toMatchObject({ reloaded: true, added: expect.arrayContaining(['All']) });
      expect(pipelines.get(TENANT, id)).toMatchObject({ status: 'running', version: 2, source });
      expect(outputTexts(await under.inject(id, tx('a', 1), durable))).toEqual(['Spent {"user":"a","n":4,"sum":4}', 'All {"user":"a"}']);
      await stop(under);
      const next = await start();
      expect(outputTexts(await next.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":5,"sum":5}', 'All {"user":"a"}']);
    });

    it('cuts a torn last record, says so, and has all before it', async () => {
      const id = await crashed(3);
      truncateSync(logPath(), readFileSync(logPath()).lastIndexOf('"amount":1') + 5);
      const under = await start();
      expect(under.reports).toContainEqual(expect.objectContaining({ level: 'warn', message: 'Torn end of the event log cut' }));
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":3,"sum":3}']);
    });

    it('passes over a record that is not as it was, says so, and has all others', async () => {
      const id = await crashed(3);
      const bytes = readFileSync(logPath());
      bytes[bytes.indexOf('"amount":1') + 9] = 0x39;
      writeFileSync(logPath(), bytes);
      const under = await start();
      expect(under.reports).toContainEqual(expect.objectContaining({ level: 'error', message: 'Corrupt record in the event log' }));
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":3,"sum":3}']);
    });

    it('finds what stands behind garbage', async () => {
      const id = await crashed(1);
      appendFileSync(logPath(), Buffer.from('LPE\x9c garbage'));
      const under = await start();
      await under.inject(id, tx('a', 1), durable);
      await stop(under);
      const again = await start();
      expect(outputTexts(await again.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":3,"sum":3}']);
    });
  });

  it('refuses durable events while the disk is full, counts none of them, and goes on when there is room', async () => {
    const logFiles = new FailingFiles();
    const first = await start({ logFiles });
    const id = await first.deploy(spending);
    await first.inject(id, tx('a', 1), durable);
    logFiles.room = 10;
    const refused = [first.inject(id, tx('a', 1), durable), first.inject(id, tx('a', 1), { ...durable, idempotencyKey: 'k' })];
    const fast = first.inject(id, tx('b', 1));
    for (const one of refused) await expect(one).rejects.toMatchObject({ code: 'storage_unavailable', retryAfterSeconds: 5 });
    expect(outputTexts(await fast)).toEqual(['Spent {"user":"b","n":1,"sum":1}']);
    expect(await first.runtime.pipelines.metrics(TENANT, id)).toMatchObject({ eventsProcessed: 2, eventsInFlight: 0 });
    expect(first.runtime.scrape().storage?.failures).toBeGreaterThan(0);
    logFiles.room = Number.POSITIVE_INFINITY;
    expect(outputTexts(await first.inject(id, tx('a', 1), { ...durable, idempotencyKey: 'k' }))).toEqual([
      'Spent {"user":"a","n":2,"sum":2}',
    ]);
    await stop(first);
    const second = await start();
    expect(outputTexts(await second.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":3,"sum":3}']);
  });

  it('reads nothing for a pipeline that it could not keep, though it cannot delete it either', async () => {
    const path = join(stateDir, '..', `${basename(stateDir)}.jsonl`);
    writeFileSync(path, `${JSON.stringify(tx('a', 1))}\n`);
    const under = await start({ workDir: tmpdir() });
    const source = `connector In = file (path: "${basename(path)}")\nevent Tx:\n  user: str\n  amount: int\nstream S = Tx\n  .from(In)\n  .emit(user: user)\n`;
    const refusal = new CepError('storage_unavailable', 'no space');
    const spies = [vi.spyOn(DurableStorage.prototype, 'savePipeline'), vi.spyOn(DurableStorage.prototype, 'deletePipeline')];
    try {
      for (const spy of spies) spy.mockRejectedValue(refusal);
      await expect(under.deploy(source, 'read')).rejects.toBe(refusal);
      for (const spy of spies) spy.mockRestore();
      const id = await under.deploy(source, 'read');
      await vi.waitFor(() => expect(under.runtime.pipelines.get(TENANT, id).eventsProcessed).toBe(1));
      const connected = under.reports.filter(({ message }) => message === 'Source connected');
      expect(connected.map(({ fields }) => fields['pipeline'])).toEqual([id]);
      expect(under.runtime.scrape().threads.map(({ pipelines }) => pipelines)).toEqual([1]);
    } finally {
      vi.restoreAllMocks();
      rmSync(path);
    }
  });

  it('falls back to the checkpoint before, and does again what came since, when the newest cannot be read', async () => {
    const first = await start({ checkpointIntervalMs: 100 });
    const id = await first.deploy(spending);
    const checkpoints = async (): Promise<number> => first.runtime.scrape().storage?.checkpointAgeSeconds ?? 0;
    for (let round = 0; round < 3; round++) {
      await first.inject(id, tx('a', 1), durable);
      while ((await checkpoints()) > 0.05) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await first.inject(id, tx('a', 1), durable);
    await stop(first);
    const store = new Level<string, Buffer>(join(stateDir, 'store'), { valueEncoding: 'buffer' });
    const keys = await store.keys({ gte: 'checkpoint/', lt: 'checkpoint0' }).all();
    expect(keys).toHaveLength(2);
    const newest = (await store.get(keys[1] as string)) as Buffer;
    newest[newest.length - 3] = (newest.at(-3) ?? 0) ^ 1;
    await store.put(keys[1] as string, newest);
    const definition = (await store.get(`pipeline/${id}`)) as Buffer;
    definition[20] = (definition[20] ?? 0) ^ 1;
    await store.put(`pipeline/${id}`, definition);
    await store.close();
    const second = await start();
    expect(second.reports.filter(({ message }) => message === 'Corrupt record in the state store')).toHaveLength(2);
    expect(outputTexts(await second.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":5,"sum":5}']);
  });
});

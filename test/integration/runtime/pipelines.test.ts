import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Output } from '../../../worker/runtime/service.ts';
import { bytesOf, event, outputTexts, type RuntimeUnderTest, startRuntime, TENANT } from './runtime-under-test.ts';

const spending = `event Tx:
  user: str
  amount: float

stream Spent = Tx
  .partition_by(user)
  .aggregate(user: last(user), n: count(), sum: sum(amount))
  .emit(user: user, n: n, sum: sum)
`;

const large = `stream Large = Tx
  .where(amount > 100)
  .emit(amount: amount)
`;

const tx = (user: string, amount: unknown): object => event('Tx', { user, amount });
const page = { limit: 50, offset: 0 };

describe('pipelines', () => {
  let under: RuntimeUnderTest;
  let workDir: string;

  beforeAll(async () => {
    workDir = mkdtempSync(join(tmpdir(), 'cep-work-'));
    under = await startRuntime({ workDir });
  });
  afterAll(async () => {
    await under.runtime.shutdown({ deadlineMs: 5_000 });
    rmSync(workDir, { recursive: true, force: true });
  });

  describe('deployment', () => {
    it('gives an entry, the streams and the warnings', async () => {
      const { pipeline, streams, warnings } = await under.runtime.pipelines.deploy(TENANT, {
        name: 'deployed',
        source: large,
        labels: { team: 'x' },
      });
      expect(pipeline).toMatchObject({
        name: 'deployed',
        status: 'running',
        source: large,
        version: 1,
        labels: { team: 'x' },
        eventsProcessed: 0,
      });
      expect(streams).toEqual(['Large']);
      expect(warnings).toMatchObject([{ severity: 'warning', code: 'W030', line: 1 }]);
    });

    it.each([
      ['parse_error', 'stream = ', 'line 1, column 8'],
      ['validation_error', 'stream A = B.where(c.d.e(', ''],
      ['validation_error', spending.replace('sum(amount)', 'sum(user)'), ''],
      ['validation_error', '', 'the program is empty'],
      ['validation_error', '# nothing\n', 'the program is empty'],
    ])('refuses with %s: %j', async (code, source, message) => {
      const refusal = under.runtime.pipelines.deploy(TENANT, { name: 'wrong', source });
      await expect(refusal).rejects.toMatchObject({
        code: expect.stringMatching(code.replace('validation_error', 'parse_error|validation_error')),
        message: expect.stringContaining(message),
      });
      expect(under.runtime.pipelines.list(TENANT, page).pipelines.map(({ name }) => name)).not.toContain('wrong');
    });

    it('is over for what still waits when a pipeline is deleted', async () => {
      const { pipelines } = under.runtime;
      const id = await under.deploy(large);
      const waiting = [pipelines.delete(TENANT, id), pipelines.watch(TENANT, id, true), pipelines.reload(TENANT, id, { source: spending })];
      const [deleted, ...others] = await Promise.allSettled(waiting);
      expect(deleted?.status).toBe('fulfilled');
      for (const other of others) expect(other).toMatchObject({ status: 'rejected', reason: { code: 'pipeline_not_found' } });
    });

    it('takes a name once, even when two ask at the same moment', async () => {
      const both = [1, 2].map(() => under.runtime.pipelines.deploy(TENANT, { name: 'twice', source: large }));
      const outcomes = await Promise.allSettled(both);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'name_taken' } });
    });

    it('reads imports of the work directory, and nothing outside of it, not even through a link', async () => {
      const outside = mkdtempSync(join(tmpdir(), 'cep-outside-'));
      writeFileSync(join(outside, 'secret.vpl'), 'const LIMIT = 7\n');
      writeFileSync(join(workDir, 'limits.vpl'), 'const LIMIT = 5\n');
      symlinkSync(join(outside, 'secret.vpl'), join(workDir, 'link.vpl'));
      const source = (path: string): string => `import "${path}"\nstream L = Tx\n  .where(amount > LIMIT)\n  .emit(amount: amount)\n`;
      const id = await under.deploy(source('limits.vpl'), 'imports');
      expect(outputTexts(await under.inject(id, [tx('a', 5), tx('a', 6)]))).toEqual(['L {"amount":6}']);
      for (const path of ['link.vpl', join(outside, 'secret.vpl'), '../secret.vpl', '/etc/passwd', 'limits.vpl/../../x.vpl']) {
        const error = await under.runtime.pipelines.deploy(TENANT, { name: 'leaves', source: source(path) }).catch((refusal) => refusal);
        expect(error).toMatchObject({ code: 'validation_error' });
        expect(JSON.stringify([error.message, error.details])).not.toMatch(/LIMIT = 7|root:|EACCES|ENOENT/);
      }
      rmSync(outside, { recursive: true });
    });

    it('refuses a connector that this build cannot use, and keeps nothing', async () => {
      const source = 'connector W = mysql (url: "postgres://127.0.0.1:1/d", table: "t")\nstream A = Tx\n  .emit(a: 1)\n  .to(W)\n';
      await expect(under.deploy(source, 'unbuilt')).rejects.toMatchObject({
        code: 'connector_error',
        message: expect.stringContaining('its url is no address of a database'),
      });
      const addressless = 'connector H = http (url: "ftp://x")\nstream A = Tx\n  .emit(a: 1)\n  .to(H)\n';
      await expect(under.deploy(addressless, 'unbuilt')).rejects.toMatchObject({ code: 'connector_error' });
      expect(under.runtime.pipelines.list(TENANT, page).pipelines.map(({ name }) => name)).not.toContain('unbuilt');
    });
  });

  describe('events', () => {
    it('answers with the outputs that the request caused, each with a sequence and an id of its own', async () => {
      const id = await under.deploy(spending, 'answers');
      const answer = await under.inject(id, [tx('a', 1), tx('b', 2), tx('a', 3)]);
      expect(outputTexts(answer)).toEqual([
        'Spent {"user":"a","n":1,"sum":1}',
        'Spent {"user":"b","n":1,"sum":2}',
        'Spent {"user":"a","n":2,"sum":4}',
      ]);
      expect(answer.outputs.map(({ sequence, eventIndex }) => [sequence, eventIndex])).toEqual([
        [1, 0],
        [2, 1],
        [3, 2],
      ]);
      expect(new Set(answer.outputs.map((output) => output.id)).size).toBe(3);
      expect(await under.inject(id, [tx('a', 1)], { outputs: false })).toMatchObject({ accepted: 1, outputs: [], outputCount: 1 });
    });

    it('takes the good events of a batch and names the bad ones by index and field', async () => {
      const id = await under.deploy(spending, 'good and bad');
      const answer = await under.inject(id, [tx('a', 1), tx('a', 'much'), 5, { fields: {} }, event('Tx', 'x' as never), tx('a', 2)]);
      expect(answer).toMatchObject({ accepted: 2, rejected: 4 });
      expect(answer.errors.map(({ index, code, field }) => [index, code, field])).toEqual([
        [1, 'invalid_event', 'amount'],
        [2, 'invalid_event', ''],
        [3, 'invalid_event', 'event_type'],
        [4, 'invalid_event', 'fields'],
      ]);
    });

    it.each([
      ['a wrong value', '{"event_type":"Tx","fields":{"user":"a","amount":"much"}}', 'amount'],
      ['a number that is not finite', '{"event_type":"Tx","fields":{"user":"a","amount":1e400}}', 'amount'],
      ['an unsafe integer', '{"event_type":"Open","fields":{"id":9007199254740993}}', 'id'],
      ['no type', '{"fields":{}}', 'event_type'],
      ['no fields', '{"event_type":"Tx"}', 'fields'],
      ['a time that is none', '{"event_type":"Tx","fields":{},"timestamp":"yesterday"}', 'timestamp'],
    ])('refuses a single event with %s, naming the field', async (_what, body, field) => {
      const id = under.runtime.pipelines.list(TENANT, page).pipelines.find(({ name }) => name === 'answers')?.id ?? '';
      await expect(under.inject(id, body, { format: 'event' })).rejects.toMatchObject({
        code: 'invalid_event',
        message: expect.stringContaining(field),
        details: { field },
      });
    });

    it('takes nothing of a body that cannot be read', async () => {
      const id = await under.deploy(spending, 'unreadable');
      for (const body of ['{', '', '{"events": [{"event_type":"Tx","fields":{"user":"a","amount":1}}, }']) {
        await expect(under.inject(id, body, { format: 'batch' })).rejects.toMatchObject({ code: 'invalid_json' });
      }
      for (const body of ['[]', '{"event": []}', '{"events": 5}']) {
        await expect(under.inject(id, body, { format: 'batch' })).rejects.toMatchObject({ code: 'validation_error' });
      }
      await expect(
        under.runtime.pipelines.inject(TENANT, id, { body: new Uint8Array([0x22, 0xff]), format: 'event' }),
      ).rejects.toMatchObject({
        code: 'invalid_json',
        message: expect.stringContaining('UTF-8'),
      });
      expect(under.runtime.pipelines.get(TENANT, id).eventsProcessed).toBe(0);
    });

    it('reads JSON lines in every shape, and reports a bad line by its index', async () => {
      const id = await under.deploy(spending, 'lines');
      const lines = [
        '{"event_type":"Tx","fields":{"user":"a","amount":1}}',
        '',
        '{"event_type":"Tx","data":{"user":"a","amount":2}}',
        '{"event_type":"Tx","user":"a","amount":3}',
        'nonsense',
        '{"type":"Tx","user":"a","amount":4}',
      ];
      const answer = await under.inject(id, lines.join('\r\n'), { format: 'ndjson' });
      expect(outputTexts(answer).at(-1)).toBe('Spent {"user":"a","n":4,"sum":10}');
      expect(answer.errors).toMatchObject([{ index: 3, code: 'invalid_event' }]);
    });

    it('keeps a field named __proto__ as data', async () => {
      const id = await under.deploy('stream P = Open\n  .emit()\n', 'prototype');
      const answer = await under.inject(id, '{"event_type":"Open","fields":{"__proto__":{"a":1},"b":2}}', { format: 'event' });
      expect(outputTexts(answer)).toEqual(['P {"__proto__":{"a":1},"b":2}']);
      expect(({} as { a?: number }).a).toBeUndefined();
    });

    it('gives the first answer again for an idempotency key, and counts the event once', async () => {
      const id = await under.deploy(spending, 'idempotent');
      const first = await Promise.all([1, 2].map(() => under.inject(id, tx('a', 1), { idempotencyKey: 'k' })));
      const again = await under.inject(id, tx('a', 1), { idempotencyKey: 'k' });
      for (const answer of [...first, again]) expect(outputTexts(answer)).toEqual(['Spent {"user":"a","n":1,"sum":1}']);
      expect([...first, again].map(({ repeated }) => repeated)).toEqual([false, true, true]);
      await expect(under.inject(id, tx('a', 2), { idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'idempotency_conflict' });
      const invalid = { idempotencyKey: 'bad' };
      for (let time = 0; time < 2; time++)
        await expect(under.inject(id, tx('a', 'x'), invalid)).rejects.toMatchObject({ code: 'invalid_event' });
      expect(under.runtime.pipelines.get(TENANT, id).eventsProcessed).toBe(1);
    });

    it('refuses to keep events without a state directory', async () => {
      const id = await under.deploy(spending, 'not durable');
      await expect(under.inject(id, tx('a', 1), { durable: true })).rejects.toMatchObject({ code: 'not_durable' });
      expect(under.runtime.pipelines.get(TENANT, id).eventsProcessed).toBe(0);
    });

    it('pushes back when a pipeline has more to do than it may hold, and works through all that it took', async () => {
      const id = await under.deploy(spending, 'full');
      const body = bytesOf(Array.from({ length: 60_000 }, (_, n) => tx(`user ${n}`, n)));
      const requests = Array.from({ length: 14 }, () =>
        under.runtime.pipelines.inject(TENANT, id, { body, format: 'batch', outputs: false }),
      );
      const outcomes = await Promise.allSettled(requests);
      const taken = outcomes.filter(({ status }) => status === 'fulfilled').length;
      const refused = outcomes.filter(({ status }) => status === 'rejected');
      expect(refused.length).toBeGreaterThan(0);
      for (const outcome of refused)
        expect(outcome).toMatchObject({ reason: { code: expect.stringMatching(/queue_full|quota_exceeded/), retryAfterSeconds: 1 } });
      expect(under.runtime.pipelines.get(TENANT, id).eventsProcessed).toBe(taken * 60_000);
      expect(await under.runtime.pipelines.metrics(TENANT, id)).toMatchObject({ eventsInFlight: 0 });
      expect(under.runtime.scrape().threads.map(({ queueBytes }) => queueBytes)).toEqual([0]);
    }, 60_000);

    it('lets time pass by the wall clock for events without a time of their own', async () => {
      const source = 'stream PerSecond = Open\n  .window(300ms)\n  .aggregate(n: count())\n  .emit(n: n)\n';
      const id = await under.deploy(source, 'clock');
      const outputs: Output[] = [];
      const isThere = new Promise<void>((resolve) => {
        const cursor = under.runtime.pipelines.follow(TENANT, id, {
          onReadable: () => {
            outputs.push(...cursor.read(10).outputs);
            resolve();
          },
          onEnd: () => undefined,
        });
      });
      await under.inject(id, event('Open'));
      await isThere;
      expect(outputs).toMatchObject([{ stream: 'PerSecond', fieldsJson: '{"n":1}', eventIndex: -1, sequence: 1 }]);
    });
  });

  describe('changing a program', () => {
    const slower = spending.replace('n: n, sum: sum)', 'n: n, sum: sum, more: n * 2)');

    it('keeps the state of what did not change, and counts versions', async () => {
      const id = await under.deploy(spending, 'reloaded');
      await under.inject(id, [tx('a', 1), tx('a', 2)]);
      const both = `${slower}\n${large}`;
      const plan = await under.runtime.pipelines.reload(TENANT, id, { source: both, dryRun: true });
      expect(plan).toMatchObject({ reloaded: false, added: ['Large'], removed: [] });
      expect(under.runtime.pipelines.get(TENANT, id)).toMatchObject({ version: 1, source: spending });
      expect(outputTexts(await under.inject(id, tx('a', 3)))).toEqual(['Spent {"user":"a","n":3,"sum":6}']);
      expect(await under.runtime.pipelines.reload(TENANT, id, { source: both })).toMatchObject({ reloaded: true, added: ['Large'] });
      expect(outputTexts(await under.inject(id, tx('a', 200)))).toEqual([
        'Spent {"user":"a","n":4,"sum":206,"more":8}',
        'Large {"amount":200}',
      ]);
      expect(under.runtime.pipelines.get(TENANT, id)).toMatchObject({ version: 2, source: both });
      expect(under.runtime.pipelines.streams(TENANT, id)).toEqual(['Spent', 'Large']);
    });

    it('leaves the old program running when the new one is wrong, or would lose state that is wanted', async () => {
      const id = await under.deploy(spending, 'kept');
      await under.inject(id, tx('a', 1));
      await expect(under.runtime.pipelines.reload(TENANT, id, { source: 'stream = ' })).rejects.toMatchObject({ code: 'parse_error' });
      const byAmount = spending.replace('.partition_by(user)', '.partition_by(amount)');
      await expect(under.runtime.pipelines.reload(TENANT, id, { source: byAmount, acceptReset: false })).rejects.toMatchObject({
        code: 'state_would_reset',
        message: expect.stringContaining('Spent'),
        details: { reloaded: false },
      });
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":2,"sum":2}']);
      expect(under.runtime.pipelines.get(TENANT, id).version).toBe(1);
    });

    it('takes a program that loses no state, whatever else changes in it, when state is wanted', async () => {
      const filtered = (least: number): string =>
        `${spending.replace('.emit(', `.where(n > ${least})\n    .emit(`)}\n${large.replace('100', `${100 + least}`)}`;
      const id = await under.deploy(filtered(0), 'refined');
      await under.inject(id, [tx('a', 1), tx('a', 2)]);
      const report = await under.runtime.pipelines.reload(TENANT, id, { source: filtered(1), acceptReset: false });
      expect(report).toMatchObject({ reloaded: true, changed: ['Spent', 'Large'], reset: [], lostState: [] });
      const { checkpointJson } = await under.runtime.pipelines.checkpoint(TENANT, id);
      expect(outputTexts(await under.inject(id, tx('a', 3)))).toEqual(['Spent {"user":"a","n":3,"sum":6}']);
      const next = await under.deploy(filtered(2), 'refined further');
      expect(await under.runtime.pipelines.restore(TENANT, next, bytesOf(checkpointJson))).toMatchObject({
        preserved: ['Spent', 'Large'],
        reset: [],
      });
      expect(outputTexts(await under.inject(next, tx('a', 3)))).toEqual(['Spent {"user":"a","n":3,"sum":6}']);
    });

    it('takes a program whose changed streams hold nothing, when state is wanted', async () => {
      const pairs = (size: number): string => spending.replace('.emit(', `.window(${size})\n    .emit(`);
      const id = await under.deploy(pairs(2), 'in pairs');
      const options = { source: pairs(3), acceptReset: false };
      await under.inject(id, tx('a', 1));
      await expect(under.runtime.pipelines.reload(TENANT, id, options)).rejects.toMatchObject({ code: 'state_would_reset' });
      await under.inject(id, tx('a', 1));
      expect(await under.runtime.pipelines.reload(TENANT, id, options)).toMatchObject({
        reloaded: true,
        changed: ['Spent'],
        lostState: [],
      });
    });

    it('loses no event while it is reloaded under load', async () => {
      const id = await under.deploy(spending, 'busy');
      const answers = [];
      const reloads = [];
      for (let n = 0; n < 60; n++) {
        answers.push(under.inject(id, [tx('a', 1), tx('a', 1)]));
        if (n % 20 === 10) reloads.push(under.runtime.pipelines.reload(TENANT, id, { source: n % 40 === 10 ? slower : spending }));
        if (n % 5 === 0) await answers.at(-1);
      }
      await Promise.all(reloads);
      const counts = (await Promise.all(answers)).flatMap(({ outputs }) => outputs.map(({ fieldsJson }) => JSON.parse(fieldsJson).n));
      expect(counts).toEqual(Array.from({ length: 120 }, (_, at) => at + 1));
    });
  });

  describe('checkpoints', () => {
    it('go back as they came, also into a changed program of another pipeline and through tools that sort members', async () => {
      const id = await under.deploy(spending, 'saved');
      await under.inject(id, [tx('a', 1), tx('a', 2.5)]);
      const { checkpointJson, eventsProcessed } = await under.runtime.pipelines.checkpoint(TENANT, id);
      expect(eventsProcessed).toBe(2);
      const document = JSON.parse(checkpointJson);
      expect(Object.keys(document).sort()).toEqual([
        'counters',
        'crc32',
        'created_at',
        'engine',
        'pipeline_id',
        'source_hash',
        'sources',
        'version',
      ]);
      await under.inject(id, tx('a', 100));
      const turned = Object.fromEntries(Object.entries(document).reverse());
      const wrapped = JSON.stringify({ pipeline_id: id, checkpoint: turned, events_processed: 2 }, null, 2);
      expect(await under.runtime.pipelines.restore(TENANT, id, bytesOf(wrapped))).toEqual({
        pipelineId: id,
        eventsRestored: 2,
        preserved: ['Spent'],
        reset: [],
      });
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":3,"sum":4.5}']);
      const other = await under.deploy(`${spending}\n${large}`, 'restored elsewhere');
      expect(await under.runtime.pipelines.restore(TENANT, other, bytesOf(checkpointJson))).toMatchObject({
        preserved: ['Spent'],
        reset: ['Large'],
      });
      expect(outputTexts(await under.inject(other, tx('a', 1)))).toEqual(['Spent {"user":"a","n":3,"sum":4.5}']);
    });

    it('are refused when they are changed, cut, too new or of other streams; the state stays', async () => {
      const id = await under.deploy(spending, 'refused');
      await under.inject(id, tx('a', 1));
      const { checkpointJson } = await under.runtime.pipelines.checkpoint(TENANT, id);
      const document = JSON.parse(checkpointJson);
      const restore = (body: unknown): Promise<unknown> =>
        under.runtime.pipelines.restore(TENANT, id, bytesOf(typeof body === 'string' ? body : JSON.stringify(body)));
      await expect(restore({ ...document, created_at: 1 })).rejects.toMatchObject({ code: 'checkpoint_corrupt' });
      await expect(restore(checkpointJson.slice(0, -20))).rejects.toMatchObject({ code: 'checkpoint_corrupt' });
      await expect(restore({})).rejects.toMatchObject({ code: 'checkpoint_corrupt' });
      await expect(restore('[]')).rejects.toMatchObject({ code: 'checkpoint_corrupt' });
      await expect(restore({ ...document, version: 2, crc32: 0 })).rejects.toMatchObject({ code: 'checkpoint_too_new' });
      const other = await under.deploy(large, 'other streams');
      await expect(under.runtime.pipelines.restore(TENANT, other, bytesOf(checkpointJson))).rejects.toMatchObject({
        code: 'checkpoint_mismatch',
      });
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":2,"sum":2}']);
    });
  });

  describe('life', () => {
    it('goes on with its state after stop and start', async () => {
      const id = await under.deploy(spending, 'stopped');
      const accepted = [under.inject(id, tx('a', 1)), under.inject(id, tx('a', 1))];
      expect(await under.runtime.pipelines.stop(TENANT, id)).toMatchObject({ status: 'stopped', eventsProcessed: 2, uptimeSeconds: 0 });
      await Promise.all(accepted);
      await expect(under.inject(id, tx('a', 1))).rejects.toMatchObject({ code: 'pipeline_not_running' });
      expect(await under.runtime.pipelines.stop(TENANT, id)).toMatchObject({ status: 'stopped' });
      expect(await under.runtime.pipelines.start(TENANT, id)).toMatchObject({ status: 'running' });
      expect(outputTexts(await under.inject(id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":3,"sum":3}']);
    });

    it('ends with delete: requests under way are refused, followers are told, the name is free', async () => {
      const id = await under.deploy(spending, 'deleted');
      const ended = new Promise((resolve) => under.runtime.pipelines.follow(TENANT, id, { onReadable: () => undefined, onEnd: resolve }));
      await under.runtime.pipelines.delete(TENANT, id);
      expect(await ended).toBe('deleted');
      expect(() => under.runtime.pipelines.get(TENANT, id)).toThrow(expect.objectContaining({ code: 'pipeline_not_found' }));
      await expect(under.inject(id, tx('a', 1))).rejects.toMatchObject({ code: 'pipeline_not_found' });
      await under.deploy(spending, 'deleted');
    });

    it('of a connection is listed nowhere', async () => {
      const { pipeline } = await under.runtime.pipelines.deploy(TENANT, { name: 'scratch', source: spending, ephemeral: true });
      expect(under.runtime.pipelines.list(TENANT, { limit: 1000, offset: 0 }).pipelines.map(({ id }) => id)).not.toContain(pipeline.id);
      expect(outputTexts(await under.inject(pipeline.id, tx('a', 1)))).toEqual(['Spent {"user":"a","n":1,"sum":1}']);
      await under.runtime.pipelines.delete(TENANT, pipeline.id);
    });
  });

  describe('looking at one', () => {
    it('gives metrics that add up', async () => {
      const id = await under.deploy(spending, 'measured');
      await under.inject(id, [tx('a', 1), tx('a', 'x'), event('Tx', { user: 'a' }), event('Unknown')]);
      expect(await under.runtime.pipelines.metrics(TENANT, id)).toMatchObject({
        eventsProcessed: 3,
        eventsInvalid: 1,
        eventsIncomplete: 1,
        outputEventsEmitted: 2,
        eventsInFlight: 0,
        streams: [{ name: 'Spent', eventsIn: 2, eventsOut: 2 }],
      });
      const scraped = under.runtime.scrape().pipelines.find(({ pipelineId }) => pipelineId === id);
      expect(scraped).toMatchObject({
        name: 'measured',
        outputsByStream: { Spent: { Spent: 2 } },
        incompleteFields: { Tx: { amount: 1 } },
        eventsByType: { Tx: 2, Unknown: 1 },
      });
      expect(scraped?.latency.p99Us).toBeGreaterThan(0);
    });

    it('scrapes what the engine counts soon after the last event, without asking it', async () => {
      const id = await under.deploy(spending, 'scraped');
      const processed = (): number | undefined =>
        under.runtime.scrape().pipelines.find(({ pipelineId }) => pipelineId === id)?.streams[0]?.eventsIn;
      for (let n = 0; n < 3; n++) await under.inject(id, tx('a', n));
      await vi.waitFor(() => expect(processed()).toBe(3), { timeout: 10_000 });
    });

    it('is degraded when a budget was hit, with stream, limit and number; what a state brings with it was not hit now', async () => {
      const { pipelines } = under.runtime;
      const pairs = 'stream Pairs = A as a -> B\n  .within(1m)\n  .max_runs(2)\n  .emit(n: a.n)\n';
      const id = await under.deploy(pairs, 'bounded');
      const opened = (count: number): Promise<unknown> =>
        under.inject(
          id,
          Array.from({ length: count }, (_, n) => event('A', { n })),
        );
      await opened(2);
      await pipelines.metrics(TENANT, id);
      expect(pipelines.get(TENANT, id)).toMatchObject({ status: 'running' });
      await opened(3);
      await pipelines.metrics(TENANT, id);
      const error = 'a state budget was hit: Pairs dropped 3 runs over .max_runs';
      expect(pipelines.get(TENANT, id)).toMatchObject({ status: 'degraded', error });
      const { checkpointJson } = await pipelines.checkpoint(TENANT, id);
      const other = await under.deploy(pairs, 'bounded too');
      await pipelines.restore(TENANT, other, bytesOf(checkpointJson));
      const { streams } = await pipelines.metrics(TENANT, other);
      expect(streams).toMatchObject([{ runsDropped: { max_runs: 3 } }]);
      expect(pipelines.get(TENANT, other)).toMatchObject({ status: 'running' });
      await pipelines.stop(TENANT, id);
      await pipelines.start(TENANT, id);
      await pipelines.metrics(TENANT, id);
      expect(pipelines.get(TENANT, id)).toMatchObject({ status: 'running' });
    });

    it('draws what flows where, without secrets', async () => {
      const source = `connector Hook = http (url: "https://user:pass@example.org/x", headers: {"x-token": "secret"})\n${large}  .to(Hook)\nstream Both = merge(Tx, Large)\n  .emit()\n`;
      const id = await under.deploy(source, 'drawn');
      const { nodes, edges } = under.runtime.pipelines.topology(TENANT, id);
      expect(nodes.map(({ id: node }) => node).sort()).toEqual(['event:Tx', 'sink:Hook', 'stream:Both', 'stream:Large']);
      expect(edges.map(({ id: edge }) => edge).sort()).toEqual([
        'event:Tx->stream:Both',
        'event:Tx->stream:Large',
        'stream:Large->sink:Hook',
        'stream:Large->stream:Both',
      ]);
      expect(JSON.stringify(nodes.filter(({ nodeType }) => nodeType === 'sink'))).not.toMatch(/secret|pass/);
    });

    it('explains a stream, and says when there is none', async () => {
      const id = await under.deploy(large, 'explained');
      await under.inject(id, tx('a', 5));
      expect(JSON.parse(await under.runtime.pipelines.explain(TENANT, id, { stream: 'Large' }))).toMatchObject({
        stream: 'Large',
        events_in: 1,
        events_out: 0,
      });
      await expect(under.runtime.pipelines.explain(TENANT, id, { stream: 'Larg' })).rejects.toMatchObject({ code: 'validation_error' });
    });

    it('keeps what the program says', async () => {
      const id = await under.deploy('stream A = Tx\n  .print(user)\n  .emit(a: 1)\n', 'talks');
      await under.inject(id, [tx('x', 1), tx('y', 1)]);
      expect(under.runtime.pipelines.programLog(TENANT, id, 10)).toMatchObject([
        { sequence: 1, stream: 'A', kind: 'print', message: expect.stringContaining('x') },
        { sequence: 2, message: expect.stringContaining('y') },
      ]);
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentText } from '../../worker/runtime/programs/checkpoint-document.ts';
import { hot, reading, Service } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(() => service.close());

const counting = 'event A:\n    x: int\n\nstream N = A.window(5).aggregate(n: count(), s: sum(x)).emit(n: n, s: s)\n';
const event = (x: number) => ({ event_type: 'A', fields: { x } });

describe('POST /checkpoint', () => {
  it('answers {pipeline_id, checkpoint, events_processed} with the members of a checkpoint', async () => {
    const path = await service.deploy(counting);
    await service.post(`${path}/events-batch`, { events: [event(1), event(2)] });
    const { status, body } = await service.post(`${path}/checkpoint`);
    const id = path.split('/').at(-1);
    expect(status).toBe(200);
    expect(body).toMatchObject({ pipeline_id: id, events_processed: 2 });
    expect(body.checkpoint).toMatchObject({
      version: 1,
      pipeline_id: id,
      source_hash: expect.any(String),
      engine: expect.any(Object),
      sources: {},
      counters: expect.any(Object),
      crc32: expect.any(Number),
    });
    expect(body.checkpoint.created_at).toBeDefined();
  });

  it('counts what its state has, also while events come in', async () => {
    const path = await service.deploy(counting);
    const events = Array.from({ length: 10_000 }, (_, x) => event(x));
    const batches = [1, 2, 3, 4].map(() => service.post(`${path}/events-batch?outputs=false`, { events }));
    await Promise.race(batches);
    const { body } = await service.post(`${path}/checkpoint`);
    await Promise.all(batches);
    const [[, inState]] = body.checkpoint.engine.event_counts.types;
    expect([body.events_processed, body.checkpoint.counters.events_processed]).toEqual([inState, inState]);
  });

  it('of a stopped pipeline is 409 pipeline_not_running', async () => {
    const path = await service.deploy(counting);
    await service.post(`${path}/stop`);
    expect(await service.post(`${path}/checkpoint`)).toMatchObject({ status: 409, body: { code: 'pipeline_not_running' } });
  });
});

describe('POST /restore', () => {
  const captured = async () => {
    const path = await service.deploy(counting);
    await service.post(`${path}/events-batch`, { events: [event(1), event(2), event(3)] });
    return { path, checkpoint: await service.post(`${path}/checkpoint`) };
  };
  const continues = async (path: string) =>
    (await service.post(`${path}/events-batch`, { events: [event(10), event(20)] })).body.output_events.map(
      ({ fields }: { fields: object }) => fields,
    );

  it('ends while events come in', async () => {
    const { path, checkpoint } = await captured();
    const events = Array.from({ length: 2_000 }, (_, x) => event(x));
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      for (let sent = 0; !isOver && sent < 200; sent++) await service.post(`${path}/events-batch?outputs=false`, { events });
      return isOver;
    });
    expect((await service.post(`${path}/restore`, checkpoint.text)).status).toBe(200);
    isOver = true;
    expect(await Promise.all(load)).toEqual([true, true, true, true]);
  });

  it('takes exactly what checkpoint returned, byte for byte', async () => {
    const { checkpoint } = await captured();
    const other = await service.deploy(counting);
    const { status, body } = await service.post(`${other}/restore`, checkpoint.text);
    expect([status, body]).toEqual([
      200,
      { pipeline_id: other.split('/').at(-1), restored: true, events_restored: 3, preserved: ['N'], reset: [] },
    ]);
    expect(await continues(other)).toEqual([{ n: 5, s: 36 }]);
  });

  it('brings the counts of the checkpoint, and numbers outputs on', async () => {
    const { path, checkpoint } = await captured();
    const counted = (await service.get(path)).body;
    const newest = async (): Promise<number> => {
      await service.post(`${path}/events-batch`, { events: [event(1), event(2), event(3), event(4), event(5)] });
      const { alerts } = (await service.get(`/api/v1/alerts?pipeline_id=${path.split('/').at(-1)}`)).body;
      return Math.max(...alerts.map(({ sequence }: { sequence: number }) => sequence));
    };
    await newest();
    const before = await newest();
    expect((await service.post(`${path}/restore`, checkpoint.text)).status).toBe(200);
    const { events_processed, output_events_emitted } = (await service.get(path)).body;
    expect({ events_processed, output_events_emitted }).toEqual({
      events_processed: 3,
      output_events_emitted: counted.output_events_emitted,
    });
    expect(await newest()).toBe(before + 1);
  });

  it('takes the checkpoint alone, after a JSON round trip', async () => {
    const { checkpoint } = await captured();
    const other = await service.deploy(counting);
    expect((await service.post(`${other}/restore`, checkpoint.body.checkpoint)).body.restored).toBe(true);
    expect(await continues(other)).toEqual([{ n: 5, s: 36 }]);
  });

  it('goes back in the pipeline that it came from', async () => {
    const { path, checkpoint } = await captured();
    await service.post(`${path}/events`, event(99));
    await service.post(`${path}/restore`, checkpoint.text);
    expect(await continues(path)).toEqual([{ n: 5, s: 36 }]);
  });

  it('keeps what a changed program still has and reports the rest as reset', async () => {
    const { checkpoint } = await captured();
    const other = await service.deploy(`${counting}stream M = A.window(2).aggregate(n: count()).emit(n: n)\n`);
    expect((await service.post(`${other}/restore`, checkpoint.text)).body).toMatchObject({ preserved: ['N'] });
  });

  it('of no stream in common is 409 checkpoint_mismatch', async () => {
    const { checkpoint } = await captured();
    expect(await service.post(`${await service.deploy(hot)}/restore`, checkpoint.text)).toMatchObject({
      status: 409,
      body: { code: 'checkpoint_mismatch' },
    });
  });

  it('of a later version is 409 checkpoint_too_new, whatever its checksum', async () => {
    const { path, checkpoint } = await captured();
    const later = { ...checkpoint.body.checkpoint, version: 2 };
    expect(await service.post(`${path}/restore`, later)).toMatchObject({ status: 409, body: { code: 'checkpoint_too_new' } });
  });

  it.each([
    ['changed', (document: { counters: object }) => ({ ...document, counters: { events_processed: 999 } })],
    ['without a checksum', ({ crc32: _crc32, ...document }: { crc32?: number }) => document],
    ['something else', () => ({ hello: 'world' })],
    ['a list', () => [1]],
  ])('of a document that is %s is 400 checkpoint_corrupt', async (_what, change) => {
    const { path, checkpoint } = await captured();
    expect(await service.post(`${path}/restore`, change(checkpoint.body.checkpoint))).toMatchObject({
      status: 400,
      body: { code: 'checkpoint_corrupt' },
    });
    expect(await continues(path)).toEqual([{ n: 5, s: 36 }]);
  });

  it.each([
    ['a text', { events_processed: 'abc' }],
    ['a negative number', { events_processed: -5 }],
    ['a number beyond all counting', { output_events_emitted: 1e308 }],
    ['a fraction', { events_invalid: 0.5 }],
    ['nothing', { events_refused: undefined }],
  ])('with %s for a counter is 400 checkpoint_corrupt, whatever its checksum', async (_what, counters) => {
    const { path, checkpoint } = await captured();
    const { crc32: _crc32, ...document } = checkpoint.body.checkpoint;
    const changed = JSON.parse(JSON.stringify({ ...document, counters: { ...document.counters, ...counters } }));
    expect(await service.post(`${path}/restore`, documentText(changed))).toMatchObject({
      status: 400,
      body: { code: 'checkpoint_corrupt', error: expect.stringContaining('/counters') },
    });
    expect((await service.get('/ready')).body.events_processed).toBeGreaterThanOrEqual(3);
    expect(await continues(path)).toEqual([{ n: 5, s: 36 }]);
  });

  it('without counters, or nested without end, is 400 checkpoint_corrupt', async () => {
    const { path, checkpoint } = await captured();
    const { crc32: _crc32, counters: _counters, ...document } = checkpoint.body.checkpoint;
    const deep = `{"version":1,"engine":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    for (const body of [documentText(document), deep]) {
      expect(await service.post(`${path}/restore`, body)).toMatchObject({ status: 400, body: { code: 'checkpoint_corrupt' } });
    }
  });

  it('of no JSON is 400', async () => {
    const { path } = await captured();
    for (const body of ['{', '']) expect((await service.post(`${path}/restore`, body)).status).toBe(400);
  });
});

describe('the dead letters of a pipeline', () => {
  it('are {entries, total}, can be replayed and cleared', async () => {
    const path = await service.deploy(hot);
    await service.post(`${path}/events`, reading(1));
    expect((await service.get(`${path}/dlq`)).body).toEqual({
      entries: [],
      total: 0,
      pagination: { total: 0, limit: 50, offset: 0, has_more: false },
    });
    expect((await service.post(`${path}/dlq/replay`)).body).toEqual({ replayed: 0, failed: 0 });
    expect((await service.delete(`${path}/dlq`)).body).toEqual({ cleared: 0 });
  });
});

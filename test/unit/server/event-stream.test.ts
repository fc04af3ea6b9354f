import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import type { Follower, Output, OutputCursor } from '../../../worker/runtime/service.ts';
import { EventStream } from '../../../worker/server/streaming/event-stream.ts';
import { Turns } from '../../../worker/server/streaming/turns.ts';
import { dropStreamClients, StreamClient } from '../../clients/event-stream-client.ts';
import { closeServers, type FakeServer, fakeServer } from './fake-server.ts';

afterEach(async () => {
  dropStreamClients();
  await closeServers();
});

const source = 'stream Hot = Reading > 30';

async function deployed(options: Parameters<typeof fakeServer>[0] = {}): Promise<{ server: FakeServer; id: string; url: string }> {
  const server = await fakeServer(options);
  const base = await server.listen();
  const { pipeline } = await server.runtime.pipelines.deploy('default', { name: 'p', source });
  return { server, id: pipeline.id, url: `${base}/api/v1/pipelines/${pipeline.id}/logs` };
}

const inject = (server: FakeServer, id: string, values: readonly number[]) =>
  server.runtime.pipelines.inject('default', id, {
    body: Buffer.from(JSON.stringify({ events: values.map((value) => ({ event_type: 'Reading', timestamp: value, fields: { value } })) })),
    format: 'batch',
  });

/** A socket that counts what it is given to write at a time. */
class CountingSocket extends Writable {
  readonly writes: string[] = [];
  override _write(chunk: Buffer, _encoding: unknown, done: () => void): void {
    this.writes.push(chunk.toString());
    done();
  }
  override _writev(chunks: readonly { chunk: Buffer }[], done: () => void): void {
    this.writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk)).toString());
    done();
  }
}

describe('what is ready for a client', () => {
  it('goes out in one write', () => {
    const socket = new CountingSocket();
    const response = Object.assign(new EventEmitter(), { socket, writeHead: () => undefined, flushHeaders: () => undefined });
    const ready: Output[] = [];
    const work: (() => void)[] = [];
    const turns = { add: (one: () => void) => void work.push(one), drop: () => undefined } as unknown as Turns;
    let wake = (): void => undefined;
    const follow = ({ onReadable }: Follower): OutputCursor => {
      wake = onReadable;
      return { position: 0, read: (max) => ({ skipped: 0, outputs: ready.splice(0, max) }), close: () => undefined };
    };
    const facts = { tenantId: 't', headers: {}, lastEventId: undefined, telemetry: {} as Telemetry, onClose: () => undefined };
    new EventStream({ ...facts, response: response as unknown as ServerResponse, follow, turns });
    socket.writes.length = 0;
    for (const sequence of [1, 2, 3]) ready.push({ sequence, stream: 'S', eventType: 'S', fieldsJson: '{}' } as Output);
    wake();
    for (const one of work.splice(0)) one();
    expect(socket.writes).toHaveLength(1);
    expect(socket.writes[0]?.match(/^id: \d$/gm)).toEqual(['id: 1', 'id: 2', 'id: 3']);
  });
});

describe('work for many clients', () => {
  afterEach(() => vi.useRealTimers());

  it('leaves a pause to everything else when there is more than fits in one turn', async () => {
    vi.useFakeTimers();
    let now = 0;
    const turns = new Turns(() => now);
    let done = 0;
    for (let n = 0; n < 5; n++)
      turns.add(() => {
        now += 1;
        done++;
      });
    const after: number[] = [];
    for (let ms = 0; ms < 10; ms++) {
      await vi.advanceTimersByTimeAsync(ms === 0 ? 0 : 1);
      after.push(done);
    }
    expect(after).toEqual([2, 2, 2, 2, 4, 4, 4, 4, 5, 5]);
  });
});

describe('the stream of a pipeline', () => {
  it('begins when what its client asked before is answered, and can be opened only where its socket is', async () => {
    const { server, id, url } = await deployed();
    const { port, pathname } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    const follow = vi.spyOn(server.runtime.pipelines, 'follow');
    socket.write(`GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET ${pathname} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    while (!text.includes('id: 0\n\n')) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(follow).toHaveBeenCalledOnce();
    await inject(server, id, [40]);
    while (!text.includes('"value":40')) await new Promise((resolve) => setTimeout(resolve, 5));
    socket.destroy();
    const response = Object.assign(new EventEmitter(), { socket: null, writeHead: () => undefined, flushHeaders: () => undefined });
    const unopened = { tenantId: 't', headers: {}, lastEventId: undefined, telemetry: {} as Telemetry, onClose: () => undefined };
    const [turns, following] = [new Turns(), vi.fn()];
    expect(() => new EventStream({ ...unopened, turns, follow: following, response: response as unknown as ServerResponse })).toThrow(
      TypeError,
    );
    expect(following).not.toHaveBeenCalled();
  });

  it('sends each output event with its sequence, type, time and data', async () => {
    const { server, id, url } = await deployed();
    const client = await StreamClient.open(url);
    expect(client.response.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
    expect(client.response.headers['x-request-id']).toBeDefined();
    await inject(server, id, [10, 40, 50]);
    await client.until(({ frames }) => frames.length === 2);
    expect(client.frames).toEqual([
      { id: '1', data: { event_type: 'Hot', timestamp: 40, data: { value: 40 } } },
      { id: '2', data: { event_type: 'Hot', timestamp: 50, data: { value: 50 } } },
    ]);
  });

  it('begins with what is to come', async () => {
    const { server, id, url } = await deployed();
    await inject(server, id, [41, 42]);
    const client = await StreamClient.open(url);
    await inject(server, id, [43]);
    await client.until(({ frames }) => frames.length > 0);
    expect(client.frames.map((frame) => frame.id)).toEqual(['3']);
  });

  it('resumes behind the Last-Event-ID', async () => {
    const { server, id, url } = await deployed();
    await inject(server, id, [41, 42, 43]);
    const client = await StreamClient.open(url, { 'last-event-id': '1' });
    await client.until(({ frames }) => frames.length === 2);
    expect(client.frames.map((frame) => frame.id)).toEqual(['2', '3']);
  });

  it('resumes from before the ring with a gap first, then the ring', async () => {
    const { server, id, url } = await deployed();
    await inject(
      server,
      id,
      Array.from({ length: 1_200 }, (_, index) => 100 + index),
    );
    const client = await StreamClient.open(url, { 'last-event-id': '50' });
    await client.until(({ frames }) => frames.length === 1_001);
    expect(client.frames[0]).toEqual({ event: 'gap', data: { skipped: 150 } });
    expect(client.frames.slice(1).map((frame) => Number(frame.id))).toEqual(Array.from({ length: 1_000 }, (_, index) => 201 + index));
  });

  it.each(['abc', '', '-1', '1.5', '99999999999999999999'])('ignores a Last-Event-ID of %o', async (lastEventId) => {
    const { server, id, url } = await deployed();
    await inject(server, id, [41]);
    const client = await StreamClient.open(url, { 'last-event-id': lastEventId });
    await inject(server, id, [42]);
    await client.until(({ frames }) => frames.length > 0);
    expect(client.frames.map((frame) => frame.id)).toEqual(['2']);
  });

  it('sends a comment now and then', async () => {
    const { url } = await deployed({ beatEveryMs: 20 });
    const client = await StreamClient.open(url);
    await client.until(({ comments }) => comments >= 3);
    expect(client.frames).toEqual([]);
  });

  it('tells a slow reader what it missed, keeps little for it, and serves the others meanwhile', async () => {
    const { server, id, url } = await deployed();
    const slow = await StreamClient.open(url);
    const quick = await StreamClient.open(url);
    slow.response.pause();
    const wide = 'x'.repeat(20_000);
    const injectWide = (from: number) =>
      server.runtime.pipelines.inject('default', id, {
        body: Buffer.from(
          JSON.stringify({
            events: Array.from({ length: 100 }, (_, index) => ({ event_type: 'Reading', fields: { value: from + index, wide } })),
          }),
        ),
        format: 'batch',
      });
    for (let round = 1; round <= 20; round++) {
      await injectWide(round * 1_000);
      await quick.until(({ frames }) => frames.at(-1)?.id === String(round * 100));
    }
    expect(quick.frames.map(({ id }) => Number(id))).toEqual(Array.from({ length: 2_000 }, (_, index) => index + 1));
    slow.response.resume();
    await slow.until(({ frames }) => frames.at(-1)?.id === '2000');
    const gaps = slow.frames.filter(({ event }) => event === 'gap').map(({ data }) => (data as { skipped: number }).skipped);
    const received = slow.frames.filter(({ event }) => event === undefined).length;
    expect(gaps.length).toBeGreaterThan(0);
    expect(received + gaps.reduce((sum, skipped) => sum + skipped, 0)).toBe(2_000);
  });

  it('ends when its pipeline is deleted', async () => {
    const { server, id, url } = await deployed();
    const client = await StreamClient.open(url);
    await server.runtime.pipelines.delete('default', id);
    await client.until(({ isEnded }) => isEnded);
    expect(client.frames).toEqual([]);
  });

  it('ends when the server stops, with what was left', async () => {
    const { server, id, url } = await deployed();
    const client = await StreamClient.open(url);
    await inject(server, id, [41]);
    server.endStreams();
    await client.until(({ isEnded }) => isEnded);
    expect(client.frames.map((frame) => frame.id)).toEqual(['1']);
  });

  it('is no longer followed once its client has gone', async () => {
    const { server, url } = await deployed();
    const client = await StreamClient.open(url);
    expect(server.runtime.pipelines.followerCount).toBe(1);
    client.response.destroy();
    while (server.runtime.pipelines.followerCount > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(server.runtime.pipelines.followerCount).toBe(0);
  });

  it('takes the key from the query, and refuses without one', async () => {
    const { url } = await deployed({ apiKey: 'server-key' });
    expect((await StreamClient.open(url)).response.statusCode).toBe(401);
    expect((await StreamClient.open(`${url}?api_key=wrong`)).response.statusCode).toBe(401);
    expect((await StreamClient.open(`${url}?api_key=server-key`)).response.statusCode).toBe(200);
  });

  it('of no pipeline is not found', async () => {
    const server = await fakeServer();
    const answer = await server.api.inject('/api/v1/pipelines/none/logs');
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'pipeline_not_found']);
  });
});

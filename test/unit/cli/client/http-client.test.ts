import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpClient, type HttpClientWorld } from '../../../../cli/client/http-client.ts';
import type { CepError } from '../../../../shared/errors/error.ts';
import { FakeServer, refusal } from './fake-server.ts';

const server = await FakeServer.start();
beforeEach(() => {
  server.reset();
});

const clients: HttpClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** Pauses that take no time, and a clock by which they alone do. */
function pausing(pauses: number[]): HttpClientWorld {
  const now = (): number => pauses.reduce((sum, ms) => sum + ms, 0);
  return { pause: async (ms) => pauses.push(ms), now };
}

/** A client whose pauses take no time, and how long they would have been. */
function clientOf(
  url = server.url,
  options: { readonly apiKey?: string; readonly timeoutMs?: number } = {},
): { client: HttpClient; pauses: number[] } {
  const pauses: number[] = [];
  const settings = { url, apiKey: options.apiKey, ca: undefined, timeoutMs: options.timeoutMs ?? 5_000 };
  const client = new HttpClient(settings, pausing(pauses));
  clients.push(client);
  return { client, pauses };
}

async function errorOf(asking: Promise<unknown>): Promise<CepError> {
  return await asking.then(
    () => {
      throw new Error('expected an error');
    },
    (error) => error,
  );
}

const ok = { json: { fine: true } };
const hangUp = (response: { destroy(): void }): void => response.destroy();
const get = { method: 'GET', path: '/x' } as const;
const post = { method: 'POST', path: '/x', body: '{}' } as const;

describe('a request to a server', () => {
  it('carries key, content type and the path of the server', async () => {
    server.on('POST /behind/a/proxy/x', ok);
    const { client } = clientOf(`${server.url}/behind/a/proxy`, { apiKey: 'k1' });
    expect(await client.request(post)).toEqual({ fine: true });
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-key': 'k1',
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^cep\//),
    });
  });

  it('is sent again when the connection is lost and it asks for nothing twice', async () => {
    server.on('GET /x', hangUp, hangUp, ok);
    const { client, pauses } = clientOf();
    expect(await client.request(get)).toEqual({ fine: true });
    expect(pauses).toHaveLength(2);
  });

  it('is sent again with the same idempotency key, and not at all without one', async () => {
    server.on('POST /x', hangUp, ok);
    const { client } = clientOf();
    await client.request({ ...post, idempotencyKey: 'once' });
    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['once', 'once']);
    server.reset().on('POST /x', hangUp, ok).on('DELETE /x', hangUp, ok);
    expect((await errorOf(client.request(post))).message).toBe(`the connection to ${server.url} ended before the answer came`);
    await errorOf(client.request({ method: 'DELETE', path: '/x' }));
    expect(server.requests).toHaveLength(2);
  });

  it('gives up after three losses', async () => {
    server.on('GET /x', hangUp);
    expect((await errorOf(clientOf().client.request(get))).exitCode).toBe(4);
    expect(server.requests).toHaveLength(3);
  });

  it('is sent no more once the time is over that it may take, however short the pauses', async () => {
    const off = { ...refusal(503, 'unavailable', 'nobody leads'), headers: { 'retry-after': '1' } };
    server.on('POST /x', off);
    const noted: string[] = [];
    const pauses: number[] = [];
    const settings = { url: server.url, apiKey: undefined, ca: undefined, timeoutMs: 8_000, patienceMs: 8_000 };
    const client = new HttpClient(settings, { ...pausing(pauses), note: (text) => noted.push(text) });
    clients.push(client);
    expect((await errorOf(client.request(post))).message).toBe('nobody leads (unavailable)');
    expect(pauses).toEqual(Array.from({ length: 8 }, () => 1_000));
    expect(noted).toEqual(['nobody leads (unavailable): asking again']);
  });

  it('is not sent again when all its time went by without an answer', async () => {
    server.on('GET /x', () => undefined);
    const { client } = clientOf(server.url, { timeoutMs: 100 });
    expect((await errorOf(client.request(get))).message).toContain('did not answer within');
    expect(server.requests).toHaveLength(1);
  });

  it('waits as long as the server asks for when it was put off, whatever it asks for', async () => {
    const full = refusal(429, 'queue_full', 'the queue is full', { retry_after_seconds: 2 });
    const limited = { status: 429, headers: { 'retry-after': '5' }, json: { error: 'slowly', code: 'rate_limited' } };
    server.on('POST /x', full, limited, ok);
    const { client, pauses } = clientOf();
    expect(await client.request(post)).toEqual({ fine: true });
    expect(pauses).toEqual([2000, 5000]);
  });

  it('gives up when it is put off for more than a minute', async () => {
    server.on('GET /x', refusal(429, 'queue_full', 'the queue is full', { retry_after_seconds: 20 }));
    const { client, pauses } = clientOf();
    expect(await errorOf(client.request(get))).toMatchObject({ code: 'queue_full', exitCode: 4 });
    expect(pauses).toEqual([20_000, 20_000, 20_000]);
  });

  it('is not sent again when waiting does not help', async () => {
    server.on('POST /x', refusal(429, 'quota_exceeded', 'no more pipelines'));
    expect((await errorOf(clientOf().client.request({ ...post, idempotencyKey: 'k' }))).code).toBe('quota_exceeded');
    expect(server.requests).toHaveLength(1);
  });

  it('is sent again when a proxy cannot reach the server', async () => {
    server.on('GET /x', { status: 502, text: '<html>Bad Gateway</html>' }, ok);
    expect(await clientOf().client.request(get)).toEqual({ fine: true });
    server.on('POST /x', { status: 503, text: 'unavailable' }, ok);
    expect((await errorOf(clientOf().client.request(post))).message).toContain('is no cep server: status 503');
  });
});

describe('an answer that is an error', () => {
  it('gives code, message and details, and a hint in terms of the command line', async () => {
    server.on('GET /x', refusal(401, 'invalid_api_key', 'the API key is not known', { hint: 'send x-api-key', details: { a: 1 } }));
    expect(await errorOf(clientOf().client.request(get))).toMatchObject({
      code: 'invalid_api_key',
      message: 'the API key is not known',
      hint: expect.stringContaining('--api-key-file'),
      details: { a: 1 },
      exitCode: 4,
    });
  });

  it('keeps the hint of the server where there is no better one', async () => {
    server.on('GET /x', refusal(409, 'checkpoint_mismatch', 'no stream fits', { hint: 'take another' }));
    expect((await errorOf(clientOf().client.request(get))).hint).toBe('take another');
  });

  it('names the request of a defect, for the log', async () => {
    server.on('GET /x', refusal(500, 'internal_error', 'a defect'));
    expect((await errorOf(clientOf().client.request(get))).hint).toContain('request r1');
  });

  it('shows a code that this version does not know', async () => {
    server.on('GET /x', refusal(418, 'is_a_teapot', 'no coffee'));
    expect(await errorOf(clientOf().client.request(get))).toMatchObject({ code: 'runtime_error', message: 'no coffee (is_a_teapot)' });
  });

  it.each([
    ['a page', { status: 404, text: '<html>' }, /is no cep server: status 404/],
    ['a page where data was expected', { status: 200, text: '<html>' }, /is no cep server: status 200/],
    ['a redirect', { status: 301, headers: { location: 'https://other' }, text: '' }, /sends to https:\/\/other/],
  ])('says that the server is another when it is %s', async (_, answer, message) => {
    server.on('GET /x', answer);
    expect(await errorOf(clientOf().client.request(get))).toMatchObject({ message: expect.stringMatching(message), exitCode: 4 });
  });
});

describe('a server that does not answer', () => {
  it('is told from one that is down', async () => {
    const { port } = await new Promise<AddressInfo>((resolve) => {
      const unused = createServer().listen(0, '127.0.0.1', () => {
        const address = unused.address() as AddressInfo;
        unused.close(() => resolve(address));
      });
    });
    const { client, pauses } = clientOf(`http://127.0.0.1:${port}`);
    expect(await errorOf(client.request(get))).toMatchObject({
      message: `no server answers at http://127.0.0.1:${port}: the connection was refused`,
      hint: expect.stringContaining("'cep server'"),
      exitCode: 4,
    });
    expect(pauses).toEqual([]);
  });

  it('is given up when its time is over', async () => {
    server.on('POST /x', () => undefined);
    const { client } = clientOf(server.url, { timeoutMs: 20 });
    expect(await errorOf(client.request(post))).toMatchObject({
      message: `${server.url} did not answer within 20ms`,
      hint: expect.stringContaining('--timeout'),
    });
  });

  it('is told from one that has no TLS', async () => {
    const url = server.url.replace('http:', 'https:');
    expect(await errorOf(clientOf(url).client.request(get))).toMatchObject({
      message: `what answers at ${url} does not speak TLS`,
      hint: expect.stringContaining(server.url),
    });
  });

  it('is told from one that speaks another protocol', async () => {
    const other = createServer((socket) => socket.end('220 mail ready\r\n'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect((await errorOf(clientOf(url).client.request(get))).message).toBe(`what answers at ${url} does not speak HTTP`);
    other.close();
  });
});

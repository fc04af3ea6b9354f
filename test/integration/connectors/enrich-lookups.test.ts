import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RuntimeUnderTest, startRuntime, TENANT } from '../runtime/runtime-under-test.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

describe('a pipeline that looks up with .enrich', () => {
  let under: RuntimeUnderTest;
  let server: Server;
  let asked: string[] = [];
  let open = 0;
  let openMax = 0;
  /** How long the answer to a key takes, ms. */
  let delayMs: (key: string) => number = () => 0;
  /** Answers that have begun, and do not end by themselves. */
  let dripping = 0;
  beforeEach(async () => {
    [asked, open, openMax, delayMs] = [[], 0, 0, () => 0];
    server = createServer((request, response) => {
      const key = decodeURIComponent((request.url ?? '').split('/').at(-1) ?? '');
      asked.push(key);
      openMax = Math.max(openMax, ++open);
      void sleep(delayMs(key)).then(() => {
        open--;
        if (key.startsWith('drip')) drip(response);
        else if (key === 'large') response.end('{"role": 9007199254740993, "level": [1e400, 1e20]}');
        else if (key === 'nobody') response.writeHead(404).end();
        else response.end(JSON.stringify({ role: `role of ${key}`, level: key.length }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    under = await startRuntime({});
  });
  afterEach(async () => {
    await under.runtime.shutdown({ deadlineMs: 5_000 });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const drip = (response: ServerResponse): void => {
    dripping++;
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => {
      clearInterval(timer);
      dripping--;
    });
  };
  const program = (more: string): string => `
event Login:
    user: str

connector Users = http (url: "http://127.0.0.1:${(server.address() as AddressInfo).port}/users")

stream Known = Login
    .enrich(Users, key: user, fields: [role, level]${more})
    .emit(user, role, level, how: enrich_status)
`;
  const logins = (...users: readonly string[]): { event_type: string; fields: { user: string } }[] =>
    users.map((user) => ({ event_type: 'Login', fields: { user } }));
  const fieldsOf = async (id: string, users: readonly string[]): Promise<unknown[]> => {
    const { outputs } = await under.inject(id, logins(...users));
    return outputs.map(({ fieldsJson }) => JSON.parse(fieldsJson));
  };

  it('asks side by side, and gives what was found in the order of the events', async () => {
    delayMs = (key) => (key === 'u0' ? 300 : 20);
    const id = await under.deploy(program(''));
    const users = Array.from({ length: 200 }, (_, at) => `u${at}`);
    const found = await fieldsOf(id, users);
    expect(found).toEqual(users.map((user) => ({ user, role: `role of ${user}`, level: user.length, how: 'ok' })));
    expect(openMax).toBeGreaterThan(1);
    expect(openMax).toBeLessThanOrEqual(64);
    expect(under.runtime.scrape().pipelines[0]?.lookups).toContainEqual({ connector: 'Users', result: 'ok', count: 200 });
  });

  it('takes a number that it cannot hold for the text that it is', async () => {
    const id = await under.deploy(program(''));
    expect(await fieldsOf(id, ['large'])).toEqual([{ user: 'large', role: '9007199254740993', level: ['1e400', 1e20], how: 'ok' }]);
  });

  it('asks for a key once while the cache has it', async () => {
    const id = await under.deploy(program(', cache_ttl: 5m'));
    expect(await fieldsOf(id, ['ann', 'ann', 'bob'])).toMatchObject([{ how: 'ok' }, { how: 'cached' }, { how: 'ok' }]);
    expect(await fieldsOf(id, ['ann'])).toMatchObject([{ how: 'cached', role: 'role of ann' }]);
    expect(asked).toEqual(['ann', 'bob']);
  });

  it('gives the fallback when nothing is there, and when the answer does not come in time', async () => {
    delayMs = (key) => (key === 'slow' ? 1_000 : 0);
    const id = await under.deploy(program(', timeout: 100ms, fallback: {role: "unknown"}'));
    expect(await fieldsOf(id, ['nobody', 'slow', 'ann'])).toEqual([
      { user: 'nobody', role: 'unknown', level: null, how: 'fallback' },
      { user: 'slow', role: 'unknown', level: null, how: 'fallback' },
      { user: 'ann', role: 'role of ann', level: 3, how: 'ok' },
    ]);
  });

  it('gives the fallback when an answer has begun in time and does not end, leaves none of them open, and goes on', async () => {
    const id = await under.deploy(program(', timeout: 1s, fallback: {role: "unknown"}'));
    // More than are asked for at a time.
    const slow = Array.from({ length: 70 }, (_, at) => `drip${at}`);
    expect(await fieldsOf(id, [...slow, 'ann'])).toEqual([
      ...slow.map((user) => ({ user, role: 'unknown', level: null, how: 'fallback' })),
      { user: 'ann', role: 'role of ann', level: 3, how: 'ok' },
    ]);
    await vi.waitFor(() => expect(dripping).toBe(0), { timeout: 10_000 });
    const counted = (): unknown => under.runtime.scrape().pipelines[0]?.lookups;
    await vi.waitFor(() => expect(counted()).toContainEqual({ connector: 'Users', result: 'error', count: slow.length }), {
      timeout: 10_000,
    });
    expect(await fieldsOf(id, ['bob'])).toMatchObject([{ how: 'ok' }]);
  });

  it('leaves the key one part of the address, whatever is in it', async () => {
    const id = await under.deploy(program(', fallback: {role: "none"}'));
    expect(await fieldsOf(id, ['a/../b?c#d', '..'])).toMatchObject([{ how: 'ok' }, { how: 'fallback' }]);
    expect(asked).toEqual(['a/../b?c#d']);
  });

  it('goes on after a reload that names another address', async () => {
    const id = await under.deploy(program(''));
    expect(await fieldsOf(id, ['ann'])).toMatchObject([{ how: 'ok' }]);
    const { source } = under.runtime.pipelines.get(TENANT, id);
    await under.runtime.pipelines.reload(TENANT, id, { source: source.replace('/users"', '/people"') });
    expect(await fieldsOf(id, ['bob'])).toMatchObject([{ how: 'ok', role: 'role of bob' }]);
  });
});

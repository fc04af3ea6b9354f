import './session-storage.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { link, unlock } from '../../../cli/console/service/link.ts';
import { ask } from '../../../cli/console/service/requests.ts';

let answer: () => Response;

beforeEach(() => {
  unlock();
  vi.stubGlobal('fetch', async () => answer());
});

afterEach(() => vi.unstubAllGlobals());

const json = (status: number, body: object) => (): Response => new Response(JSON.stringify(body), { status });
const html = (status: number) => (): Response => new Response('<h1>Bad Gateway</h1>', { status });

describe('a server is away', () => {
  it('when nothing answers', async () => {
    answer = () => {
      throw new TypeError('fetch failed');
    };
    await expect(ask('/api/v1/usage')).rejects.toThrow('the server does not answer');
    expect(link.value.state).toBe('lost');
  });

  it.each([502, 503, 504])('when a proxy before it answers with %i', async (status) => {
    answer = html(status);
    await expect(ask('/api/v1/usage')).rejects.toThrow(`the server answered with status ${status}`);
    expect(link.value.state).toBe('lost');
    answer = json(200, {});
    await ask('/api/v1/usage');
    expect(link.value.state).toBe('open');
  });
});

describe('a server is there', () => {
  it.each([
    ['refuses', json(503, { error: 'too much to do', code: 'overloaded' })],
    ['knows no such path', json(404, { error: 'no pipeline', code: 'pipeline_not_found' })],
    ['fails', html(500)],
  ])('that %s', async (_what, given) => {
    answer = given;
    await expect(ask('/api/v1/usage')).rejects.toThrow();
    expect(link.value.state).toBe('open');
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Service, serverKey } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ settings: { 'server.port': { value: 9_000, origin: 'flag', where: '--port' } } });
});

afterAll(() => service.close());

const fetched = (path: string, headers: Record<string, string> = {}): Promise<Response> => fetch(`${service.url}${path}`, { headers });

describe('GET /console', () => {
  it('needs no key, and has pages that run nothing inline and ask nobody else', async () => {
    const { status, headers } = await fetched('/console');
    const policy = headers.get('content-security-policy') ?? '';
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*/);
  });

  it('has everything that its page names', async () => {
    const html = await (await fetched('/console/')).text();
    const named = Array.from(html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g), ([, path]) => path as string);
    expect(named).toHaveLength(2);
    for (const path of named) expect([path, (await fetched(path)).status]).toEqual([path, 200]);
    expect(html).not.toMatch(/<style|style=|<script(?! type="module" src=)|\son\w+=/);
  });

  it('is sent once, and compressed', async () => {
    const first = await fetched('/console/main.js');
    expect([first.headers.get('content-encoding'), first.headers.get('cache-control')]).toEqual(['gzip', 'no-cache']);
    expect((await fetched('/console/main.js', { 'if-none-match': first.headers.get('etag') ?? '' })).status).toBe(304);
  });

  it('knows its own files, and no others', async () => {
    for (const path of ['/console/nothing.js', '/console/..%2fmain.js', '/console/%2e%2e%2f%2e%2e%2fpackage.json', '/console/main.js.map'])
      expect([path, (await fetched(path)).status]).toEqual([path, 404]);
  });

  it('leads from the path of a page to the page', async () => {
    for (const [path, place] of [
      ['/console/pipelines', '/console#/pipelines'],
      ['/console/pipelines/p_1/explain?stream=Hot', '/console#/pipelines/p_1/explain?stream=Hot'],
      ['/console/pipelines/a%2Fb%0d%0ax', '/console#/pipelines/a%2Fb%0d%0ax'],
      ['/console/workers/w.1', '/console#/workers/w.1'],
    ] as const) {
      const { status, headers } = await fetch(`${service.url}${path}`, { redirect: 'manual' });
      expect([path, status, headers.get('location')]).toEqual([path, 302, place]);
    }
  });

  it('is named by the index', async () => {
    expect((await service.get('/')).body.console).toBe('/console');
  });
});

describe('GET /api/v1/settings', () => {
  it("shows the server's own key what the server was started with", async () => {
    const { body } = await service.get('/api/v1/settings', { key: serverKey });
    expect(body).toEqual({ settings: { 'server.port': { value: 9_000, origin: 'flag', where: '--port' } } });
  });
});

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, hot, Service } from './service.ts';

describe('a request that creates something, repeated with its idempotency key behind a restart', () => {
  let stateDir: string;
  let service: Service;
  let offset: number;
  const clock = { wallMs: () => Date.now(), elapsedMs: () => performance.now() + offset };

  beforeEach(async () => {
    offset = 0;
    stateDir = mkdtempSync(join(tmpdir(), 'cep-repeats-'));
    service = await Service.start({ stateDir, clock });
  });
  afterEach(async () => {
    await service.close();
    rmSync(stateDir, { recursive: true });
  });

  async function restart(options: { readonly apiKey?: string } = {}): Promise<void> {
    await service.close();
    service = await Service.start({ stateDir, clock, ...options });
  }

  const requests: readonly (readonly [string, string, (n: string) => object])[] = [
    ['a deploy', '/api/v1/pipelines', (name) => ({ name, source: hot })],
    ['a tenant', '/api/v1/tenants', (name) => ({ name })],
  ];
  const send = (path: string, body: object, key = 'k-1'): Promise<Answer> =>
    service.post(path, body, { headers: { 'idempotency-key': key } });

  describe.each(requests)('%s', (_what, path, body) => {
    it('gets the first answer', async () => {
      const first = await send(path, body('one'));
      expect(first.status).toBe(201);
      expect(await send(path, body('one'))).toMatchObject({ status: 201, body: first.body });
      await restart();
      expect(await send(path, body('one'))).toMatchObject({ status: 201, body: first.body });
      await restart();
      expect(await send(path, body('one'))).toMatchObject({ status: 201, body: first.body });
    });

    it('is a conflict with another body', async () => {
      await send(path, body('one'));
      await restart();
      expect(await send(path, body('two'))).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
    });

    it('is a request of its own with another key, and after ten minutes', async () => {
      await send(path, body('one'));
      await restart();
      expect(await send(path, body('one'), 'k-2')).toMatchObject({ status: 409, body: { code: 'name_taken' } });
      offset = 600_001;
      expect(await send(path, body('one'))).toMatchObject({ status: 409, body: { code: 'name_taken' } });
      await send(path, body('later'), 'k-3');
      await restart();
      expect(await send(path, body('one'))).toMatchObject({ status: 409, body: { code: 'name_taken' } });
    });

    it('is not kept when it was refused', async () => {
      await service.post(path, body('one'));
      expect(await send(path, body('one'))).toMatchObject({ status: 409 });
      await restart();
      expect(await send(path, body('other'))).toMatchObject({ status: 201 });
    });
  });

  it('shows the key of a tenant to nobody who reads the state directory', async () => {
    const { body } = await send('/api/v1/tenants', { name: 'acme' });
    await restart();
    const files = readdirSync(stateDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const contents = files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1')).join();
    for (const secret of [body.api_key, Buffer.from(body.api_key).toString('base64').slice(0, 40)]) expect(contents).not.toContain(secret);
    expect(contents).not.toContain('k-1');
  });
});

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { CepError, type StartServerOptions, startServer } from '../../../worker/server/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'cep-failed-start-'));
const stateDir = join(folder, 'state');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const working: StartServerOptions = { port: 0, stateDir, writeLog: () => undefined, engineThreads: 1 };

async function listening(): Promise<Server & { readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(server, { port: (server.address() as { port: number }).port });
}

/** Threads, sockets and files that keep the process alive; of timers the test runner has its own. */
const kept = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((one) => !/^(Timeout|Immediate|TTYWrap)$/.test(one))
    .sort();

/** What is kept now and was not before; what is on its way out may be gone meanwhile. */
function added(before: readonly string[]): readonly string[] {
  const left = [...before];
  return kept().filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

describe('a server that cannot start', () => {
  test.each<readonly [step: string, options: StartServerOptions]>([
    ['its certificate is missing', { tls: { certPath: join(folder, 'none.pem'), keyPath: join(folder, 'none.pem') } }],
    ['its work directory is missing', { workDir: join(folder, 'none') }],
    ['a network of tenants is none', { tenantNetworks: ['nonsense'] }],
    ['a proxy is no address', { trustedProxies: ['nonsense'] }],
    ['its log has no such level', { logging: { level: 'loud' as 'info', format: 'text', timestamps: true } }],
    ['its address is not of this machine', { bind: '192.0.2.1' }],
  ])('leaves nothing running when %s', async (_step, options) => {
    const before = kept();
    await expect(
      startServer({ ...working, metricsPort: 0, tracing: { endpoint: 'http://127.0.0.1:9', ratio: 1 }, ...options }),
    ).rejects.toThrow(CepError);
    await vi.waitFor(() => expect(added(before)).toEqual([]));
    const second = await startServer(working);
    expect(await second.close()).toBe(true);
  });

  test.each([
    ['tlsCert', 'tls'],
    ['tls-key', 'tls'],
    ['api-key', 'apiKey'],
    ['workdir', 'workDir'],
    ['checkpointInterval', 'checkpointIntervalMs'],
    ['metrics', 'metricsPort'],
    ['sateDir', 'stateDir'],
  ])('is one that is given %s, for %s', async (name, meant) => {
    const options = { ...working, [name]: 'x' } as StartServerOptions;
    await expect(startServer(options)).rejects.toMatchObject({
      code: 'config_error',
      message: `a server has no option '${name}'`,
      hint: `did you mean '${meant}'?`,
    });
  });

  test.each<readonly [name: keyof StartServerOptions, value: unknown, found: string]>([
    ['apiKey', '', 'another value'],
    ['apiKey', 'short', 'another value'],
    ['apiKey', 'two words', 'another value'],
    ['port', '9000', "the text '9000'"],
    ['port', 70_000, '70000'],
    ['rateLimit', -1, '-1'],
    ['rateLimit', 'x', "the text 'x'"],
    ['checkpointIntervalMs', Number.NaN, 'NaN'],
    ['checkpointIntervalMs', 0, '0'],
    ['checkpointIntervalMs', 3e9, '3000000000'],
    ['engineThreads', 0, '0'],
    ['engineThreads', 1.5, '1.5'],
    ['keepBackups', null, 'null'],
    ['strictEvents', 'false', "the text 'false'"],
    ['corsOrigins', '*', "the text '*'"],
    ['profiles', {}, 'another value'],
    ['stateDir', '', "the text ''"],
    ['cluster', {}, 'an object with no members'],
    ['tls', { cert: 'a', key: 'b' }, 'an object with cert, key'],
    ['logging', { level: 'info' }, 'an object with level'],
  ])('is one that is given as %s %o', async (name, value, found) => {
    const start = startServer({ ...working, [name]: value } as StartServerOptions);
    await start.then(
      (server) => server.close(),
      () => undefined,
    );
    await expect(start).rejects.toMatchObject({
      code: 'config_error',
      message: expect.stringContaining(`option '${name}': found ${found}, expected `),
    });
  });

  test.each(['port', 'metricsPort'] as const)('leaves nothing running when its %s is in use', async (name) => {
    const other = await listening();
    const before = kept();
    try {
      await expect(startServer({ ...working, [name]: other.port })).rejects.toThrow(/in use/);
      await vi.waitFor(() => expect(added(before)).toEqual([]));
      const second = await startServer(working);
      expect(await second.close()).toBe(true);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });

  test('leaves nothing running when the dead letters cannot be opened', async () => {
    const damaged = join(folder, 'damaged');
    mkdirSync(join(damaged, 'dlq.jsonl'), { recursive: true });
    const before = kept();
    await expect(startServer({ ...working, stateDir: damaged })).rejects.toThrow();
    await vi.waitFor(() => expect(added(before)).toEqual([]));
    rmSync(join(damaged, 'dlq.jsonl'), { recursive: true });
    const second = await startServer({ ...working, stateDir: damaged });
    expect(await second.close()).toBe(true);
  });
});

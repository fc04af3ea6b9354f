import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { CepProcess, type Ended } from './cep-process.ts';

vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'cep-client-'));
const certificates = new URL('../server/certificates/', import.meta.url).pathname;
const running: CepProcess[] = [];
afterEach(() => {
  for (const cep of running.splice(0)) cep.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const key = 'key-of-the-test';
const config = write('json.yaml', 'logging:\n  format: json\n');
const program = 'event Reading:\n    value: float\n\nstream Hot = Reading.where(value > 30).emit(value: value)\n';
const rules = write('rules.vpl', program);

function start(args: readonly string[], env: Readonly<Record<string, string>>): CepProcess {
  const started = new CepProcess(args, { env });
  running.push(started);
  return started;
}

interface Served {
  readonly server: CepProcess;
  /** Runs a client command against the server to its end. */
  readonly cep: (...args: readonly string[]) => Promise<Ended>;
  /** Starts a client command against the server. */
  readonly begin: (...args: readonly string[]) => CepProcess;
  readonly url: string;
}

async function serve(args: readonly string[] = [], clientEnv: Readonly<Record<string, string>> = {}): Promise<Served> {
  const server = start(['--config', config, 'server', '--port', '0', ...args], { CEP_API_KEY: key });
  await server.until(({ stderr }) => stderr.includes('"Server ready"'));
  const url = /"url":"([^"]+)"/.exec(server.stderr)?.[1] ?? '';
  const env = { CEP_SERVER: url, CEP_API_KEY: key, HOME: folder, ...clientEnv };
  const begin = (...words: readonly string[]): CepProcess => start(words, env);
  return { server, url, begin, cep: (...words) => begin(...words).ended };
}

function success({ code, stdout, stderr }: Ended): string {
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

describe('client commands against a server', () => {
  it('deploy, list, feed, follow, change, count and remove a pipeline', async () => {
    const { cep, begin } = await serve();
    expect(success(await cep('deploy', rules))).toMatch(/^Deployed rules: running, id p_\w+\n$/);
    const logs = begin('logs', 'rules', '--after', '0');
    const event = ['--event', 'Reading { value: 41.5 }'];
    expect(success(await cep('inject', 'rules', ...event))).toMatch(/\] Hot \{ value: 41\.5 \}\n1 event accepted, 1 alert\n$/);
    await logs.until(({ stdout }) => stdout.includes('Hot { value: 41.5 }'));

    const events = write('events.evt', '@0s Reading { value: 50 }\n@1s Reading { value: "hot" }\n@2s Reading { value: 1 }\n');
    const fed = await cep('inject', 'rules', '--file', events);
    expect([fed.code, fed.stdout]).toEqual([1, expect.stringContaining('2 events accepted, 1 refused, 1 alert\n')]);
    expect(fed.stderr).toContain('events.evt:2: invalid event: Reading: field `value`');
    await logs.until(({ stdout }) => stdout.includes('Hot { value: 50 }'));

    const changed = write('changed.vpl', `${program}\nstream Cold = Reading.where(value < 0).emit(value: value)\n`);
    expect(success(await cep('reload', 'rules', changed, '--dry-run'))).toContain('Plan for rules, nothing was changed\n');
    expect(success(await cep('pipeline', 'rules', '--source'))).toBe(program);
    expect(success(await cep('reload', 'rules', changed))).toMatch(/^Reloaded rules\n(.*\n)* {2}added: {5}Cold\n$/);
    success(await cep('inject', 'rules', '--event', 'Reading { value: -1 }'));
    await logs.until(({ stdout }) => stdout.includes('Cold { value: -1 }'));

    expect(JSON.parse(success(await cep('pipelines', '--json')))).toMatchObject({
      pipelines: [{ name: 'rules', version: 2, alerts_generated: 3 }],
      total: 1,
    });
    expect(JSON.parse(success(await cep('usage', '--json')))).toMatchObject({ active_pipelines: 1, output_events_emitted: 3 });
    logs.kill('SIGINT');
    expect((await logs.ended).code).toBe(0);
    expect(success(await cep('undeploy', 'rules'))).toMatch(/^Removed rules, id p_\w+\n$/);
    expect(await cep('pipeline', 'rules')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("no pipeline has the id or the name 'rules'"),
    });
  });

  it('shows the errors of a program as check does, and lets the old one run on', async () => {
    const { cep } = await serve();
    success(await cep('deploy', rules));
    const wrong = write('wrong.vpl', program.replace('.emit', '.emti'));
    const checked = await cep('check', wrong);
    expect(checked.stdout).toContain('wrong.vpl:4:');
    expect(await cep('deploy', wrong)).toMatchObject({ code: 1, stdout: '', stderr: checked.stdout });
    expect(await cep('reload', 'rules', wrong)).toMatchObject({ code: 1, stdout: '', stderr: checked.stdout });
    expect(success(await cep('pipeline', 'rules', '--source'))).toBe(program);
  });

  it('deploys a folder of rules with what they import, and checks them by the server that would run them', async () => {
    const state = ['--state-dir', join(folder, 'state-of-imports')];
    const { cep, server, url } = await serve(state);
    for (const name of ['tree/rules/parts', 'tree/types']) mkdirSync(join(folder, name), { recursive: true });
    write('tree/types/reading.vpl', 'event Reading:\n    value: float\n');
    write('tree/rules/parts/hot.vpl', 'import "../../types/reading.vpl"\nstream Hot = Reading.where(value > 30).emit(value: value)\n');
    const cold = write('tree/rules/parts/cold.vpl', 'import "../../types/reading.vpl"\nstream Cold = Reading.where(value < 0).emit()\n');
    const main = write('tree/rules/main.vpl', 'import "parts/*.vpl"\n');
    const asked = ['check', main, '--server', url];
    expect(await cep(...asked)).toEqual(await cep('check', main));
    expect(JSON.parse(success(await cep(...asked, '--json')))).toEqual(JSON.parse(success(await cep('check', main, '--json'))));
    success(await cep('deploy', main, '--name', 'tree'));
    expect(success(await cep('inject', 'tree', '--event', 'Reading { value: 41.5 }'))).toContain('Hot { value: 41.5 }');
    expect(success(await cep('pipeline', 'tree'))).toMatch(/^Imports: .*rules\/parts\/cold\.vpl/m);

    write('tree/rules/parts/cold.vpl', readFileSync(cold, 'utf8').replace('.emit', '.emti'));
    const checked = await cep('check', main);
    expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining('parts/cold.vpl:2:')]);
    expect(await cep(...asked)).toEqual(checked);
    expect(await cep('reload', 'tree', main)).toMatchObject({ code: 1, stdout: '', stderr: checked.stdout });
    expect(await cep(...asked, '--api-key', 'wrong')).toMatchObject({ code: 4, stdout: '' });

    server.kill('SIGTERM');
    await server.ended;
    const again = await serve(state);
    expect(success(await again.cep('inject', 'tree', '--event', 'Reading { value: -1 }'))).toContain('Cold ');
  });

  it('goes on following where it was when the server comes back', async () => {
    const state = ['--state-dir', join(folder, 'state')];
    const first = await serve(state);
    success(await first.cep('deploy', rules));
    const logs = first.begin('logs', 'rules');
    const send = async (served: Served, value: number): Promise<void> => {
      success(await served.cep('inject', 'rules', '-e', `Reading { value: ${value} }`, '--quiet'));
    };
    await vi.waitUntil(
      async () => {
        await send(first, 40);
        return logs.stdout !== '';
      },
      { timeout: 60_000, interval: 50 },
    );
    first.server.kill('SIGTERM');
    await logs.until(({ stderr }) => stderr.includes('trying again'));
    await first.server.ended;
    const second = await serve([...state, '--port', new URL(first.url).port]);
    await vi.waitUntil(
      async () => {
        await send(second, 60);
        return logs.stdout.includes('Hot { value: 60 }');
      },
      { timeout: 60_000, interval: 50 },
    );
    expect(logs.stderr.match(/trying again/g)).toHaveLength(1);
  });

  it('talks TLS with a server whose authority it is told', async () => {
    const [cert, tlsKey] = [join(certificates, 'first-cert.pem'), join(certificates, 'first-key.pem')];
    const { cep, url } = await serve(['--tls-cert', cert, '--tls-key', tlsKey]);
    const named = ['--server', url.replace('127.0.0.1', 'localhost')];
    success(await cep('pipelines', ...named, '--tls-ca', cert));
    expect(await cep('pipelines', ...named)).toMatchObject({ code: 4, stderr: expect.stringContaining('--tls-ca') });
    expect(await cep('pipelines', '--server', url.replace('https', 'http'))).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(url),
    });
  });

  it('ends with 4 and says what to do when the key is wrong or missing, or the server is down', async () => {
    const { cep, server, url } = await serve();
    expect(await cep('usage', '--api-key', 'wrong')).toMatchObject({ code: 4, stderr: expect.stringContaining('check CEP_API_KEY') });
    const withoutKey = start(['usage', '--server', url], { CEP_API_KEY: '', HOME: folder });
    expect(await withoutKey.ended).toMatchObject({ code: 4, stderr: expect.stringContaining('give the key with CEP_API_KEY') });
    expect(success(await cep('status', '--api-key', 'wrong'))).toContain('ready');
    server.kill('SIGTERM');
    await server.ended;
    expect(await cep('usage')).toMatchObject({ code: 4, stderr: expect.stringContaining(`no server answers at ${url}`) });
  });
});

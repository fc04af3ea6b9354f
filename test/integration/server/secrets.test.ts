import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { encryptCredentials } from '../../../shared/security/credentials/change-credentials.ts';
import { MasterKey } from '../../../shared/security/credentials/master-key.ts';
import { WebSocketClient } from '../../clients/websocket-client.ts';
import { cep, logOf, path, serve, write } from './serving.ts';

vi.setConfig({ testTimeout: 120_000 });

const masterKey = MasterKey.generate();
/** Secrets that nothing shows but the place where they stand. */
const planted = {
  serverKey: 'canary-server-key-5b1f',
  header: 'canary-header-of-the-profile-77aa',
  pathToken: 'canary-path-of-the-profile-c0de',
  password: 'canary-password-in-a-url-91e2',
  wrongKey: 'canary-wrong-key-of-a-client-31bd',
  masterKey,
};
/** Stands in the text of a program, which its owner can read. */
const inProgram = 'canary-header-of-a-program-0d4c';

const received: IncomingMessage[] = [];
const hook = createServer((request, response) => {
  received.push(request);
  response.writeHead(204).end();
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  port = (hook.address() as AddressInfo).port;
});
afterAll(() => {
  hook.closeAllConnections();
  hook.close();
});

/** A sink that answers, one that nobody listens at, and one that is another type's. */
async function credentials(name: string): Promise<Record<string, string>> {
  const file = write(
    name,
    `version: 1
require_encryption: true
profiles:
  hook:
    connector_type: http
    properties:
      url: "http://127.0.0.1:${port}/${planted.pathToken}"
      headers: { authorization: "Bearer ${planted.header}" }
  gone:
    properties: { url: "http://me:${planted.password}@127.0.0.1:1/${planted.pathToken}", headers: { x-key: "${planted.header}" } }
  broker:
    connector_type: kafka
    properties: { sasl_password: "${planted.password}" }
`,
  );
  await encryptCredentials(file, MasterKey.parse(masterKey, 'the key'));
  return { CEP_CREDENTIALS: file, CEP_MASTER_KEY: masterKey, CEP_API_KEY: planted.serverKey };
}

const program = (profile: string, more = '') =>
  `connector Hook = http (profile: "${profile}", retries: 0${more})\n\nstream S = A.window(2).aggregate(n: count()).emit(n: n).to(Hook)\n`;

function filesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const at = join(folder, name);
    return statSync(at).isDirectory() ? filesUnder(at) : [at];
  });
}

describe('secrets of a server', () => {
  it('reach the sinks that they are for, and stand in no answer, log line, metric, checkpoint, dead letter or file', async () => {
    const state = path('secret-state');
    const { cep: process, url } = await serve(
      ['--state-dir', state, '--metrics', '--metrics-port', '0'],
      await credentials('canaries.yaml'),
    );
    const answers: string[] = [];
    const ask = async (method: string, at: string, body?: unknown, key: string = planted.serverKey) => {
      const answer = await fetch(at.startsWith('http') ? at : `${url}${at}`, {
        method,
        headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      // The text of a program is its owner's own.
      answers.push(text.replace(/"source":"(?:[^"\\]|\\.)*"/g, '""'));
      return { status: answer.status, body: answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined };
    };
    const deploy = async (name: string, source: string, key?: string) => ask('POST', '/api/v1/pipelines', { name, source }, key);

    const { body: tenant } = await ask('POST', '/api/v1/tenants', { name: 'acme' });
    answers.pop(); // The key of a tenant is shown this once.
    const secrets = { ...planted, tenantKey: tenant.api_key as string };

    const good = await deploy('good', program('hook'));
    const gone = await deploy('gone', program('gone', `, failure_threshold: 1, headers: {"x-own": "${inProgram}"}`));
    expect([good.status, gone.status]).toEqual([201, 201]);
    expect(await deploy('mismatch', program('broker'))).toMatchObject({ status: 502, body: { code: 'connector_error' } });
    expect(await deploy('none', program('nobody'))).toMatchObject({ status: 502, body: { code: 'connector_error' } });
    expect(await deploy('theirs', program('hook'), secrets.tenantKey)).toMatchObject({ status: 502, body: { code: 'connector_error' } });
    const event = { event_type: 'A', fields: { x: 1 } };
    for (const { body } of [good, gone]) {
      await ask('POST', `/api/v1/pipelines/${body.id}/events-batch?durable=true`, { events: [event, event, event, event, event] });
    }
    await vi.waitUntil(async () => (await ask('GET', `/api/v1/pipelines/${gone.body.id}/dlq`)).body.total === 2);
    await vi.waitUntil(() => received.length === 2);
    expect(received.map(({ url: at, headers }) => [at, headers['authorization']])).toEqual([
      [`/${planted.pathToken}`, `Bearer ${planted.header}`],
      [`/${planted.pathToken}`, `Bearer ${planted.header}`],
    ]);

    const inside = ['', '/metrics', '/topology', '/messages', '/dlq', '/explain?stream=S'];
    for (const { body } of [good, gone]) for (const at of inside) await ask('GET', `/api/v1/pipelines/${body.id}${at}`);
    for (const at of ['/api/v1/pipelines', '/api/v1/usage', '/api/v1/tenants', `/api/v1/tenants/${tenant.id}`, '/openapi.json', '/ready']) {
      await ask('GET', at);
    }
    const checkpoint = await ask('POST', `/api/v1/pipelines/${gone.body.id}/checkpoint`);
    expect(checkpoint.status).toBe(200);
    await ask('POST', `/api/v1/pipelines/${gone.body.id}/dlq/replay`);
    await ask('POST', `/api/v1/pipelines/${gone.body.id}/reload`, { source: program('broker') });
    for (const wrong of [planted.wrongKey, '']) await ask('GET', `/api/v1/usage?api_key=${planted.wrongKey}`, undefined, wrong);
    const socket = await WebSocketClient.open(`${url.replace('http', 'ws')}/ws?api_key=${secrets.tenantKey}`);
    await socket.ask({ type: 'load', source: program('hook') }, 'load_result');
    answers.push(JSON.stringify(socket.messages));
    const metricsUrl = logOf(process).find(({ message }) => message === 'Metrics listening')?.['url'];
    await ask('GET', `${metricsUrl}/metrics`);
    await vi.waitUntil(async () => {
      await ask('GET', `${metricsUrl}/metrics`);
      return answers.at(-1)?.includes('cep_dlq_events_total{') === true;
    });

    process.kill('SIGTERM');
    expect((await process.ended).code).toBe(0);
    const files = filesUnder(state);
    expect(files.map((file) => file.slice(state.length + 1))).toEqual(expect.arrayContaining(['dlq.jsonl']));
    const kept = files.map((file) => readFileSync(file).toString('latin1')).join('\n');
    // What is stored is not compressed, so what is in it is found.
    expect(kept).toContain(inProgram);
    const said = [...answers, process.stderr, process.stdout].join('\n');
    expect(answers.join()).toContain('econnrefused');
    for (const [what, secret] of Object.entries(secrets)) {
      expect([what, said.includes(secret), kept.includes(secret)]).toEqual([what, false, false]);
    }
    const letters = readFileSync(join(state, 'dlq.jsonl'), 'utf8');
    for (const text of [said, letters]) expect(text).not.toContain(inProgram);
  });

  it('are not told by a server that cannot start', async () => {
    const env = await credentials('locked.yaml');
    for (const changed of [{ CEP_MASTER_KEY: MasterKey.generate() }, { CEP_MASTER_KEY: '' }, { CEP_MASTER_KEY: `${masterKey}0` }]) {
      const { code, stderr } = await cep(['server', '--port', '0'], { ...env, ...changed }).ended;
      expect([code, stderr]).toEqual([3, expect.stringContaining('CEP_MASTER_KEY')]);
      for (const secret of Object.values(planted)) expect(stderr).not.toContain(secret);
    }
  });
});

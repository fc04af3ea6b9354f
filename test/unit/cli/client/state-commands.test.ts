import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { WorkFolder } from '../work-folder.ts';
import { FakeServer, knowsRules, refusal, rules } from './fake-server.ts';

const server = await FakeServer.start();
const folder = new WorkFolder();
beforeEach(() => {
  knowsRules(server);
});

const path = '/api/v1/pipelines/p_1';
const asked = (): string[] => server.requests.map(({ method, url }) => `${method} ${url}`).filter((line) => line.includes('p_1'));

describe('cep stop and cep start', () => {
  it('name a pipeline by its name, and say what became of it', async () => {
    server.on(`POST ${path}/stop`, { json: { ...rules, status: 'stopped' } }).on(`POST ${path}/start`, { json: rules });
    expect(await server.cep(['stop', 'rules'])).toEqual({ exitCode: 0, stdout: 'Stopped rules, id p_1\n', stderr: '' });
    expect(await server.cep(['start', 'rules'])).toEqual({ exitCode: 0, stdout: 'Started rules: running, id p_1\n', stderr: '' });
    expect(asked()).toEqual([`POST ${path}/stop`, `POST ${path}/start`]);
    expect(JSON.parse((await server.cep(['stop', 'rules', '--json'])).stdout).status).toBe('stopped');
  });

  it('end with 4 when the program does not start', async () => {
    server.on(`POST ${path}/start`, refusal(502, 'connector_error', "connector 'Out': no such host"));
    expect(await server.cep(['start', 'rules'])).toMatchObject({ exitCode: 4, stderr: "error: connector 'Out': no such host\n" });
  });
});

describe('cep checkpoint and cep restore', () => {
  const document = {
    pipeline_id: 'p_1',
    checkpoint: { version: 1, engine: { a: [1.5, '9007199254740993'] }, crc32: 7 },
    events_processed: 12,
  };

  it('writes a document to a file or to standard output, which restore hands over as it is', async () => {
    server.on(`POST ${path}/checkpoint`, { json: document });
    const file = `${folder.path}/state.json`;
    const written = await server.cep(['checkpoint', 'rules', '-o', file]);
    expect(written).toEqual({ exitCode: 0, stdout: `Checkpoint of rules after 12 events: ${file}\n`, stderr: '' });
    expect((await server.cep(['checkpoint', 'rules'])).stdout).toBe(readFileSync(file, 'utf8'));

    const answer = { pipeline_id: 'p_1', restored: true, events_restored: 12, preserved: ['Many', 'Few'], reset: [] };
    server.on(`POST ${path}/restore`, { json: answer });
    const restored = await server.cep(['restore', 'rules', file]);
    expect(restored.stdout).toBe('Restored rules as it was after 12 events\n  preserved: Many, Few\n');
    expect(server.requests.at(-1)?.body).toBe(readFileSync(file, 'utf8'));
  });

  it('sends a restore once only, because a repeat would undo what came in between', async () => {
    server.on(`POST ${path}/restore`, (response) => response.destroy());
    expect((await server.cep(['restore', 'rules', folder.write('state.json', '{}')])).exitCode).toBe(4);
    expect(asked()).toEqual([`POST ${path}/restore`]);
  });

  it('ends with 2 when the file is missing, before anything is asked', async () => {
    expect((await server.cep(['restore', 'rules', 'nowhere.json'])).exitCode).toBe(2);
    expect(server.requests).toEqual([]);
  });

  it('says what to give when a file is no checkpoint', async () => {
    server.on(`POST ${path}/restore`, refusal(400, 'checkpoint_corrupt', 'this is no checkpoint'));
    const { exitCode, stderr } = await server.cep(['restore', 'rules', folder.write('state.json', '{}')]);
    expect([exitCode, stderr]).toEqual([4, "error: this is no checkpoint\n  hint: give a file that 'cep checkpoint' wrote\n"]);
  });
});

describe('cep dlq', () => {
  const letter = {
    timestamp: '2024-01-01T00:00:00.000Z',
    connector: 'Out',
    error: 'the answer was 503',
    event: { event_type: 'Many', timestamp: 0, data: {} },
    id: 'p_1-7-0',
    attempts: 4,
    code: 'http_503',
  };

  it('lists the oldest letters, and says when there are more', async () => {
    server.on(`GET ${path}/dlq`, { json: { entries: [letter], total: 3 } });
    const { stdout, stderr } = await server.cep(['dlq', 'list', 'rules', '-n', '1']);
    expect(stdout).toBe(
      'TIME                      ID       CONNECTOR  EVENT  ATTEMPTS  CODE      ERROR\n' +
        '2024-01-01T00:00:00.000Z  p_1-7-0  Out        Many          4  http_503  the answer was 503\n',
    );
    expect(stderr).toBe('3 dead letters in all, the oldest 1 are shown\n');
    expect(asked()).toEqual([`GET ${path}/dlq?limit=1`]);
    expect(JSON.parse((await server.cep(['dlq', 'list', 'rules', '--json'])).stdout)).toEqual({ entries: [letter], total: 3 });
    server.on(`GET ${path}/dlq`, { json: { entries: [], total: 0 } });
    expect((await server.cep(['dlq', 'list', 'rules'])).stdout).toBe('No dead letters.\n');
  });

  it('sends them again, and ends with 4 when some are not taken', async () => {
    server.on(`POST ${path}/dlq/replay`, { json: { replayed: 2, failed: 1 } }, { json: { replayed: 1, failed: 0 } });
    const some = await server.cep(['dlq', 'replay', 'rules']);
    expect([some.exitCode, some.stdout]).toEqual([4, '2 dead letters delivered, 1 not taken again\n']);
    const rest = await server.cep(['dlq', 'replay', 'rules']);
    expect([rest.exitCode, rest.stdout]).toEqual([0, '1 dead letter delivered\n']);
    server.on(`POST ${path}/dlq/replay`, { json: { replayed: 0, failed: 3, unsent: 2 } });
    const none = await server.cep(['dlq', 'replay', 'rules']);
    const said = '0 dead letters delivered, 3 not taken again, 2 of them not sent: the circuit breaker is open\n';
    expect([none.exitCode, none.stdout]).toEqual([4, said]);
  });

  it('forgets them', async () => {
    server.on(`DELETE ${path}/dlq`, { json: { cleared: 2 } });
    expect((await server.cep(['dlq', 'discard', 'rules'])).stdout).toBe('2 dead letters forgotten\n');
    expect((await server.cep(['dlq', 'clear', 'rules'])).stdout).toBe('2 dead letters forgotten\n');
  });

  it('chooses them by connector and code', async () => {
    const query = '?connector=Out&code=http_503';
    const options = ['rules', '--connector', 'Out', '--code', 'http_503'];
    server.on(`GET ${path}/dlq`, { json: { entries: [letter], total: 1 } });
    server.on(`POST ${path}/dlq/replay`, { json: { replayed: 1, failed: 0 } });
    server.on(`DELETE ${path}/dlq`, { json: { cleared: 1 } });
    for (const word of ['ls', 'replay', 'discard']) await server.cep(['dlq', word, ...options]);
    const chosen = [
      `GET ${path}/dlq?limit=50&connector=Out&code=http_503`,
      `POST ${path}/dlq/replay${query}`,
      `DELETE ${path}/dlq${query}`,
    ];
    expect(asked()).toEqual(chosen);
  });

  it('are none of a connector that the pipeline does not have, which ends with 4', async () => {
    const node = (label: string, type: string) => ({ id: `${type}:${label}`, label, node_type: type, config: {} });
    server.on(`GET ${path}/dlq`, { json: { entries: [], total: 0 } });
    server.on(`POST ${path}/dlq/replay`, { json: { replayed: 0, failed: 0 } });
    server.on(`DELETE ${path}/dlq`, { json: { cleared: 0 } });
    server.on(`GET ${path}/topology`, { json: { nodes: [node('Out', 'sink'), node('In', 'source')], edges: [] } });
    const problem = "error: the pipeline has no connector 'Outt', and no dead letter of one\n  hint: did you mean 'Out'?\n";
    for (const word of ['ls', 'replay', 'discard']) {
      expect(await server.cep(['dlq', word, 'rules', '--connector', 'Outt'])).toEqual({ exitCode: 4, stdout: '', stderr: problem });
      for (const known of ['In', 'on_error']) {
        expect(await server.cep(['dlq', word, 'rules', '--connector', known])).toMatchObject({ exitCode: 0, stderr: '' });
      }
    }
  });

  it('are none with a code where a connector that the program has no longer left others, which is no mistake', async () => {
    server.on(`GET ${path}/dlq`, { json: { entries: [], total: 0 } }, { json: { entries: [letter], total: 1 } });
    server.on(`GET ${path}/topology`, { json: { nodes: [], edges: [] } });
    expect(await server.cep(['dlq', 'ls', 'rules', '--connector', 'Gone', '--code', 'http_503'])).toMatchObject({ exitCode: 0 });
    expect(asked().at(-1)).toBe(`GET ${path}/dlq?limit=1&connector=Gone`);
  });

  it('shows one whole, and ends with 1 when there is none', async () => {
    server.on(`GET ${path}/dlq`, { json: { entries: [letter], total: 1 } }, { json: { entries: [], total: 0 } });
    const { stdout } = await server.cep(['dlq', 'show', 'rules', 'p_1-7-0']);
    expect(stdout).toContain('code: http_503\n');
    expect(stdout).toContain('event: {"event_type":"Many","timestamp":0,"data":{}}\n');
    expect(asked()).toEqual([`GET ${path}/dlq?limit=1000&id=p_1-7-0`]);
    expect((await server.cep(['dlq', 'show', 'rules', 'p_1-7-1'])).exitCode).toBe(1);
  });
});

describe('cep tenants and cep tenant', () => {
  const quota = { max_pipelines: 20, max_events_per_second: 50_000, max_streams_per_pipeline: 100, max_state_bytes: 1024 };
  const acme = { id: 't_1', name: 'acme', plan: 'pro', quota, key_digest: 'a7a7c1c9', created_at: 0 };
  const pages = { pagination: {} };

  it('are listed, all pages of them', async () => {
    const other = { ...acme, id: 't_2', name: 'other', key_digest: null };
    server.on('GET /api/v1/tenants', { json: { tenants: [acme], total: 2, ...pages } }, { json: { tenants: [other], total: 2, ...pages } });
    expect((await server.cep(['tenants'])).stdout).toBe(
      [
        'NAME   ID   PLAN  PIPELINES  EVENTS/S  KEY DIGEST  CREATED',
        'acme   t_1  pro          20    50,000  a7a7c1c9    1970-01-01T00:00:00.000Z',
        'other  t_2  pro          20    50,000  -           1970-01-01T00:00:00.000Z',
        '',
      ].join('\n'),
    );
  });

  it('are made with a plan and quotas, and their key is shown', async () => {
    server.on('POST /api/v1/tenants', { status: 201, json: { id: 't_1', name: 'acme', plan: 'pro', api_key: 'cep_secret', quota } });
    const made = await server.cep(['tenant', 'create', 'acme', '--plan', 'pro', '--max-pipelines', '3', '--max-state-bytes', '0']);
    expect(made.stdout).toBe('Made tenant acme: id t_1, plan pro\nKey, shown this once: cep_secret\n');
    const body = { name: 'acme', plan: 'pro', quota: { max_pipelines: 3, max_state_bytes: 0 } };
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(body);
    expect(await server.cep(['tenant', 'create', 'acme', '--max-pipelines', 'many'])).toMatchObject({ exitCode: 1 });
    server.on('POST /api/v1/tenants', {
      ...{ status: 409, json: { error: "there is a tenant 'acme' already", code: 'name_taken', hint: 'choose another name' } },
    });
    expect((await server.cep(['tenant', 'create', 'acme'])).stderr).toBe(
      "error: there is a tenant 'acme' already\n  hint: choose another name\n",
    );
  });

  it('are removed by name or id; the message about one that is not there names the nearest', async () => {
    server
      .on('GET /api/v1/tenants', { json: { tenants: [acme], total: 1, ...pages } })
      .on('DELETE /api/v1/tenants/t_1', { json: { deleted: true } });
    expect((await server.cep(['tenant', 'delete', 'acme'])).stdout).toBe('Removed tenant acme, id t_1\n');
    expect((await server.cep(['tenant', 'delete', 't_1', '--json'])).stdout).toBe('{"deleted":true,"id":"t_1","name":"acme"}\n');
    const { exitCode, stderr } = await server.cep(['tenant', 'delete', 'acne']);
    expect([exitCode, stderr]).toEqual([4, "error: no tenant has the id or the name 'acne'\n  hint: did you mean 'acme'?\n"]);
  });
});

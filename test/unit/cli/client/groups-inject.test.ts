import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { WorkFolder } from '../work-folder.ts';
import { FakeServer, refusal } from './fake-server.ts';

const server = await FakeServer.start();
const folder = new WorkFolder();
const run = (...args: string[]) => server.cep(['groups', 'inject', 'fraud', ...args], { env: { CEP_COORDINATOR_URL: server.url } });

const second = { name: 'second', source: 'stream S = Seen.emit(user)', replicas: 1 };
const first = {
  name: 'first',
  source: 'event Login:\n    user: str\n    pin: str\n    at: timestamp?\nstream Seen = Login.emit(user)',
  replicas: 1,
};
const group = {
  ...{ id: 'g', name: 'fraud', status: 'running', version: 1, created_at: 0, updated_at: 0, deployments: [] },
  pipelines: [second, first],
  routes: [{ from_pipeline: '_external', to_pipeline: 'first', event_types: ['Login'] }],
};
const route = 'POST /api/v1/cluster/pipeline-groups/g/inject-batch';
const output = { event_type: 'Seen', timestamp: 0, fields: {} };

const posts = () =>
  server.requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body) as { events_text: string });
const sent = (): unknown[] =>
  posts().flatMap(({ events_text: text }) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );

beforeEach(() => {
  server.reset().on('GET /api/v1/cluster/pipeline-groups', { json: [group] });
  server.on(route, (response, { body }) => {
    const { events_text: text } = JSON.parse(body) as { events_text: string };
    const lines = text.trimEnd().split('\n');
    const errors = lines.flatMap((line, index) => (line.includes('bad') ? [{ index, code: 'invalid_event', error: 'no' }] : []));
    const counts = { accepted: lines.length - errors.length, rejected: errors.length, errors, processing_time_us: 2 };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ routed_to: ['first'], ...counts, output_events: [output] }));
  });
});

describe('cep groups inject --file', () => {
  it('places the offsets of a file so that its last event is of now, and leaves times that events say', async () => {
    const now = Date.parse('2026-01-31T10:00:00Z');
    vi.spyOn(Date, 'now').mockReturnValue(now);
    const at = (ms: number) => new Date(now + ms).toISOString().replace('.000', '');
    try {
      const file = folder.write(
        'a.evt',
        '@0 Login { user: "ann", pin: "1" }\n@5s Login("bob", "02", "2026-01-01T00:00:00Z")\n@20s Other { v: 1 }\n',
      );
      expect(await run('-f', file)).toEqual({ exitCode: 0, stdout: '3 accepted, 0 refused, 1 alert, sent to first\n', stderr: '' });
      expect(sent()).toEqual([
        { event_type: 'Login', timestamp: at(-20_000), data: { user: 'ann', pin: '1' } },
        { event_type: 'Login', data: { user: 'bob', pin: '02', at: '2026-01-01T00:00:00Z' } },
        { event_type: 'Other', timestamp: at(0), data: { v: 1 } },
      ]);
      server.requests.splice(0);
      await run('-f', file, '--from-now');
      expect(sent()).toMatchObject([{ timestamp: at(0) }, {}, { timestamp: at(20_000) }]);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('reads files as other commands do', async () => {
    const csv = folder.write('a.csv', 'event_type,user,pin\nLogin,ann,01\n');
    const gz = folder.write('a.jsonl.gz', '');
    writeFileSync(gz, gzipSync('{"event_type":"Login","user":"bob","pin":"02"}\n'));
    for (const file of [csv, gz]) expect(await run('-f', file)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(sent()).toEqual([
      { event_type: 'Login', data: { user: 'ann', pin: '01' } },
      { event_type: 'Login', data: { user: 'bob', pin: '02' } },
    ]);
  });

  it('sends a long file in batches, and tells of each line that was refused or could not be read', async () => {
    const lines = Array.from({ length: 1_500 }, (_, at) => `Login { user: "${at === 1_200 ? 'bad' : at}", pin: "1" }`);
    const file = folder.write('long.evt', `${[...lines, 'Login {'].join('\n')}\n`);
    const { exitCode, stdout, stderr } = await run('-f', file);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '1,499 accepted, 2 refused, 2 alerts, sent to first\n' });
    expect(stderr).toContain('long.evt:1201: invalid event: Login: no');
    expect(stderr).toContain('long.evt:1501:');
    expect(posts()).toHaveLength(2);
    const json = await run('-f', file, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ accepted: 1_499, rejected: 2, errors: [{ index: 1_200 }], routed_to: ['first'] });
  });

  it('says from where on events were not confirmed', async () => {
    server.on(route, refusal(503, 'pipeline_moving', 'it moves'));
    const { exitCode, stderr } = await run('-f', folder.write('a.evt', '\nLogin { user: "ann", pin: "1" }\n'), '--timeout', '1ms');
    expect(exitCode).toBe(4);
    expect(stderr).toContain('a.evt:2 on were not confirmed');
  });

  it('says how a file is named where it is given as an event', async () => {
    expect(await run('-e', 'a.evt')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `error: --event: expected an event such as Login { user: "ann" }, found 'a.evt'\n  hint: an event file is named by -f: -f a.evt\n`,
    });
    expect(server.requests).toEqual([]);
  });
});

it('says why events may have caused nothing, from a file and from the command line', async () => {
  const notes = {
    ...{ events_late: 1, watermark: 1_000, events_unread: 2, unread_types: [{ event_type: 'Logn', events: 2, did_you_mean: 'Login' }] },
    ...{ events_incomplete: 1, incomplete_fields: [{ event_type: 'Login', field: 'pin', events: 1 }] },
  };
  const counts = { accepted: 3, rejected: 0, errors: [], processing_time_us: 2 };
  server.on(route, { json: { routed_to: ['first'], ...counts, output_events: [], ...notes } });
  const file = folder.write('notes.evt', '@0 Login { user: "ann", pin: "1" }\n');
  for (const args of [
    ['-f', file],
    ['--event', 'Login { user: "ann" }'],
  ]) {
    const { stdout } = await run(...args);
    expect(stdout).toMatch(/Logn.*Login[\s\S]*1 event was late[\s\S]*Login\.pin missing in 1 event\n3 accepted, /);
    expect(JSON.parse((await run(...args, '--json')).stdout)).toMatchObject(notes);
  }
});

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { WorkFolder } from '../work-folder.ts';
import { FakeServer, knowsRules, refusal } from './fake-server.ts';

const server = await FakeServer.start();
const folder = new WorkFolder();
const route = 'POST /api/v1/pipelines/p_1/events-batch';
const accepted = (count: number) => ({ json: { accepted: count, rejected: 0, errors: [], output_events: [], processing_time_us: 5 } });
beforeEach(() => {
  knowsRules(server).on(route, (response, { body }) => {
    const lines = body.trimEnd().split('\n').length;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(accepted(lines).json));
  });
});

const posts = () => server.requests.filter(({ method }) => method === 'POST');
const events = (): unknown[] =>
  posts().flatMap(({ body }) =>
    body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );

describe('cep inject --event', () => {
  it('sends events as a line of an event file or as JSON, with the time of their arrival', async () => {
    const texts = [
      'Login { user: "ann", tries: 3 }',
      '{"event_type":"Login","timestamp":"2026-01-01T00:00:00Z","data":{"user":"bob"}}',
      'Login("eve", 4)',
    ];
    const result = await server.cep(['inject', 'rules', ...texts.flatMap((text) => ['--event', text])]);
    expect(result).toEqual({ exitCode: 0, stdout: '3 events accepted, 0 alerts\n', stderr: '' });
    expect(events()).toEqual([
      { event_type: 'Login', data: { user: 'ann', tries: 3 } },
      { event_type: 'Login', timestamp: expect.stringMatching(/^2026-01-01T00:00:00/), data: { user: 'bob' } },
      { event_type: 'Login', data: { user: 'eve', tries: 4 } },
    ]);
    expect(posts()[0]?.headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'idempotency-key': expect.stringMatching(/./) });
  });

  it('shows the alerts that the events caused', async () => {
    const output = { event_type: 'Many', timestamp: 5000, fields: { user: 'an\u001bn', n: 3 } };
    server.on(route, { json: { ...accepted(1).json, output_events: [output] } });
    const args = ['inject', 'rules', '-e', 'Login { user: "ann", tries: 5 }'];
    expect((await server.cep(args)).stdout).toBe('[00:00:05.000] Many { user: "an\\u001bn", n: 3 }\n1 event accepted, 1 alert\n');
    expect((await server.cep([...args, '--quiet'])).stdout).toBe('1 event accepted, 1 alert\n');
    const lines = (await server.cep([...args, '--json'])).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { type: 'output', event_type: 'Many', timestamp: 5000, data: { user: 'an\u001bn', n: 3 } },
      { type: 'summary', accepted: 1, rejected: 0, events_invalid: 0, lines_unreadable: 0, alerts_generated: 1 },
    ]);
  });

  it('reports what is refused and what cannot be read by number, sends the others, and ends with 1', async () => {
    const errors = [{ index: 1, code: 'invalid_event', error: 'field `tries`: found "x", expected int' }];
    server.on(route, { json: { ...accepted(1).json, rejected: 1, errors } });
    const texts = ['Login {', 'Login { user: "ann" }', 'Login { user: "bob", tries: "x" }'];
    const { exitCode, stdout, stderr } = await server.cep(['inject', 'rules', ...texts.flatMap((text) => ['-e', text])]);
    expect([exitCode, stdout]).toEqual([1, '1 event accepted, 1 refused, 1 line unreadable, 0 alerts\n']);
    expect(stderr).toContain('--event:1:8: unreadable line: ');
    expect(stderr).toContain('--event:3: invalid event: Login: field `tries`: found "x", expected int\n');
    expect(events()).toHaveLength(2);
  });

  it('asks to be durable', async () => {
    await server.cep(['inject', 'rules', '-e', 'Login {}', '--durable']);
    expect(posts()[0]?.url).toContain('durable=true');
  });
});

describe('cep inject --file', () => {
  it('sends batches in order, with offsets that count from now', async () => {
    const file = folder.write(
      'five.evt',
      '# five\n@0s Login { user: "a", tries: 1 }\n@2s Login { user: "b", tries: 1 }\n@4s Login { user: "c", tries: 1 }\n',
    );
    vi.useFakeTimers({ now: Date.parse('2026-05-01T10:00:00Z'), toFake: ['Date'] });
    try {
      const { stdout } = await server.cep(['inject', 'p_1', '--file', file, '--batch-size', '2']);
      expect(stdout).toBe('3 events accepted, 0 alerts\n');
    } finally {
      vi.useRealTimers();
    }
    expect(posts().map(({ body }) => body.trimEnd().split('\n').length)).toEqual([2, 1]);
    expect(new Set(posts().map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
    const times = events().map((event) => Date.parse((event as { timestamp: string }).timestamp));
    expect(times).toEqual([0, 2, 4].map((seconds) => Date.parse('2026-05-01T10:00:00Z') + seconds * 1000));
  });

  it('leaves the time to an event that says it itself', async () => {
    const file = folder.write('timed.evt', '@1s Login { user: "a", timestamp: 1700000000000 }\n');
    await server.cep(['inject', 'p_1', '--file', file]);
    expect(events()).toEqual([{ event_type: 'Login', data: { user: 'a', timestamp: 1_700_000_000_000 } }]);
  });

  it('sends JSON lines without a time as they are', async () => {
    const file = folder.write('flat.jsonl', '{"event_type":"Login","user":"a"}\n{"event_type":"Login","data":{"user":"b"}}\n');
    await server.cep(['inject', 'p_1', '--file', file]);
    expect(events()).toEqual([
      { event_type: 'Login', data: { user: 'a' } },
      { event_type: 'Login', data: { user: 'b' } },
    ]);
  });

  it('gives the line of the file for each problem, in whatever batch it was', async () => {
    const file = folder.write('lines.evt', '# a comment\nLogin { user: "a" }\n\nLogin { user: }\nLogin { user: "b" }\nLogin { user: 7 }\n');
    const bad = { ...accepted(0).json, rejected: 1, errors: [{ index: 0, code: 'invalid_event', error: 'found 7, expected str' }] };
    server.on(route, accepted(1), accepted(1), { json: bad });
    const { exitCode, stdout, stderr } = await server.cep(['inject', 'p_1', '--file', file, '--batch-size', '1']);
    expect([exitCode, stdout]).toEqual([1, '2 events accepted, 1 refused, 1 line unreadable, 0 alerts\n']);
    expect(stderr.replaceAll(`${folder.path}/`, '')).toContain('lines.evt:4:15: unreadable line');
    expect(stderr.replaceAll(`${folder.path}/`, '')).toContain('lines.evt:6: invalid event: Login: found 7, expected str\n');
  });

  it('says from where on nothing was sent when the pipeline stops', async () => {
    const file = folder.write('stopped.evt', 'Login { user: "a" }\nLogin { user: "b" }\n');
    server.on(route, accepted(1), refusal(409, 'pipeline_not_running', 'the pipeline is stopped'));
    const { exitCode, stderr } = await server.cep(['inject', 'p_1', '--file', file, '--batch-size', '1']);
    expect([exitCode, stderr.replace(`${folder.path}/`, '')]).toEqual([
      4,
      "events from stopped.evt:2 on were not confirmed\nerror: the pipeline is stopped\n  hint: 'cep pipeline' with its name shows why, 'cep start' starts it\n",
    ]);
  });

  it('waits as was recorded with --timed', async () => {
    const file = folder.write('paced.evt', '@0s Login { user: "a" }\n@0s Login { user: "b" }\n@40ms Login { user: "c" }\n');
    await server.cep(['inject', 'p_1', '--file', file, '--timed']);
    expect(posts().map(({ body }) => body.trimEnd().split('\n').length)).toEqual([2, 1]);
  });

  it.each([
    [[], 1, 'no events'],
    [['--event', 'A {}', '--file', 'x.evt'], 1, '--event and --file are given'],
    [['--file', 'x.evt', '--batch-size', '0'], 1, '--batch-size: expected a whole number from 1 to 100000'],
    [['--file', 'absent.evt'], 2, "event file 'absent.evt' not found"],
  ])('is refused with %j', async (args, exitCode, message) => {
    const result = await server.cep(['inject', 'rules', ...args]);
    expect([result.exitCode, result.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
  });
});

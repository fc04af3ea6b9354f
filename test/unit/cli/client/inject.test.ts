import { beforeEach, describe, expect, it, vi } from 'vitest';
import { WorkFolder } from '../work-folder.ts';
import { FakeServer, knowsRules, refusal, rules } from './fake-server.ts';

const server = await FakeServer.start();
const folder = new WorkFolder();
const route = 'POST /api/v1/pipelines/p_1/events-batch';
const accepted = (count: number) => ({ json: { accepted: count, rejected: 0, errors: [], output_events: [], processing_time_us: 5 } });
/** More state than a server is asked to look through. */
const large = { json: { state_bytes: 1e9, active_runs: 0, streams: [] } };
beforeEach(() => {
  knowsRules(server).on('GET /api/v1/pipelines/p_1/metrics', large);
  server.on(route, (response, { body }) => {
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

  it('reads events by the types that the program imports, as the server has them', async () => {
    const login = 'event Login:\n    user: str\n    pin: str\n    at: timestamp\n';
    server.on('GET /api/v1/pipelines/p_1', {
      json: {
        ...rules,
        source: 'import "../types/*.vpl"\nstream S = Login.emit(user)\n',
        files: { 'types/login.vpl': login },
        path: 'rules/main.vpl',
      },
    });
    const csv = folder.write('logins.csv', 'event_type,user,pin,at\nLogin,eve,01234,2026-01-01T00:00:00Z\n');
    const evt = folder.write('logins.evt', '@5s Login("bob", "01234", "2026-01-01T00:00:00Z")\n');
    await server.cep(['inject', 'p_1', '-e', 'Login("ann", "01234")']);
    await server.cep(['inject', 'p_1', '-f', csv, '-f', evt]);
    expect(events()).toEqual([
      { event_type: 'Login', data: { user: 'ann', pin: '01234' } },
      { event_type: 'Login', data: { user: 'eve', pin: '01234', at: '2026-01-01T00:00:00Z' } },
      { event_type: 'Login', data: { user: 'bob', pin: '01234', at: '2026-01-01T00:00:00Z' } },
    ]);
  });

  it('refuses events that only their declared types make readable where the program cannot be checked here', async () => {
    server.on('GET /api/v1/pipelines/p_1', { json: { ...rules, source: 'import "gone.vpl"\nstream S = Login.emit(user)\n' } });
    const csv = folder.write('logins.csv', 'event_type,user\nLogin,eve\n');
    const evt = folder.write('logins.evt', 'Login { user: "bob" }\nLogin("eve")\n');
    for (const input of [
      ['-e', 'Login("ann")'],
      ['-f', csv],
      ['-f', evt],
    ]) {
      expect(await server.cep(['inject', 'p_1', ...input])).toEqual({
        exitCode: 1,
        stdout: '',
        stderr:
          "error: this version cannot check the program of 'rules', so it does not know the fields of its events\n" +
          '  hint: name them, as in Type { field: value } or JSON lines\n',
      });
    }
    expect(posts()).toEqual([]);
    expect((await server.cep(['inject', 'p_1', '-e', 'Login { user: "ann" }'])).exitCode).toBe(0);
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
      {
        type: 'summary',
        accepted: 1,
        rejected: 0,
        events_invalid: 0,
        events_incomplete: 0,
        incomplete_fields: [],
        events_late: 0,
        events_unread: 0,
        unread_types: [],
        events_untimed: 0,
        lines_unreadable: 0,
        alerts_generated: 1,
      },
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

  it('asks a server with little state how far its streams came when no alert comes', async () => {
    server.on('GET /api/v1/pipelines/p_1/metrics', { json: { ...large.json, state_bytes: 500 } });
    const event = { type: 'Login', time: 5000, fields: { user: 'ann' } };
    const waits = { step: 'Login where user == a.user', is_absence: false, closure: null, deadline: 9000, left_ms: 4000, candidates: [] };
    const run = { key: null, steps_taken: 1, steps: 2, held: [{ name: 'a', count: 1, event }], waits_for: [waits] };
    const pattern = { open_runs: 1, furthest: run, begins: [], ended: null };
    const told = {
      stream: 'Many',
      key: null,
      time: 5000,
      events_in: 1,
      events_out: 0,
      nothing: null,
      join: null,
      windows: [],
      attempts: [],
    };
    server.on('GET /api/v1/pipelines/p_1/explain', { json: { ...told, pattern, furthest: null, input: {} } });
    const { stdout, stderr } = await server.cep(['inject', 'rules', '-e', 'Login { user: "ann" }']);
    expect([stdout, stderr]).toEqual([
      [
        'No alerts from 1 event:',
        '  Many: a run that has taken 1 of 2 steps, a = Login { user: "ann" } at @5s, which waits for Login where user == a.user, until @9s, 4s left',
        '1 event accepted, 0 alerts',
        '',
      ].join('\n'),
      '',
    ]);
  });

  it('asks to be durable', async () => {
    await server.cep(['inject', 'rules', '-e', 'Login {}', '--durable']);
    expect(posts()[0]?.url).toContain('durable=true');
  });
});

describe('cep inject --file', () => {
  it.each([
    ['end now', [], [-4, -2, 0]],
    ['begin now where they are to', ['--from-now'], [0, 2, 4]],
  ])('sends batches in order, with offsets that %s', async (_, flags, seconds) => {
    const file = folder.write(
      'five.evt',
      '# five\n@0s Login { user: "a", tries: 1 }\n@2s Login { user: "b", tries: 1 }\n@4s Login { user: "c", tries: 1 }\n',
    );
    vi.useFakeTimers({ now: Date.parse('2026-05-01T10:00:00Z'), toFake: ['Date'] });
    try {
      const { stdout } = await server.cep(['inject', 'p_1', '--file', file, '--batch-size', '2', ...flags]);
      expect(stdout).toBe('3 events accepted, 0 alerts\n');
    } finally {
      vi.useRealTimers();
    }
    expect(posts().map(({ body }) => body.trimEnd().split('\n').length)).toEqual([2, 1]);
    expect(new Set(posts().map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
    const times = events().map((event) => Date.parse((event as { timestamp: string }).timestamp));
    expect(times).toEqual(seconds.map((second) => Date.parse('2026-05-01T10:00:00Z') + second * 1000));
  });

  it('takes the time from the field that is named, and says which one looks like it where there is none', async () => {
    const lines = [1, 2].map((second) => `{"event_type":"Login","user":"a","at":"2026-01-31T10:00:0${second}Z"}\n`).join('');
    const file = folder.write('named.jsonl', lines);
    await server.cep(['inject', 'p_1', '--file', file, '--time-field', 'at']);
    expect(events()).toMatchObject([{ timestamp: '2026-01-31T10:00:01Z' }, { timestamp: '2026-01-31T10:00:02Z' }]);
    const { stdout } = await server.cep(['inject', 'p_1', '--file', file]);
    expect(stdout).toContain('2 events carry no time and count at their arrival; field `at` looks like one: --time-field at\n');
  });

  it('adds up what the answers say of events without effect, as text and as JSON', async () => {
    const file = folder.write('misspelt.evt', 'LoginFail { user: "a" }\nLoginFail { user: "b" }\nLogin { user: "c" }\n');
    const unread = { events_unread: 1, unread_types: [{ event_type: 'LoginFail', events: 1, did_you_mean: 'LoginFailed' }] };
    const rest = {
      events_late: 1,
      watermark: 12_959_000,
      events_incomplete: 1,
      incomplete_fields: [{ event_type: 'Login', field: 'tries', events: 1 }],
    };
    const args = ['inject', 'p_1', '--file', file, '--batch-size', '1'];
    server.on(route, ...[unread, unread, rest].map((more) => ({ json: { ...accepted(1).json, ...more } })));
    expect((await server.cep(args)).stdout).toBe(
      [
        'No alerts from 3 events:',
        '  2 events of type LoginFail, which no stream reads (did you mean LoginFailed?)',
        '  1 event was late: time stands at 03:35:59',
        '  Incomplete events: 1',
        '    Login.tries missing in 1 event',
        '3 events accepted, 0 alerts',
        '',
      ].join('\n'),
    );
    server.on(route, ...[unread, unread, rest].map((more) => ({ json: { ...accepted(1).json, ...more } })));
    expect(JSON.parse((await server.cep([...args, '--json'])).stdout)).toMatchObject({
      events_unread: 2,
      unread_types: [{ event_type: 'LoginFail', events: 2, did_you_mean: 'LoginFailed' }],
      events_late: 1,
      events_incomplete: 1,
      incomplete_fields: [{ event_type: 'Login', field: 'tries', events: 1 }],
    });
  });

  it('tells of members that mean nothing, which it does not send and a server passes over', async () => {
    const file = folder.write('members.jsonl', '{"event_type":"Login","timestmap":5,"data":{"user":"a"}}\n');
    server.on(route, {
      json: {
        ...accepted(1).json,
        unknown_members: [
          { member: 'timestmap', events: 1 },
          { member: 'odd', events: 1 },
        ],
      },
    });
    const { stdout } = await server.cep(['inject', 'p_1', '--file', file, '--json']);
    expect(JSON.parse(stdout).unknown_members).toEqual([
      { member: 'timestmap', events: 2, did_you_mean: 'timestamp' },
      { member: 'odd', events: 1 },
    ]);
    expect(events()).toEqual([{ event_type: 'Login', data: { user: 'a' } }]);
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

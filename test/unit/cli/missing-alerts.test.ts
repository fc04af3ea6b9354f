import { describe, expect, it, vi } from 'vitest';
import { WorkFolder } from './work-folder.ts';

/** The first command loads all that commands need. */
vi.setConfig({ testTimeout: 60_000 });

const folder = new WorkFolder();
folder.write(
  'rules.vpl',
  [
    'event LoginFailed:',
    '    user: str',
    '    ip: str',
    'event LoginOk: user: str',
    'event Nobody: x: int',
    'stream Guessed = LoginFailed as f -> LoginOk where user == f.user within 5m',
    '    .emit(user: f.user)',
    'stream Many = LoginFailed.partition_by(user).window(10m).aggregate(n: count()).where(n > 2)',
    '    .emit(user, n)',
    '',
  ].join('\n'),
);

/** What stands before the report. */
function footer(stdout: string): string[] {
  return (stdout.split('\nSimulation Complete')[0] ?? '').trimEnd().split('\n');
}

async function simulated(name: string, events: string, ...flags: string[]): Promise<string[]> {
  folder.write(name, events);
  const { exitCode, stdout } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', `./${name}`, ...flags]);
  expect(exitCode).toBe(0);
  return footer(stdout);
}

async function summary(name: string, events: string, ...flags: string[]): Promise<Record<string, unknown>> {
  folder.write(name, events);
  const { stdout } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', `./${name}`, '--json', ...flags]);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

const failed = (user: string): string => `LoginFailed { user: "${user}", ip: "1" }`;
/** Ways of running that see events differently: a reader in generated code, one event at a time, whole pieces on threads. */
const ways: readonly (readonly string[])[] = [
  [],
  ['--streaming'],
  ['--timed'],
  ['--verbose', '--workers', '1'],
  ['--piece-bytes', '200', '--workers', '3'],
];

describe('a simulation without alerts', () => {
  it('says what waits until time has come to it, unless the input has ended', async () => {
    folder.write(
      'late.vpl',
      `event A: k: str
event B: k: str
stream S = A as a -> B where k == a.k as b .watermark(out_of_order: 10s).within(30s).emit(k: a.k)
stream J = join(A, B).on(A.k == B.k).window(5s).watermark(out_of_order: 10s).emit(k: A.k)
`,
    );
    folder.write('late.evt', '@0 A { k: "x" }\n@1s B { k: "y" }\n');
    const lines = async (...flags: string[]): Promise<string[]> =>
      footer((await folder.cep(['simulate', '-p', './late.vpl', '-e', './late.evt', ...flags])).stdout);
    expect(await lines('--no-flush')).toEqual([
      'No alerts from 2 events:',
      '  S: 2 events wait until time reaches @0s to @1s, the last B { k: "y" } at @1s',
      '  J: 2 events wait until time reaches @0s to @1s, the last B { k: "y" } at @1s',
    ]);
    expect(await lines()).toEqual([
      'No alerts from 2 events:',
      '  S: a run that has taken 1 of 2 steps, a = A { k: "x" } at @0s, which ended at @30s: its deadline passed; it waited for B where k == a.k as b, until @30s; B { k: "y" } at @1s did not fit: k ("y") == a.k ("x")',
      '  J: the join lacks A (the last was A { k: "x" } at @0s) and B (the last was B { k: "y" } at @1s)',
    ]);
  });

  it('names the types that no stream reads, declared or not, and what was perhaps meant', async () => {
    const events = `${`@0 LoginFail { user: "ann", ip: "1" }\n`.repeat(13)}@0 Nobody { x: 1 }\n@0 Zebra {}\n`;
    expect(await simulated('unread.evt', events)).toEqual([
      'No alerts from 15 events:',
      '  13 events of type LoginFail, which no stream reads (did you mean LoginFailed?)',
      '  1 event of type Nobody, which no stream reads',
      '  1 event of type Zebra, which no stream reads',
      '  Guessed: nothing came: neither event LoginFailed nor event LoginOk',
      '  Many: nothing came: no event LoginFailed',
    ]);
  });

  it('counts events of types that no stream reads however they are read', async () => {
    const lines = Array.from(
      { length: 600 },
      (_, n) => `{"event_type":"${n % 3 === 0 ? 'LoginFail' : n % 3 === 1 ? 'Nobody' : 'LoginOk'}","x":${n},"user":"u"}`,
    );
    for (const flags of ways.filter((way) => !way.includes('--verbose'))) {
      expect(await summary('mixed.jsonl', `${lines.join('\n')}\n`, ...flags), flags.join(' ')).toMatchObject({
        events_processed: 600,
        events_unread: 400,
        unread_types: [
          { event_type: 'LoginFail', events: 200, did_you_mean: 'LoginFailed' },
          { event_type: 'Nobody', events: 200 },
        ],
        events_untimed: 600,
      });
    }
  });

  it('names members beside the fields that mean nothing however they are read', async () => {
    // Less than a tenth of a second: `--timed` takes as long.
    const lines = Array.from(
      { length: 60 },
      (_, n) => `{"event_type":"LoginOk","${n % 3 === 0 ? 'timestmap' : 'timestamp'}":${n / 1000},"id":"${n}","data":{"user":"u"}}`,
    );
    for (const flags of ways.filter((way) => !way.includes('--verbose'))) {
      expect(await summary('members.jsonl', `${lines.join('\n')}\n`, ...flags), flags.join(' ')).toMatchObject({
        events_processed: 60,
        unknown_members: [{ member: 'timestmap', events: 20, did_you_mean: 'timestamp' }],
      });
    }
    expect(await simulated('members.jsonl', `${lines.join('\n')}\n`)).toContain(
      '  20 events with a member `timestmap` beside the fields, which is passed over (did you mean timestamp?)',
    );
  });

  it('counts what was late, and says where time stands', async () => {
    const events = `@12959s ${failed('cas')}\n@1s ${failed('ann')}\n@2s LoginOk { user: "ann" }\n`;
    const lines = await simulated('late.evt', events);
    expect(lines.find((line) => line.includes('late: '))).toMatch(/^ {2}\d events? w(as|ere) late: time stands at 03:35:59$/);
    expect(await summary('late.evt', events)).toMatchObject({
      events_late: expect.any(Number),
      misses: [{ stream: 'Guessed' }, { stream: 'Many' }],
    });
    expect((await summary('late.evt', events))['events_late']).toBeGreaterThan(0);
  });

  it('names the fields that were missing, with the place of the first', async () => {
    expect(await simulated('lacking.evt', '@0 LoginFailed { user: "ann" }\n@1s LoginOk { user: "bob" }\n')).toEqual([
      'No alerts from 2 events:',
      '  Incomplete events: 1',
      '    LoginFailed.ip missing in 1 event, first at lacking.evt:1',
      expect.stringContaining('  Guessed: a run that has taken 1 of 2 steps, f = LoginFailed { user: "ann", ip: null } at @0s'),
      expect.stringContaining('  Many: window(10m)'),
    ]);
  });

  it('says of a run which step it waits for, and what did not fit it', async () => {
    const [, line] = await simulated('key.evt', `@0 ${failed('ann')}\n@9s LoginOk { user: "ANN" }\n`);
    expect(line).toContain('which waits for LoginOk where user == f.user, until @5m');
    expect(line).toContain('LoginOk { user: "ANN" } at @9s did not fit: user ("ANN") == f.user ("ann")');
  });

  it('leaves the furthest runs out where only counts are wanted', async () => {
    const events = `@0 LoginFail {}\n@0 ${failed('ann')}\n`;
    expect(await simulated('quiet.evt', events, '--quiet')).toEqual([
      'No alerts from 2 events:',
      '  1 event of type LoginFail, which no stream reads (did you mean LoginFailed?)',
    ]);
    expect(await summary('quiet.evt', events, '--quiet')).not.toHaveProperty('misses');
  });

  it('tells the same where there are alerts, without the furthest runs', async () => {
    const lines = await simulated('alerts.evt', `@0 ${failed('ann')}\n@1s LoginOk { user: "ann" }\n@2s LoginOK { user: "ann" }\n`);
    expect(lines.slice(1)).toEqual(['', '1 event of type LoginOK, which no stream reads (did you mean LoginOk?)']);
  });
});

describe('events without a time', () => {
  const line = (more: string): string => `{"event_type":"LoginOk","user":"ann"${more}}\n`;
  const told = async (name: string, events: string, ...flags: string[]): Promise<string | undefined> =>
    (await simulated(name, events, ...flags)).find((text) => text.includes(' no time '))?.trim();

  it.each([
    ['ts', '"2026-01-31T10:00:00Z"'],
    ['@time', '"2026-01-31 10:00:00,123 +0100"'],
    ['eventTime', '1769853600000'],
    ['UtcTime', '"2026-01-31 10:00:00.123"'],
    ['time', '1769853600000000'],
  ])('are reported with the field that looks like one: %s', async (field, value) => {
    expect(await told('untimed.jsonl', line(`,"n":5,"${field}":${value}`).repeat(3))).toBe(
      `3 events carry no time and all count at 1970-01-01; field \`${field}\` looks like one: --time-field ${field}`,
    );
    expect(await told('untimed.jsonl', line(`,"n":5,"${field}":${value}`).repeat(3), '--time-field', field)).toBeUndefined();
  });

  it('are reported in every kind of file', async () => {
    expect(await told('untimed.evt', 'LoginOk { user: "ann", ts: "2026-01-31T10:00:00Z" }\n')).toBe(
      '1 event carries no time and counts at 1970-01-01; field `ts` looks like one: --time-field ts',
    );
    expect(await told('some.jsonl', line(',"timestamp":"2026-01-31T10:00:00Z"') + line(''))).toBe(
      '1 event carries no time and count at the time of the event before'.replace('count at', 'counts at'),
    );
  });

  it('are not reported where offsets, fields or @timestamp say it', async () => {
    expect(await told('zero.evt', '@0 LoginOk { user: "ann" }\n@0 LoginOk { user: "bob" }\n')).toBeUndefined();
    expect(await told('batch.evt', 'BATCH 0\nLoginOk { user: "ann" }\n')).toBeUndefined();
    expect(await told('elastic.jsonl', line(',"@timestamp":"2026-01-31T10:00:00+0100"'))).toBeUndefined();
  });

  it('are reported where a field has but the name of one, or the named field holds none', async () => {
    const access = line(',"time":"17/May/2015:10:05:03 +0000"');
    expect(await told('access.jsonl', access)).toBe(
      '1 event carries no time and counts at 1970-01-01; field `time` looks like one, but "17/May/2015:10:05:03 +0000" is neither ISO 8601 nor an epoch number',
    );
    expect(await told('access.jsonl', access, '--time-field', 'when')).toContain('(`when` is missing or no time)');
  });

  it('take it from the field that is named, also beside data, and before any other', async () => {
    const events = [
      '{"event_type":"LoginFailed","ts":"2026-01-31T10:00:00Z","data":{"user":"ann","ip":"1"}}',
      '{"event_type":"LoginOk","user":"ann","timestamp":"2020-01-01T00:00:00Z","ts":1769853660000000000}',
    ];
    const [alert] = await simulated('named.jsonl', `${events.join('\n')}\n`, '--time-field', 'ts');
    expect(alert).toBe('[2026-01-31T10:01:00.000Z] Guessed { user: "ann" }');
  });
});

describe('cep explain of a stream that gave nothing', () => {
  it('tells the same of the events', async () => {
    folder.write('typo.jsonl', '{"event_type":"LoginFail","user":"ann","ts":"2026-01-31T10:00:00Z"}\n'.repeat(2));
    const args = ['explain', '-p', './rules.vpl', '-e', './typo.jsonl', '--stream', 'Guessed'];
    expect((await folder.cep(args)).stdout.split('\n').slice(2)).toEqual([
      '',
      'No alerts from 2 events:',
      '  2 events of type LoginFail, which no stream reads (did you mean LoginFailed?)',
      '  2 events carry no time and all count at 1970-01-01; field `ts` looks like one: --time-field ts',
      '',
    ]);
    expect(JSON.parse((await folder.cep([...args, '--json', '--time-field', 'ts'])).stdout)).toMatchObject({
      input: {
        events_unread: 2,
        unread_types: [{ event_type: 'LoginFail', events: 2, did_you_mean: 'LoginFailed' }],
        watermark: Date.parse('2026-01-31T10:00:00Z'),
        events_late: 0,
      },
    });
  });
});

describe('cep test', () => {
  it('says below a test that failed which of its events could have no effect', async () => {
    const test = ['test "t":', '    at 0s Nobody { x: 1 }', '    at 1s LoginFailed { user: "ann" }', '    expect Guessed'].join('\n');
    folder.write('tested.vpl', `${folder.read('rules.vpl')}${test}\n`);
    const { stdout } = await folder.cep(['test', './tested.vpl']);
    expect(stdout).toContain('\n        1 event of type Nobody, which no stream reads\n        1 event without LoginFailed.ip\n');
    expect(JSON.parse((await folder.cep(['test', './tested.vpl', '--json'])).stdout.split('\n')[0] ?? '')).toMatchObject({
      notes: ['1 event of type Nobody, which no stream reads', '1 event without LoginFailed.ip'],
    });
  });
});

import '../../../../cli/interacting/json-session.ts'; // Reading it is no part of the first test.
import { expect, it } from 'vitest';
import manifest from '../../../../package.json' with { type: 'json' };
import { cep } from '../cep.ts';
import { WorkFolder } from '../work-folder.ts';
import { JsonConversation } from './json-conversation.ts';

const work = new WorkFolder();
const event = 'event A:\n    x: int\n';
const large = `${event}\nstream Large = A.where(x > 3).emit(x: x)\n`;
const pairs = '\nstream Pairs = A as a -> A as b\n    .emit(first: a.x, second: b.x)\n';
const inject = (x: unknown) => ({ cmd: 'inject', event_type: 'A', data: { x } });

it('greets with its version, and says goodbye when it is told to quit and when the input ends', async () => {
  const told = new JsonConversation();
  expect(await told.next('ready')).toEqual({ type: 'ready', version: manifest.version });
  told.write('{"cmd":"quit"}\n{"cmd":"get_streams"}\n');
  expect(await told.exitCode).toBe(0);
  expect(told.answers.map(({ type }) => type)).toEqual(['ready', 'bye']);
  const ended = new JsonConversation();
  expect(await ended.end()).toBe(0);
  expect(ended.answers.map(({ type }) => type)).toEqual(['ready', 'bye']);
});

it('sends the outputs of an event before it says that the event was taken', async () => {
  const session = new JsonConversation();
  expect(await session.ask({ cmd: 'load_vpl', vpl: large }, 'loaded')).toMatchObject({
    ...{ streams: ['Large'], added: ['Large'], removed: [], preserved: [] },
  });
  expect(await session.ask(inject(5), 'injected')).toEqual({ type: 'injected', event_type: 'A', outputs: 1 });
  expect(await session.ask(inject(1), 'injected')).toMatchObject({ outputs: 0 });
  const output = await session.next('output');
  const timestamp = output['timestamp'];
  expect(output).toEqual({ type: 'output', stream: 'Large', event: { event_type: 'Large', timestamp, data: { x: 5 } }, timestamp });
  expect(timestamp).toEqual(expect.any(Number));
  expect(session.answers.map(({ type }) => type)).toEqual(['ready', 'loaded', 'output', 'injected', 'injected']);
  await session.end();
});

it('keeps what streams remember when a program is loaded anew, and says so', async () => {
  const session = new JsonConversation();
  await session.ask({ cmd: 'load_vpl', vpl: event + pairs }, 'loaded');
  await session.ask(inject(1), 'injected');
  expect(await session.ask({ cmd: 'append_vpl', vpl: 'stream All = A.emit()\n' }, 'loaded')).toMatchObject({
    ...{ streams: ['Pairs', 'All'], added: ['All'], removed: [], preserved: ['Pairs'], reset: [], lost_state: [] },
  });
  expect(await session.ask({ cmd: 'set_trace', enabled: true }, 'ok')).toEqual({ type: 'ok', cmd: 'set_trace' });
  await session.ask(inject(2), 'injected');
  expect(session.of('output').map(({ stream, event }) => [stream, event])).toContainEqual([
    'Pairs',
    expect.objectContaining({ data: { first: 1, second: 2 } }),
  ]);
  expect(await session.ask({ cmd: 'load_vpl', vpl: large }, 'loaded')).toMatchObject({ added: ['Large'], removed: ['Pairs', 'All'] });
  expect(await session.ask({ cmd: 'get_metrics' }, 'metrics')).toMatchObject({ events_processed: 2, output_events: 2, streams_count: 1 });
  await session.end();
});

it('goes on with the program before when a new one has errors', async () => {
  const session = new JsonConversation();
  await session.ask({ cmd: 'load_vpl', vpl: large }, 'loaded');
  const refused = await session.ask({ cmd: 'load_vpl', vpl: 'stream X = Y.where(z ==\n' }, 'error');
  expect(refused).toMatchObject({ code: 'parse_error', details: [expect.objectContaining({ line: 1, severity: 'error' })] });
  expect(await session.ask(inject(5), 'injected')).toMatchObject({ outputs: 1 });
  expect(await session.ask({ cmd: 'get_source' }, 'source')).toEqual({ type: 'source', vpl: large });
  await session.end();
});

it('sends all outputs until the first subscription, then those that were asked for', async () => {
  const session = new JsonConversation();
  const streams = ['One', 'Two', 'Three'].map((name) => `stream ${name} = A.emit(x: x)\n`).join('');
  await session.ask({ cmd: 'load_vpl', vpl: event + streams }, 'loaded');
  const heard = async (x: number): Promise<readonly unknown[]> => {
    const before = session.answers.length;
    expect(await session.ask(inject(x), 'injected')).toMatchObject({ outputs: 3 });
    return session.answers.slice(before).flatMap((answer) => (answer.type === 'output' ? [answer['stream']] : []));
  };
  expect(await heard(1)).toEqual(['One', 'Two', 'Three']);
  const refused = { code: 'validation_error', message: "the program has no stream 'Tow'", hint: "did you mean 'Two'?" };
  expect(await session.ask({ cmd: 'subscribe', stream: 'Tow' }, 'error')).toMatchObject(refused);
  expect(await heard(1)).toEqual(['One', 'Two', 'Three']);
  await session.ask({ cmd: 'subscribe', stream: 'Two' }, 'ok');
  expect(await heard(2)).toEqual(['Two']);
  await session.ask({ cmd: 'subscribe', stream: 'Three' }, 'ok');
  await session.ask({ cmd: 'unsubscribe', stream: 'Two' }, 'ok');
  expect(await heard(3)).toEqual(['Three']);
  await session.ask({ cmd: 'unsubscribe', stream: 'Three' }, 'ok');
  expect(await heard(4)).toEqual([]);
  await session.end();
});

it('leaves one stream out when the first thing it hears is that nobody listens to it', async () => {
  const session = new JsonConversation();
  await session.ask({ cmd: 'load_vpl', vpl: `${event}stream One = A.emit(x: x)\nstream Two = A.emit(x: x)\n` }, 'loaded');
  await session.ask({ cmd: 'unsubscribe', stream: 'One' }, 'ok');
  await session.ask(inject(1), 'injected');
  expect(session.of('output').map(({ stream }) => stream)).toEqual(['Two']);
  await session.end();
});

it('makes as many events as rate and duration say, and says when they are through', async () => {
  const session = new JsonConversation('--rate', '500');
  const { stdout: vpl } = await cep(['generate', 'fraud', '--rules']);
  await session.ask({ cmd: 'load_vpl', vpl }, 'loaded');
  const started = await session.ask({ cmd: 'generate', schema: 'fraud', rate: 5_000, duration: 0.4 }, 'generator_status');
  expect(started).toEqual({ type: 'generator_status', running: true, generated: 0 });
  const after = session.answers.indexOf(started) + 1;
  expect(await session.next('generator_status', after)).toEqual({ type: 'generator_status', running: false, generated: 2_000 });
  expect(await session.ask({ cmd: 'get_metrics' }, 'metrics')).toMatchObject({ events_processed: 2_000, generated: 2_000 });
  expect(session.of('output').length).toBeGreaterThan(0);
  expect(await session.ask({ cmd: 'stop_generate' }, 'generator_status')).toMatchObject({ running: false });
  expect(await session.ask({ cmd: 'generate', schema: 'frauds' }, 'error')).toMatchObject({
    message: expect.stringContaining('unknown schema'),
  });
  await session.end();
});

it('begins with a program, with made-up events and with a trace when the command line says so', async () => {
  const file = work.write('rules.vpl', (await cep(['generate', 'iot', '--rules'])).stdout);
  const session = new JsonConversation('-f', file, '--generate', 'iot', '--rate', '2000', '--trace');
  expect(await session.next('loaded')).toMatchObject({ streams: ['Overheating', 'Bearing', 'LowBattery'] });
  expect(await session.next('generator_status')).toMatchObject({ running: true });
  const { entries } = (await session.next('trace')) as unknown as { readonly entries: readonly object[] };
  expect(entries[0]).toMatchObject({ kind: 'matched' });
  await session.end();
  expect(session.answers.slice(0, 2).map(({ type }) => type)).toEqual(['ready', 'loaded']);
});

it('tells of a program with errors on the command line and lives; one that is missing ends it with 2', async () => {
  const broken = new JsonConversation('-f', work.write('broken.vpl', 'strem X\n'));
  expect(await broken.next('error')).toMatchObject({ code: 'parse_error' });
  expect(await broken.end()).toBe(0);
  expect(broken.answers.map(({ type }) => type)).toEqual(['ready', 'error', 'bye']);
  expect(await cep(['interactive', '--json', '-f', work.file('missing.vpl')])).toMatchObject({ exitCode: 2, stdout: '' });
  expect(await cep(['interactive', '--json', '--rate', 'many'])).toMatchObject({ exitCode: 1 });
});

it('answers what the program is, as the server does', async () => {
  const session = new JsonConversation();
  await session.ask({ cmd: 'load_vpl', vpl: `${large}stream Next = Large.where(x > 5).emit(y: x)\n` }, 'loaded');
  expect(await session.ask({ cmd: 'get_streams' }, 'streams')).toEqual({
    type: 'streams',
    streams: [
      { name: 'Large', source: 'A', ops: ['where(x > 3)', 'emit(x: x)'] },
      { name: 'Next', source: 'Large', ops: ['where(x > 5)', 'emit(y: x)'] },
    ],
  });
  expect(await session.ask({ cmd: 'get_topology' }, 'topology')).toMatchObject({
    nodes: expect.arrayContaining([{ id: 'event:A', label: 'A', node_type: 'event', config: {} }]),
    edges: expect.arrayContaining([{ id: 'event:A->stream:Large', source: 'event:A', target: 'stream:Large' }]),
  });
  await session.end();
});

it('reads programs and events from files, tells of bad lines on standard error, and saves the program', async () => {
  const session = new JsonConversation();
  const path = work.write('large.vpl', large);
  expect(await session.ask({ cmd: 'load_file', path }, 'loaded')).toMatchObject({ added: ['Large'] });
  const events = work.write('events.evt', '@0 A { x: 4 }\nnonsense {\n@5s A { x: "text" }\n@1m A { x: 9 }\n');
  expect(await session.ask({ cmd: 'inject_file', path: events }, 'injected')).toEqual({
    type: 'injected',
    events: 2,
    outputs: 2,
    refused: 2,
  });
  const [first, second] = session.of('output');
  expect(Number(second?.['timestamp']) - Number(first?.['timestamp'])).toBe(60_000);
  expect(session.stderr).toContain('events.evt:2:');
  expect(await session.ask({ cmd: 'save', path: work.file('saved.vpl') }, 'ok')).toEqual({ type: 'ok', cmd: 'save' });
  expect(work.read('saved.vpl')).toBe(large);
  expect(await session.ask({ cmd: 'save', path: work.file('none/saved.vpl') }, 'error')).toMatchObject({ code: 'io_error' });
  expect(await session.ask({ cmd: 'load_file', path: 'missing.vpl' }, 'error')).toMatchObject({ code: 'file_not_found' });
  expect(await session.ask({ cmd: 'inject_file', path: 'missing.evt' }, 'error')).toMatchObject({ code: 'file_not_found' });
  await session.end();
});

it('takes event time from the event where it states one, else the time of arrival', async () => {
  const session = new JsonConversation();
  await session.ask({ cmd: 'load_vpl', vpl: large }, 'loaded');
  await session.ask({ ...inject(5), timestamp: '2026-01-02T03:04:05Z' }, 'injected');
  const before = Date.now();
  await session.ask(inject(6), 'injected');
  const [stated, arrived] = session.of('output').map(({ timestamp }) => Number(timestamp));
  expect(stated).toBe(Date.parse('2026-01-02T03:04:05Z'));
  expect(arrived).toBeGreaterThanOrEqual(before);
  await session.end();
});

it('lets time pass: an absence matches although nothing comes any more', async () => {
  const session = new JsonConversation();
  const silence = 'stream Silence = A as a -> NOT A as b\n    .within(200ms)\n    .emit(x: a.x)\n';
  expect(await session.ask({ cmd: 'load_vpl', vpl: event + silence }, 'loaded')).toMatchObject({ added: ['Silence'] });
  await session.ask(inject(1), 'injected');
  expect(await session.next('output')).toMatchObject({ stream: 'Silence', event: { data: { x: 1 } } });
  await session.end();
});

it('shows what a program sends to a console on standard error, and counts what it would send elsewhere', async () => {
  const session = new JsonConversation();
  const connectors = 'connector Screen = console ()\nconnector Hook = http (url: "http://127.0.0.1:1/x")\n';
  const vpl = `${event}${connectors}stream One = A.emit(x: x).to(Screen)\nstream Two = A.emit(x: x).to(Hook)\nstream Three = A.print("seen")\n`;
  await session.ask({ cmd: 'load_vpl', vpl }, 'loaded');
  await session.ask(inject(1), 'injected');
  expect(await session.ask({ cmd: 'get_metrics' }, 'metrics')).toMatchObject({ undelivered: 1 });
  expect(session.stderr).toContain('Screen: One { x: 1 }');
  expect(session.stderr).toContain('seen');
  await session.end();
});

it('counts each event that it answers with invalid_event, and what a file has of them', async () => {
  const session = new JsonConversation();
  await session.ask({ cmd: 'load_vpl', vpl: large }, 'loaded');
  await session.ask(inject(5), 'injected');
  const wrong = [inject('five'), inject(2 ** 60), { ...inject(1), timestamp: 'soon' }];
  for (const command of wrong) expect(await session.ask(command, 'error')).toMatchObject({ code: 'invalid_event' });
  expect(await session.ask({ cmd: 'get_metrics' }, 'metrics')).toMatchObject({ events_processed: 1, events_invalid: wrong.length });
  const path = work.write('wrong.evt', 'A { x: 1 }\nA { x: "y" }\nA { x: }\n');
  const played = await session.ask({ cmd: 'inject_file', path }, 'injected');
  expect(played).toMatchObject({ events: 1, refused: 2 });
  expect(await session.ask({ cmd: 'get_metrics' }, 'metrics')).toMatchObject({ events_processed: 2, events_invalid: wrong.length + 2 });
  await session.end();
});

import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, knowsRules, refusal } from './fake-server.ts';

const server = await FakeServer.start();
beforeEach(() => {
  knowsRules(server);
});

const route = 'GET /api/v1/pipelines/p_1/logs';
const frame = (id: number, user: string): string =>
  `id: ${id}\ndata: {"event_type":"Many","timestamp":${id * 1000},"data":{"user":"${user}"}}\n\n`;

/** A stream that begins so, and then ends, breaks off or stays open. */
function stream(text: string, then: 'ends' | 'breaks' | 'stays' = 'stays') {
  return (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`:\n\n${text}`, () => {
      if (then === 'ends') response.end();
      if (then === 'breaks') response.destroy();
    });
  };
}

const follows = () => server.requests.filter(({ url }) => url.endsWith('/logs'));

describe('cep logs', () => {
  it('shows alerts as they come', async () => {
    server.on(route, stream(frame(1, 'ann') + frame(2, 'bob')));
    const { exitCode, stdout, stderr } = await server.cep(['logs', 'rules', '--count', '2']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toBe('[00:00:01.000] Many { user: "ann" }\n[00:00:02.000] Many { user: "bob" }\n');
    expect(follows()[0]?.headers).toMatchObject({ accept: 'text/event-stream' });
    expect(follows()[0]?.headers['last-event-id']).toBeUndefined();
  });

  it('gives them as data, with their sequence numbers, and gaps too', async () => {
    server.on(route, stream(`event: gap\ndata: {"skipped":5}\n\n${frame(6, 'ann')}`));
    const { stdout } = await server.cep(['logs', 'rules', '-n', '1', '--json', '--after', '0']);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { type: 'gap', skipped: 5 },
      { type: 'output', event_type: 'Many', timestamp: 6000, data: { user: 'ann' }, sequence: 6 },
    ]);
    expect(follows()[0]?.headers['last-event-id']).toBe('0');
  });

  it('goes on behind the last alert when the connection is lost, and says what was missed', async () => {
    const gap = 'event: gap\ndata: {"skipped":2}\n\n';
    server.on(route, stream(frame(1, 'ann'), 'breaks'), stream(gap + frame(4, 'bob')));
    const { exitCode, stdout, stderr } = await server.cep(['logs', 'rules', '-n', '2']);
    expect([exitCode, stdout]).toEqual([0, '[00:00:01.000] Many { user: "ann" }\n[00:00:04.000] Many { user: "bob" }\n']);
    expect(stderr).toBe(
      `the connection to ${server.url} ended before the answer came; trying again\n2 alerts missed: the server no longer has them\n`,
    );
    expect(follows().map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1']);
  });

  it('goes on from where it began when the connection is lost before the first alert', async () => {
    server.on(route, stream('id: 7\n\n', 'breaks'), stream(frame(8, 'ann')));
    const { exitCode, stdout } = await server.cep(['logs', 'rules', '-n', '1']);
    expect([exitCode, stdout]).toEqual([0, '[00:00:08.000] Many { user: "ann" }\n']);
    expect(follows().map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '7']);
  });

  it('ends with 4 when the pipeline is removed meanwhile', async () => {
    server.on(route, stream(frame(1, 'ann'), 'ends'), refusal(404, 'pipeline_not_found', 'there is no such pipeline'));
    const { exitCode, stderr } = await server.cep(['logs', 'rules']);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('error: there is no such pipeline')]);
  });

  it('ends with 4 at once when the first connection fails', async () => {
    server.on(route, (response) => response.destroy());
    expect((await server.cep(['logs', 'rules'])).exitCode).toBe(4);
    expect(follows()).toHaveLength(1);
  });

  it.each([
    ['--count', '0'],
    ['--count', 'x'],
    ['--after', '-1'],
  ])('refuses %s %s', async (option, value) => {
    expect(await server.cep(['logs', 'rules', `${option}=${value}`])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`error: ${option}: expected a whole number`),
    });
  });
});

import '../../../../cli/top.ts'; // Reading it is no part of a test.
import { Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { HttpClient } from '../../../../cli/client/http-client.ts';
import { ServerApi, type TenantMetricsAnswer } from '../../../../cli/client/server-api.ts';
import { topText } from '../../../../cli/client/top-table.ts';
import { runCli } from '../../../../cli/run-cli.ts';
import { startServer } from '../../../../worker/server/index.ts';
import { Captured, cep } from '../cep.ts';
import { FakeServer } from './fake-server.ts';

const program = 'event A:\n    x: int\n\nstream S = A\n    .where(x > 1)\n    .emit(x)\n';

it('shows what the pipelines of a server did between two looks', async () => {
  const server = await startServer({ port: 0, engineThreads: 1, writeLog: () => undefined });
  const http = new HttpClient({ url: server.url, apiKey: undefined, ca: undefined, timeoutMs: 10_000 });
  try {
    const api = new ServerApi(http);
    const { id } = await api.deploy({ name: 'rules', program: { source: program }, labels: {} });
    const before = await api.allMetrics();
    const lines = [1, 2, 3].map((x) => `{"event_type":"A","data":{"x":${x}}}`).join('\n');
    await api.inject(id, { lines, isDurable: false, hasOutputs: false });
    const now = { ...(await api.allMetrics()), time: before.time + 2_000 };
    expect(topText(now, before)).toMatch(/^PIPELINE .*\nrules +running +1\.5 +1\.0 +3 +2 +0 +0\n$/);
    expect(topText(now, undefined)).toMatch(/\nrules +running +- +- +3 +2 /);
    const { exitCode, stdout } = await cep(['top', '--server', server.url, '--count', '1', '--interval', '10ms']);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^1 pipeline, 3 events, 2 alerts\nPIPELINE/)]);
    const asData = await cep(['top', '--server', server.url, '--count', '2', '--interval', '10ms', '--json']);
    expect(
      asData.stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as TenantMetricsAnswer).pipelines[0]?.name),
    ).toEqual(['rules', 'rules']);
  } finally {
    await http.close();
    await server.close();
  }
}, 60_000);

it('asks again when the server is away for a while, and needs it at first', async () => {
  const server = await FakeServer.start();
  const page = { totals: { pipelines: 0, events_processed: 0, output_events_emitted: 0 }, pipelines: [], total: 0 };
  server.on('GET /api/v1/metrics', { json: { ...page, time: 1_000 } }, (response) => response.destroy(), {
    json: { ...page, time: 3_000 },
  });
  const { exitCode, stdout } = await server.cep(['top', '--count', '1', '--interval', '10ms']);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('0 pipelines, 0 events, 0 alerts\n')]);
  expect(await cep(['top', '--server', 'http://127.0.0.1:1'])).toMatchObject({ exitCode: 4, stdout: '' });
  expect((await server.cep(['top', '--interval', 'soon'])).exitCode).toBe(1);
}, 60_000);

it('begins with the pipelines that somebody should look at', () => {
  const none = { events_processed: 0, output_events_emitted: 0, active_runs: 0, events_invalid: 0, events_late: 0, dlq_events: 0 };
  const pipeline = (name: string, status: string) => ({ id: name, name, status, ...none });
  const pipelines = [pipeline('a', 'running'), pipeline('b', 'degraded'), pipeline('c', 'running'), pipeline('d', 'failed')];
  const rows = topText({ time: 0, pipelines } as unknown as TenantMetricsAnswer, undefined)
    .split('\n')
    .slice(1, -1);
  expect(rows.map((row) => row.slice(0, 1))).toEqual(['d', 'b', 'a', 'c']);
});

it('says that a server does not answer, and ends at once when it is told to', async () => {
  const server = await FakeServer.start();
  const page = { totals: { pipelines: 0, events_processed: 0, output_events_emitted: 0 }, pipelines: [], total: 0 };
  server.on('GET /api/v1/metrics', { json: { ...page, time: 1_000 } }, () => undefined);
  const stderr = new Captured(false);
  const said = vi.waitUntil(() => stderr.text.includes('does not answer'), { timeout: 15_000 });
  const ended = runCli(['top', '--server', server.url, '--interval', '10ms'], {
    env: {},
    stdin: Readable.from(['']),
    stdout: new Captured(false),
    stderr,
    colorDepth: 1,
  });
  await said;
  const told = performance.now();
  process.emit('SIGINT');
  expect(await ended).toBe(0);
  expect(performance.now() - told).toBeLessThan(3_000);
}, 60_000);

it('ends with Ctrl+C although nothing has answered yet', async () => {
  const server = await FakeServer.start();
  const asked = new Promise<void>((resolve) => {
    server.on('GET /api/v1/metrics', () => resolve());
  });
  const ended = server.cep(['top', '--timeout', '60s']);
  await asked;
  process.emit('SIGINT');
  expect(await ended).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});

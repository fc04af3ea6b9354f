import '../../../../cli/tap.ts'; // Reading it is no part of a test.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HttpClient } from '../../../../cli/client/http-client.ts';
import { ServerApi } from '../../../../cli/client/server-api.ts';
import { type RunningServer, startServer } from '../../../../worker/server/index.ts';
import { type CepResult, cep } from '../cep.ts';

const program = `event A:
    x: int

stream One = A.emit(x)

stream Two = A
    .emit as Alarm (y: x)
`;

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ port: 0, engineThreads: 1, writeLog: () => undefined });
  const http = new HttpClient({ url: server.url, apiKey: undefined, ca: undefined, timeoutMs: 10_000 });
  const api = new ServerApi(http);
  for (const name of ['rules', 'team/rules']) {
    const { id } = await api.deploy({ name, program: { source: program }, labels: {} });
    await api.inject(id, { lines: '{"event_type":"A","data":{"x":1}}', isDurable: false, hasOutputs: false });
  }
  await http.close();
}, 60_000);

afterAll(async () => {
  await server.close();
});

function tap(target: string, count: number): Promise<CepResult> {
  return cep(['tap', target, '--server', server.url, '--after', '0', '--count', String(count)]);
}

it('shows the alerts of one stream, also of one that emits as another type', async () => {
  expect((await tap('rules/One', 1)).stdout).toMatch(/^\[.*\] One \{ x: 1 \}\n$/);
  expect((await tap('rules/Two', 1)).stdout).toMatch(/^\[.*\] Alarm \{ y: 1 \}\n$/);
  expect((await tap('rules', 2)).stdout.split('\n')).toHaveLength(3);
});

it('finds pipelines whose names hold a slash', async () => {
  expect((await tap('team/rules/Two', 1)).stdout).toMatch(/^\[.*\] Alarm \{ y: 1 \}\n$/);
  expect((await tap('team/rules', 2)).exitCode).toBe(0);
});

it('names the nearest stream, and pipelines that are not there', async () => {
  const refused = await tap('rules/Onee', 1);
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("no stream 'Onee'\n  hint: did you mean 'One'?")]);
  expect((await tap('none/One', 1)).exitCode).toBe(4);
});

import '../../../../cli/alerts.ts'; // Reading them is no part of a test.
import '../../../../cli/alerts-show.ts';
import '../../../../cli/alerts-watch.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HttpClient } from '../../../../cli/client/http-client.ts';
import { ServerApi } from '../../../../cli/client/server-api.ts';
import { type RunningServer, startServer } from '../../../../worker/server/index.ts';
import { type CepResult, cep } from '../cep.ts';

const program = `event Login:
    user: str
    country: str

stream Hop = Login as first -> Login where user == first.user and country != first.country as second .within(1h)
    .emit(user: first.user)
`;

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ port: 0, engineThreads: 1, writeLog: () => undefined });
  const http = new HttpClient({ url: server.url, apiKey: undefined, ca: undefined, timeoutMs: 30_000 });
  const api = new ServerApi(http);
  const { id } = await api.deploy({ name: 'rules', program: { source: program }, labels: {} });
  const login = (country: string, second: number): Promise<unknown> =>
    api.inject(id, {
      lines: JSON.stringify({ event_type: 'Login', timestamp: second * 1_000, data: { user: 'ann', country } }),
      isDurable: false,
      hasOutputs: false,
    });
  await login('DE', 1);
  await login('FR', 3);
  expect((await ask('alerts', 'watch', 'rules')).stdout).toBe(
    'Watching rules: alerts from now on are kept with the events that made them\n',
  );
  await login('IT', 8);
  await http.close();
}, 60_000);

afterAll(async () => {
  await server.close();
});

const ask = (...command: readonly string[]): Promise<CepResult> => cep([...command, '--server', server.url]);

it('lists the newest alerts, of all pipelines or of one', async () => {
  const rows =
    /^TIME +PIPELINE +ALERT +TYPE +FIELDS\n00:00:08.000 +rules +2 +Hop +user: "ann"\n00:00:03.000 +rules +1 +Hop +user: "ann"\n$/;
  expect((await ask('alerts')).stdout).toMatch(rows);
  expect((await ask('alerts', 'rules')).stdout).toMatch(rows);
  expect(JSON.parse((await ask('alerts', '-n', '1', '--json')).stdout).alerts).toMatchObject([{ sequence: 2 }]);
  expect((await ask('alerts', 'rule')).stderr).toContain("did you mean 'rules'?");
});

it('shows the events that made an alert, under their steps', async () => {
  const { stdout } = await ask('alerts', 'show', 'rules', '2');
  expect(stdout.replace(/id p_\S+/, 'id p')).toBe(`[00:00:08.000] Hop { user: "ann" }
alert 2 of rules, stream Hop, id p

Matched by 2 events:
  +0s        first   Login { user: "ann", country: "FR" }
  +5s        second  Login { user: "ann", country: "IT" }
`);
});

it('says that those of an alert from before are not known', async () => {
  expect((await ask('alerts', 'show', 'rules', '1')).stdout).toContain('The pipeline was not watched');
  expect(JSON.parse((await ask('alerts', 'show', 'rules', '1', '--json')).stdout)).toMatchObject({ sequence: 1, causes: null });
});

it('names an alert that is not there, or no number', async () => {
  const missing = await ask('alerts', 'show', 'rules', '9');
  expect([missing.exitCode, missing.stderr]).toEqual([4, expect.stringContaining("no alert '9'")]);
  expect((await ask('alerts', 'show', 'rules', 'x')).exitCode).toBe(1);
});

it('ends the watching', async () => {
  expect((await ask('alerts', 'watch', 'rules', '--off')).stdout).toBe('Watching rules no longer\n');
});

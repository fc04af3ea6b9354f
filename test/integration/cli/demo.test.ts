import { expect, it } from 'vitest';
import { CepProcess } from './cep-process.ts';

it('shows the demonstration with metrics, and ends with its summary on Ctrl+C', async () => {
  const demo = new CepProcess(['demo', '--anomalies', '--metrics', '--metrics-port', '0']);
  await demo.until(({ stderr }) => /^metrics: /m.test(stderr));
  const [, url = ''] = /^metrics: (\S+)$/m.exec(demo.stderr) ?? [];
  await demo.until(({ stdout }) => stdout.includes('Overheating {'));
  expect(await (await fetch(url)).text()).toMatch(/cep_output_events_total\{.*Overheating.*\} 1/);
  demo.kill('SIGINT');
  const { code, stdout } = await demo.ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Demo Complete[\s\S]*Overheating +1 of 1 put among the events/)]);
}, 60_000);

it('ends by itself, and says that there was nothing to find', async () => {
  const { code, stdout } = await new CepProcess(['demo', '--duration', '1', '--seed', '7']).ended;
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Events processed: 100\n[\s\S]*Nothing was out of order/)]);
}, 60_000);

it('gives alerts and summary as lines of JSON', async () => {
  const { code, stdout } = await new CepProcess(['demo', '--duration', '1', '--seed', '7', '--json']).ended;
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  expect([code, lines.at(-1)]).toMatchObject([0, { type: 'summary', events_processed: 100, alerts_by_stream: { ForcedDoor: 0 } }]);
  expect(new Set(lines.slice(0, -1).map(({ type }) => type)).size).toBeLessThanOrEqual(1);
}, 60_000);

import '../../../../cli/cluster-top.ts'; // Reading it is no part of a test.
import { expect, it } from 'vitest';
import { type ClusterLook, clusterTopHead, clusterTopText } from '../../../../cli/client/cluster-top-table.ts';
import { WatchScreen } from '../../../../cli/client/watch-screen.ts';
import type { ScreenFrame } from '../../../../cli/terminal/screen.ts';
import { FakeServer } from './fake-server.ts';

const counts = { workers: 1, pipeline_groups: 1, deployments: 2, events_processed: 500, events_in: 40, events_out: 4 };
const worker = { id: 'w-1', status: 'ready', events_per_second: 12.5, events_processed: 500, pipelines: ['a'], max_pipelines: 0 };

function look(time: number, events: number): ClusterLook {
  const deployment = { pipeline_name: 'hot', replica: 0, status: 'running', worker_id: 'w-1' };
  const waiting = { pipeline_name: 'cold', replica: 0, status: 'pending', worker_id: null };
  const pipeline = { group: 'floors', pipeline: 'hot', replica: 0, worker_id: 'w-1', events_in: events, events_out: 4 };
  return {
    time,
    workers: [{ ...worker, last_heartbeat: time - 1_000 }],
    groups: [{ name: 'floors', deployments: [deployment, waiting] }],
    metrics: { totals: counts, workers: [], pipelines: [pipeline] },
  } as unknown as ClusterLook;
}

it('shows each worker with what it runs below it, and first what runs nowhere', () => {
  const [now, before] = [look(12_000, 40), look(10_000, 20)];
  expect(clusterTopHead(now)).toBe('1 of 1 worker ready, 1 group, 500 events');
  const rows = clusterTopText(now, before).trimEnd().split('\n').slice(1);
  expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
    ['on no worker'],
    ['floors/cold', 'pending', '-', '-', '-', '-'],
    ['w-1', 'ready', '12.5', '500', '1', '1s ago'],
    ['floors/hot', 'running', '10.0', '0.0', '40', '4'],
  ]);
});

it('prints a table for each look where nothing can be drawn', async () => {
  const server = await FakeServer.start();
  const api = '/api/v1/cluster';
  const { workers, groups, metrics } = look(0, 1);
  server.on(`GET ${api}/workers`, { json: workers }, { json: workers });
  server.on(`GET ${api}/pipeline-groups`, { json: groups }, { json: groups });
  server.on(`GET ${api}/metrics`, { json: metrics }, { json: metrics });
  const { exitCode, stdout } = await server.cep(['cluster', 'top', '--count', '1', '--interval', '10ms', '--coordinator', server.url]);
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^1 of 1 worker ready, .*\nWORKER \/ PIPELINE +STATUS/)]);
});

function textOf({ rows }: ScreenFrame): readonly string[] {
  return (rows[0]?.[0]?.lines ?? []).map((spans) => spans.map(({ text }) => text).join(''));
}

it('scrolls a table that is longer than the screen under its titles, and quits', () => {
  let hasQuit = false;
  const screen = new WatchScreen('Pipelines', () => {
    hasQuit = true;
  });
  screen.show({ head: 'many', table: `NAME\n${Array.from({ length: 100 }, (_, at) => `row ${at}\n`).join('')}` });
  const size = { columns: 40, rows: 10 };
  expect(textOf(screen.frame(size))).toEqual(['NAME', 'row 0', 'row 1', 'row 2', 'row 3', 'row 4']);
  const press = (name: string, text = ''): void => screen.press({ name, isCtrl: false, isShift: false, text });
  press('pagedown');
  press('down');
  expect(textOf(screen.frame(size))).toEqual(['NAME', 'row 6', 'row 7', 'row 8', 'row 9', 'row 10']);
  press('end');
  expect(screen.frame(size).rows[0]?.[0]?.title).toBe('Pipelines, 96 to 100 of 100');
  press('', 'q');
  expect(hasQuit).toBe(true);
});

it('moves a table sideways that is wider than the screen, and says that it can', () => {
  const screen = new WatchScreen('Pipelines', () => undefined);
  screen.show({ head: 'wide', table: `${'NAME'.padEnd(40)}LAST\n${'a'.padEnd(40)}last\n` });
  const size = { columns: 30, rows: 10 };
  const hint = (): string | undefined => screen.frame(size).footer[0]?.[0]?.text;
  expect([hint(), screen.frame({ columns: 60, rows: 10 }).footer[0]?.[0]?.text]).toEqual([
    'Arrows scroll · q quits',
    'Up/Down scroll · q quits',
  ]);
  const press = (name: string): void => screen.press({ name, isCtrl: false, isShift: false, text: '' });
  for (let at = 0; at < 10; at++) press('right');
  expect(textOf(screen.frame(size)).map((line) => line.slice(-4))).toEqual(['LAST', 'last']);
  for (let at = 0; at < 10; at++) press('left');
  expect(textOf(screen.frame(size))[0]).toMatch(/^NAME/);
});

/**
 * What the server costs, as ratios within one run: single events against an empty route, batches against `JSON.parse` of the
 * same bytes. `npx tsx test/bench/server-bench.ts [rounds]`. Processor time counts all threads of the server.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { WebSocket } from 'ws';
import type { Served } from './processes/served.ts';
import { spreadOf } from './statistics.ts';

const batchEvents = 1_000;
const secondsPerCase = 3;
const socketBytesMax = 1_048_576;

const event = (i: number): object => ({
  event_type: 'Reading',
  fields: { sensor: `sensor-${i % 97}`, value: 20 + (i % 100) / 10, room: `r${i % 13}` },
});
const events = Array.from({ length: batchEvents }, (_, i) => event(i));
const single = JSON.stringify(event(1));
const batch = JSON.stringify({ events });
const lines = events.map((each) => JSON.stringify(each)).join('\n');

/** Processor microseconds per event, and events per second. */
interface Cost {
  readonly us: number;
  readonly perSecond: number;
}

async function reply<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
}

async function usedMicros(child: ChildProcess): Promise<number> {
  const answer = reply<NodeJS.CpuUsage>(child);
  child.send('usage');
  const { user, system } = await answer;
  return user + system;
}

async function measured(child: ChildProcess, load: () => Promise<number>): Promise<Cost> {
  const before = await usedMicros(child);
  const startMs = performance.now();
  const count = await load();
  const seconds = (performance.now() - startMs) / 1000;
  return { us: ((await usedMicros(child)) - before) / count, perSecond: count / seconds };
}

interface HttpLoad {
  readonly url: string;
  readonly body: string;
  readonly eventsPerRequest: number;
  readonly type?: string;
}

async function httpLoad({ url, body, eventsPerRequest, type = 'application/json' }: HttpLoad): Promise<number> {
  const connections = eventsPerRequest === 1 ? 16 : 4;
  const result = await autocannon({ url, method: 'POST', headers: { 'content-type': type }, body, connections, duration: secondsPerCase });
  return result['2xx'] * eventsPerRequest;
}

async function webSocketLoad({ server, program }: Served): Promise<number> {
  const socket = new WebSocket(`${server.replace('http', 'ws')}/ws`);
  let answers = 0;
  socket.on('message', () => answers++);
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'load', source: program }));
  const message = batch.replace('{', '{"type":"events",');
  const endMs = performance.now() + secondsPerCase * 1000;
  let sent = 0;
  for (; performance.now() < endMs; sent++) {
    socket.send(message);
    while (socket.bufferedAmount > socketBytesMax) await new Promise((resolve) => setImmediate(resolve));
  }
  while (answers < sent + 1) await new Promise((resolve) => setTimeout(resolve, 1));
  socket.terminate();
  return sent * batchEvents;
}

function parseMicros(): number {
  const rounds = 500;
  const before = process.cpuUsage();
  for (let i = 0; i < rounds; i++) JSON.parse(batch);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / rounds / batchEvents;
}

const child = fork(fileURLToPath(new URL('./processes/served.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
const served = await reply<Served>(child);
const batchUrl = `${served.pipeline}/events-batch?outputs=false`;
const cases: readonly (readonly [string, () => Promise<Cost>])[] = [
  ['empty route', () => measured(child, () => httpLoad({ url: served.empty, body: single, eventsPerRequest: 1 }))],
  ['single event', () => measured(child, () => httpLoad({ url: `${served.pipeline}/events`, body: single, eventsPerRequest: 1 }))],
  ['route that reads JSON', () => measured(child, () => httpLoad({ url: served.parse, body: batch, eventsPerRequest: batchEvents }))],
  ['batch', () => measured(child, () => httpLoad({ url: batchUrl, body: batch, eventsPerRequest: batchEvents }))],
  [
    'lines of JSON',
    () => measured(child, () => httpLoad({ url: batchUrl, body: lines, eventsPerRequest: batchEvents, type: 'application/x-ndjson' })),
  ],
  ['WebSocket batch', () => measured(child, () => webSocketLoad(served))],
];

const costs = new Map<string, Cost[]>(cases.map(([name]) => [name, []]));
const parses: number[] = [];
for (let round = 0; round < Number(process.argv[2] ?? 3); round++) {
  parses.push(parseMicros());
  for (const [name, measure] of cases) costs.get(name)?.push(await measure());
}
child.kill();

const middle = (values: readonly number[]): number => spreadOf(values).median;
const microsOf = (name: string): number => middle((costs.get(name) ?? []).map(({ us }) => us));
const line = (name: string, text: string): boolean => process.stdout.write(`${name.padEnd(40)} ${text}\n`);
line('JSON.parse of the batch', `${middle(parses).toFixed(3)} us/event`);
for (const [name, all] of costs) {
  line(
    name,
    `${microsOf(name).toFixed(3)} us/event, ${Math.round(middle(all.map(({ perSecond }) => perSecond))).toLocaleString('en-US')} events/s`,
  );
}
line('single event of the empty route', `${(microsOf('empty route') / microsOf('single event')).toFixed(2)} (goal 0.4)`);
line('batch of JSON.parse', `${(middle(parses) / microsOf('batch')).toFixed(2)} (goal 0.5)`);

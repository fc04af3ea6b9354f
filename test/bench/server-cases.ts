import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import autocannon, { type Result } from 'autocannon';
import { WebSocket } from 'ws';
import type { Served, Used } from './processes/served.ts';
import type { ServiceCase } from './service-bench.ts';

const BATCH_EVENTS = 1_000;
const SECONDS = 2;
const SOCKET_BYTES_MAX = 1_048_576;
const SCRAPES = 20;
const SERIES = 1_000;
/** What was scraped less than this ago is not made again. */
const FRESH_MS = 60;
const JSON_TYPE = 'application/json';

const events = Array.from({ length: BATCH_EVENTS }, (_, i) => ({
  event_type: 'Reading',
  fields: { sensor: `sensor-${i % 97}`, value: 20 + (i % 100) / 10, room: `r${i % 13}` },
}));
const single = JSON.stringify(events[1]);
const hot = JSON.stringify({ event_type: 'Reading', fields: { sensor: 'hot', value: 100, room: 'r1' } });
const batch = JSON.stringify({ events });
const lines = events.map((each) => JSON.stringify(each)).join('\n');

/** What the server costs beside something that must be done anyway. Speeds are by processor time of all threads of the server. */
export const serverCases: readonly ServiceCase[] = [
  {
    name: 'server-single',
    what: 'single events over HTTP beside a route that does nothing',
    unit: 'x',
    goal: { gate: 0.4, target: 0.6 },
    measure: () =>
      withServer(async (server) => {
        const empty = await server.microsOf(() => singles(server.served, server.served.empty));
        return empty / (await server.microsOf(() => singles(server.served, `${server.served.pipeline}/events`)));
      }),
  },
  {
    name: 'server-batch',
    what: 'batches of 1,000 over HTTP beside JSON.parse of the same bytes',
    unit: 'x',
    goal: { gate: 0.5, target: 0.9 },
    measure: () => withServer(async (server) => parseMicros() / (await server.microsOf(() => batches(server.served, batch, JSON_TYPE)))),
  },
  {
    name: 'server-lines',
    what: 'lines of JSON over HTTP beside JSON.parse of the batch',
    unit: 'x',
    goal: { gate: 0.5, target: 0.9 },
    measure: () =>
      withServer(async (server) => parseMicros() / (await server.microsOf(() => batches(server.served, lines, 'application/x-ndjson')))),
  },
  {
    name: 'server-websocket',
    what: 'batches of 1,000 over WebSocket beside JSON.parse of the same bytes',
    unit: 'x',
    goal: { gate: 0.5, target: 0.9 },
    measure: () => withServer(async (server) => parseMicros() / (await server.microsOf(() => overWebSocket(server.served)))),
  },
  {
    name: 'server-scrape',
    what: 'time of the event loop for a scrape with 1,000 series',
    unit: 'ms',
    goal: { gate: 5, target: 2 },
    measure: () => withServer((server) => scrapeMs(server)),
  },
  {
    name: 'server-health',
    what: 'p99 of /health while a program burns its budget again and again',
    unit: 'ms',
    goal: { gate: 20, target: 5 },
    measure: () => withServer((server) => healthMs(server.served)),
  },
];

/** A server in a process of its own. */
class MeasuredServer {
  readonly served: Served;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, served: Served) {
    this.#child = child;
    this.served = served;
  }

  /** Microseconds per event of a load, which tells how many events it was. */
  async microsOf(load: () => Promise<number>, of: keyof Used = 'processor'): Promise<number> {
    await load(); // The first time makes the code warm.
    const before = await this.#used();
    const count = await load();
    return ((await this.#used())[of] - before[of]) / count;
  }

  #used(): Promise<Used> {
    const answer = messageOf<Used>(this.#child);
    this.#child.send('used');
    return answer;
  }
}

async function withServer(measure: (server: MeasuredServer) => Promise<number>): Promise<number> {
  const child = fork(fileURLToPath(new URL('./processes/served.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
  try {
    return await measure(new MeasuredServer(child, await messageOf<Served>(child)));
  } finally {
    child.kill('SIGKILL');
  }
}

function messageOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the server that is measured ended'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
  });
}

function parseMicros(): number {
  const rounds = 1_000;
  for (let i = 0; i < rounds / 10; i++) JSON.parse(batch);
  const before = process.cpuUsage();
  for (let i = 0; i < rounds; i++) JSON.parse(batch);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / rounds / BATCH_EVENTS;
}

function headersOf({ key }: Served, type: string): Record<string, string> {
  return { 'content-type': type, 'x-api-key': key };
}

function post(served: Served, url: string, body: string, type: string, connections: number): Promise<Result> {
  return autocannon({ url, method: 'POST', headers: headersOf(served, type), body, connections, duration: SECONDS });
}

async function singles(served: Served, url: string): Promise<number> {
  return succeeded(await post(served, url, single, JSON_TYPE, 16));
}

async function batches(served: Served, body: string, type: string): Promise<number> {
  return succeeded(await post(served, `${served.pipeline}/events-batch?outputs=false`, body, type, 4)) * BATCH_EVENTS;
}

function succeeded(result: Result): number {
  if (result.non2xx > 0 || result['2xx'] === 0) throw new Error(`${result.non2xx} requests were refused, ${result['2xx']} taken`);
  return result['2xx'];
}

async function overWebSocket({ server, key, program }: Served): Promise<number> {
  const socket = new WebSocket(`${server.replace('http', 'ws')}/ws`, { headers: { 'x-api-key': key } });
  const message = batch.replace('{', '{"type":"events",');
  let sent = 0;
  await new Promise<void>((resolve, reject) => {
    let answers = 0;
    const endMs = performance.now() + SECONDS * 1000;
    const goOn = (): void => {
      if (performance.now() >= endMs) {
        if (answers === sent + 1) resolve();
        return;
      }
      for (; socket.bufferedAmount <= SOCKET_BYTES_MAX && sent < answers + 64; sent++) socket.send(message);
    };
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify({ type: 'load', source: program })));
    socket.on('message', (answer: Buffer) => {
      answers++;
      if (answer.includes('"error"')) reject(new Error(answer.toString()));
      else goOn();
    });
  });
  socket.terminate();
  return sent * BATCH_EVENTS;
}

async function scrapeMs(server: MeasuredServer): Promise<number> {
  const { served } = server;
  for (let i = 0; (await scrape(served)) < SERIES; i++) await addSeries(served, i);
  const micros = await server.microsOf(async () => {
    for (let i = 0; i < SCRAPES; i++) await scrape(served);
    return SCRAPES;
  }, 'loop');
  return micros / 1000;
}

/** A pipeline whose streams have all given something, which makes a series of each. */
async function addSeries(served: Served, which: number): Promise<void> {
  if (which === SERIES) throw new Error(`${which} pipelines have fewer than ${SERIES} series`);
  const pipeline = await deploy(served, `more-${which}`, wideProgram(which));
  const answer = await fetch(`${pipeline}/events`, { method: 'POST', headers: headersOf(served, JSON_TYPE), body: hot });
  if (!answer.ok) throw new Error(`an event was refused with ${answer.status}`);
}

/** Series in the answer. */
async function scrape({ metrics }: Served): Promise<number> {
  await setTimeout(FRESH_MS);
  const text = await (await fetch(metrics)).text();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}

function wideProgram(which: number): string {
  return Array.from({ length: 40 }, (_, i) => `stream S${which}x${i} = Reading.where(value > ${i}).emit(value: value)\n`).join('');
}

async function deploy(served: Served, name: string, source: string): Promise<string> {
  const { server } = served;
  const headers = headersOf(served, JSON_TYPE);
  const answer = await fetch(`${server}/api/v1/pipelines`, { method: 'POST', headers, body: JSON.stringify({ name, source }) });
  const { id } = (await answer.json()) as { readonly id: string };
  if (!answer.ok) throw new Error(`the pipeline ${name} was refused with ${answer.status}`);
  return `${server}/api/v1/pipelines/${id}`;
}

const burning = `fn burn() -> int:
  var total = 0
  for i in 0..900000:
    total := total + len(0..200)
  return total

stream Burn = Reading.select(burnt: burn() + burn() + burn() + burn()).emit(burnt: burnt)
`;

/** The longest of 99 in 100 answers, ms. */
async function healthMs(served: Served): Promise<number> {
  const hostile = await deploy(served, 'hostile', burning);
  let isOver = false;
  const burnt = (async () => {
    // Refused for its budget, or because the pipeline was given up meanwhile: it goes on all the same.
    while (!isOver) await post(served, `${hostile}/events-batch`, batch, JSON_TYPE, 2);
  })();
  const times = await answerTimes(`${served.server}/health`);
  isOver = true;
  await burnt;
  times.sort((one, other) => one - other);
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

async function answerTimes(url: string): Promise<number[]> {
  const times: number[] = [];
  const endMs = performance.now() + 2 * SECONDS * 1000;
  for (let startMs = performance.now(); startMs < endMs; startMs = performance.now()) {
    await (await fetch(url)).text();
    times.push(performance.now() - startMs);
  }
  return times;
}

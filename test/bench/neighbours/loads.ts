import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from './served.ts';

/** Connections over which a tenant does the same thing as fast as it can. */
const CONNECTIONS = 6;

export interface Greedy {
  readonly url: string;
  readonly key: string;
  readonly ask: Ask;
  readonly stop: AbortSignal;
}

/** What one tenant does with all its might. Each ends when it is told to; what is refused is its own affair. */
export const loads: Readonly<Record<string, (greedy: Greedy) => Promise<void>>> = {
  'validates loops in loops': (greedy) => storm(greedy, () => validate(greedy, loops)),
  'validates programs of 490 kB': (greedy) => storm(greedy, () => validate(greedy, wide(490_000))),
  'validates killers': (greedy) => storm(greedy, (n) => validate(greedy, killers[n % killers.length] as string)),
  'deploys killers': (greedy) =>
    storm(greedy, (n) => deploy(greedy, killers[n % killers.length] as string).then(({ id }) => remove(greedy, id))),
  'deploys and deletes': (greedy) => storm(greedy, () => deploy(greedy, simple).then(({ id }) => remove(greedy, id))),
  'floods with events': async (greedy) => {
    const { id } = await deploy(greedy, `${declared}stream Sums = S.window(10s).aggregate(n: count(), t: sum(v)).emit(n: n, t: t)\n`);
    const body = JSON.stringify({ events: Array.from({ length: 1_000 }, (_, n) => ({ event_type: 'S', fields: { v: n, k: `k${n}` } })) });
    await storm(greedy, () => greedy.ask('POST', `/api/v1/pipelines/${id}/events-batch?outputs=false`, body, greedy.stop));
    await remove(greedy, id);
  },
  'floods over WebSockets': async (greedy) => {
    const { default: WebSocket } = await import('ws');
    const sockets = Array.from(
      { length: CONNECTIONS },
      () => new WebSocket(`${greedy.url.replace('http', 'ws')}/ws`, { headers: { 'x-api-key': greedy.key } }),
    );
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('open', resolve))));
    for (const socket of sockets) socket.send(JSON.stringify({ type: 'load', source: simple }));
    const event = JSON.stringify({ type: 'event', event_type: 'S', fields: { v: 1, k: 'x' } });
    await storm(greedy, async (n) => {
      const socket = sockets[n % CONNECTIONS] as (typeof sockets)[number];
      const answered = new Promise((resolve) => socket.once('message', resolve));
      for (let k = 0; k < 20; k++) socket.send(event);
      await answered;
    });
  },
  'sends events that take long': async (greedy) => {
    const { id } = await deploy(greedy, slow);
    await storm(greedy, () => greedy.ask('POST', `/api/v1/pipelines/${id}/events`, { event_type: 'S', fields: { v: 1 } }, greedy.stop));
    await remove(greedy, id);
  },
  'sends large events that no sink takes': async (greedy) => {
    const { id } = await deploy(greedy, failing);
    await storm(greedy, () => greedy.ask('POST', `/api/v1/pipelines/${id}/events`, large, greedy.stop));
    await remove(greedy, id);
  },
  'lists large dead letters': async (greedy) => {
    const { id } = await deploy(greedy, failing);
    for (let n = 0; n < 100; n++) await greedy.ask('POST', `/api/v1/pipelines/${id}/events`, large);
    await storm(greedy, () => greedy.ask('GET', `/api/v1/pipelines/${id}/dlq?limit=1000`, undefined, greedy.stop));
    await remove(greedy, id);
  },
  'asks for what is not there': async (greedy) =>
    storm(greedy, () => greedy.ask('GET', '/api/v1/pipelines/p_0123456789abcdef/dlq?limit=1000', undefined, greedy.stop)),
  'lists large programs': async (greedy) => {
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.push((await deploy(greedy, `${simple}# ${'x'.repeat(900_000)}\n`)).id);
    await storm(greedy, () => greedy.ask('GET', '/api/v1/pipelines?limit=1000', undefined, greedy.stop));
    for (const id of ids) await remove(greedy, id);
  },
  'follows with 300 readers': async (greedy) => {
    const { id } = await deploy(greedy, `${declared}stream Echo = S.emit(v: v, k: k)\n`);
    const path = `/api/v1/pipelines/${id}`;
    const readers = Array.from({ length: 300 }, () => follow(`${greedy.url}${path}/logs`, greedy));
    await storm(greedy, () =>
      greedy.ask('POST', `${path}/events?outputs=false`, { event_type: 'S', fields: { v: 1, k: 'x' } }, greedy.stop),
    );
    await Promise.all(readers);
    await remove(greedy, id);
  },
};

const declared = 'event S:\n    v: float\n    k: str?\n\n';
export const simple = `${declared}stream Big = S.where(v > 10).emit(v: v)\n`;
const failing = `connector Out = http(url: "http://127.0.0.1:1/", retries: 0)\n${declared}stream L = S.emit(v: v, k: k).to(Out)\n`;
const large = { event_type: 'S', fields: { v: 1, k: 'x'.repeat(200_000) } };
const slow = `fn burn(n: float) -> int:
  var total = 0
  for i in 0..900000:
    total := total + len(0..50)
  return total

${declared}stream Slow = S.select(n: burn(v)).emit(n: n)
`;
const loops = 'for a in 0..10000:\n    for b in 0..10000:\n        stream S{a}_{b} = A.where(v > {b}).emit()\n';

function wide(bytes: number): string {
  let text = declared;
  for (let n = 0; text.length < bytes; n++) text += `stream O${n} = S.where(v > ${n} and k == "x${n}").emit(v: v + ${n}, k: k)\n`;
  return text;
}

const lines = (count: number, line: (n: number) => string): string => Array.from({ length: count }, (_, n) => line(n + 1)).join('');

/** Programs that double something with every line, or that are simply too much. */
const killers: readonly string[] = [
  declared +
    lines(
      16,
      (c) =>
        `stream A${c}_0 = S.where(v > 0)\n${lines(25, (n) => `stream A${c}_${n} = merge(A${c}_${n - 1}, stream Q${c}_${n} = A${c}_${n - 1}.where(v > 0))\n`)}`,
    ),
  `${declared}stream S0 = S.where(v > 0)\n${lines(16, (n) => `stream S${n} = merge(S${n - 1}.where(v > ${n}), S${n - 1}.where(v <= ${n}))\n`)}stream O = S16.emit(v: v)\n`,
  loops,
  `${declared}let a0 = "abcdefgh"\n${lines(40, (n) => `let a${n} = a${n - 1} + a${n - 1}\n`)}`,
  `${slow}let x = ${'burn(1.0) + '.repeat(200)}0\n`,
  `${declared}stream O = S${'.where(v > 1)'.repeat(24_000)}.emit(v: v)\n`,
  `${declared}stream C0 = S.where(v > 0)\n${lines(5_000, (n) => `stream C${n} = C${n - 1}.where(v > ${n})\n`)}`,
  `${declared}let x = ${'('.repeat(50_000)}1${')'.repeat(50_000)}\n`,
  `${declared}let x = ${'['.repeat(120)}1${']'.repeat(120)}\nstream O = S.where(v > ${'v + '.repeat(20_000)}1).emit()\n`,
  `${declared}let m = ${'{"a": '.repeat(100)}1${'}'.repeat(100)}\nlet t = "${'x'.repeat(900_000)}"\nstream O = S.where(k == t or k == t + t).emit(t: t + t)\n`,
];

async function storm({ stop }: Greedy, once: (n: number) => Promise<unknown>): Promise<void> {
  let n = 0;
  process.send?.('at its height');
  const connection = async (): Promise<void> => {
    while (!stop.aborted) {
      // What is refused comes again at once: nothing of that is to matter to anybody else.
      await once(n++).catch(() => sleep(10));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
}

function validate({ ask, stop }: Greedy, source: string): Promise<unknown> {
  return ask('POST', '/api/v1/validate', { source }, stop);
}

let deployed = 0;

async function deploy({ ask }: Greedy, source: string): Promise<{ readonly id: string }> {
  const { status, text } = await ask('POST', '/api/v1/pipelines', { name: `greedy-${deployed++}`, source });
  // A killer is refused, in many ways; anything else is a load that does not do what its name says.
  if (status !== 201 && !killers.includes(source)) process.stderr.write(`the load could not deploy: ${status} ${text.slice(0, 300)}\n`);
  return JSON.parse(text);
}

async function remove({ ask }: Greedy, id: string | undefined): Promise<void> {
  if (id !== undefined) await ask('DELETE', `/api/v1/pipelines/${id}`);
}

async function follow(url: string, { key, stop }: Greedy): Promise<void> {
  try {
    const { body } = await fetch(url, { headers: { 'x-api-key': key }, signal: stop });
    for await (const _ of body ?? []) if (stop.aborted) return;
  } catch {
    // Cut off when the load ends, as it is meant to be.
  }
}

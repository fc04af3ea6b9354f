import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { CepProcess } from '../cli/cep-process.ts';

/** How long the load lasts; a whole soak by `SOAK_SECONDS=600`. */
const seconds = Number(process.env['SOAK_SECONDS'] ?? 8);
const BATCH = 1_000;
const KEYS = 500;

const folder = mkdtempSync(join(tmpdir(), 'cep-soak-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = `event Login:
    user: str
    ok: bool
    ms: int

stream Slow = Login
    .partition_by(user)
    .window(100)
    .aggregate(mean: avg(ms), worst: max(ms))
    .where(worst > 990)
    .emit(user: user, mean: mean, worst: worst)

stream Guessed = Login where not ok as first -> Login where user == first.user and not ok as second -> Login where user == first.user and ok as last
    .within(2s)
    .emit(user: first.user, ms: last.ms)
`;

let events = 0;

/** A thousand logins of the users in turn, one in seven of which fails. */
function batch(): string {
  const logins = Array.from({ length: BATCH }, () => {
    const n = events++;
    return { event_type: 'Login', fields: { user: `user-${n % KEYS}`, ok: n % 7 !== 0, ms: (n * 7919) % 1000 } };
  });
  return JSON.stringify({ events: logins });
}

/** Sends batch after batch until the time is over; gives the number of events that were taken. */
async function httpLoad(url: string, endMs: number): Promise<number> {
  let taken = 0;
  while (performance.now() < endMs) {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: batch() });
    const text = await answer.text();
    if (answer.status === 429) await pause(50);
    else if (answer.ok) taken += (JSON.parse(text) as { readonly accepted: number }).accepted;
    else throw new Error(`${answer.status} ${text}`);
  }
  return taken;
}

/** The same over a WebSocket, eight batches under way at a time. */
async function socketLoad(url: string, endMs: number): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
  let taken = 0;
  let underWay = 0;
  await new Promise<void>((resolve, reject) => {
    const send = (): void => {
      for (; underWay < 8 && performance.now() < endMs; underWay++) socket.send(batch().replace('{', '{"type":"events",'));
      if (underWay === 0) resolve();
    };
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify({ type: 'load', source: program })));
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(String(data)) as { readonly type: string; readonly code?: string; readonly accepted?: number };
      if (message.type === 'output_event' || message.type === 'gap') return;
      if (message.type === 'events_injected') taken += message.accepted ?? 0;
      else if (message.type !== 'load_result' && message.code !== 'quota_exceeded' && message.code !== 'queue_full') {
        reject(new Error(String(data)));
      }
      if (message.type !== 'load_result') underWay--;
      send();
    });
  });
  socket.terminate();
  return taken;
}

/** Resident memory of the server in MB, ten times in all. */
async function memoryOverTime(metricsUrl: string, endMs: number): Promise<number[]> {
  const memory: number[] = [];
  while (performance.now() < endMs) {
    await pause((seconds * 1000) / 30);
    const text = await (await fetch(metricsUrl)).text();
    memory.push(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1e6);
  }
  return memory;
}

const middle = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

it(
  'keeps its memory under full load',
  async () => {
    const config = join(folder, 'json.yaml');
    writeFileSync(config, 'logging:\n  format: json\n');
    const args = ['--config', config, 'server', '--port', '0', '--metrics', '--metrics-port', '0', '--state-dir', join(folder, 'state')];
    const cep = new CepProcess(args);
    try {
      await cep.until(({ stderr }) => stderr.includes('"Server ready"') && stderr.includes('"Metrics listening"'));
      const urlOf = (message: string): string =>
        String(JSON.parse(cep.stderr.split('\n').find((line) => line.includes(`"${message}"`)) ?? '{}').url);
      const [url, metricsUrl] = [urlOf('Server listening'), urlOf('Metrics listening')];
      const answer = await fetch(`${url}/api/v1/pipelines`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'soak', source: program }),
      });
      const { id } = (await answer.json()) as { readonly id: string };
      const endMs = performance.now() + seconds * 1000;
      const path = `${url}/api/v1/pipelines/${id}/events-batch`;
      const [memory, ...taken] = await Promise.all([
        memoryOverTime(`${metricsUrl}/metrics`, endMs),
        httpLoad(path, endMs),
        httpLoad(`${path}?outputs=false`, endMs),
        httpLoad(`${path}?durable=true`, endMs),
        socketLoad(url, endMs),
      ]);
      const thirds = [0, 1, 2].map((third) => middle(memory.slice((third * memory.length) / 3, ((third + 1) * memory.length) / 3)));
      process.stdout.write(
        `soak: ${taken.join(' + ')} events in ${seconds} s; memory in MB by thirds: ${thirds.map(Math.round).join(', ')}\n`,
      );
      expect(Math.min(...taken)).toBeGreaterThan(0);
      const [, second = 0, third = 0] = thirds;
      // The heap still settles while the time is short.
      expect(third).toBeLessThan(second * (seconds >= 300 ? 1.1 : 1.5));
    } finally {
      cep.kill('SIGKILL');
      await cep.ended;
    }
  },
  (seconds + 60) * 1000,
);

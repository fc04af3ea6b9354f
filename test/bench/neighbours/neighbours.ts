/**
 * What one tenant at full load costs another: the latency of the other alone, and beside each kind of load. Two times is what it may
 * be. The load is stopped and goes on again every second, so that whatever else the machine does changes both alike. Anything of the
 * other that fails ends the run with 1.
 *
 *   node scripts/build.mjs && npx tsx test/bench/neighbours/neighbours.ts [--seconds 10] [part of a load's name]
 */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loads, simple } from './loads.ts';
import { type Ask, type Served, serve } from './served.ts';

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '10' } },
  allowPositionals: true,
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Apart from this process, which measures. */
const loadProcess = fileURLToPath(new URL('load-process.ts', import.meta.url));
/** Until the load is at its height. */
const WARM_UP_MS = 2_000;
/** How long the load works, and rests, in turn, and how long the server needs until only the one or the other can be seen. */
const TURN_MS = 1_000;
const SETTLE_MS = 300;

/** Milliseconds by what was done. */
type Latencies = Map<string, number[]>;

let failures = 0;

function fail(what: string): void {
  failures++;
  print(`  FAILED ${what}`);
}

/** Does what tenants do, one thing after the other, with pauses as between requests of people and machines. */
class Neighbour {
  readonly #ask: Ask;
  readonly #path: string;

  private constructor(ask: Ask, path: string) {
    this.#ask = ask;
    this.#path = path;
  }

  static async moveIn(ask: Ask): Promise<Neighbour> {
    const { text } = await ask('POST', '/api/v1/pipelines', { name: `own-${performance.now()}`, source: simple });
    return new Neighbour(ask, `/api/v1/pipelines/${JSON.parse(text).id}`);
  }

  async live(ms: number, latencies: Latencies): Promise<void> {
    const ask = this.#ask;
    const path = this.#path;
    for (const end = performance.now() + ms; performance.now() < end; await sleep(20)) {
      for (let n = 0; n < 5; n++)
        await timed('event', 200, latencies, () => ask('POST', `${path}/events`, { event_type: 'S', fields: { v: 11 } }));
      await timed('durable event', 200, latencies, () => ask('POST', `${path}/events?durable=true`, { event_type: 'S', fields: { v: 1 } }));
      await timed('validate', 200, latencies, () => ask('POST', '/api/v1/validate', { source: simple }));
      await timed('dead letters', 200, latencies, () => ask('GET', `${path}/dlq?limit=10`));
      const text = await timed('deploy', 201, latencies, () => ask('POST', '/api/v1/pipelines', { name: 'other', source: simple }));
      await timed('delete', 200, latencies, () => ask('DELETE', `/api/v1/pipelines/${JSON.parse(text).id}`));
    }
  }

  async moveOut(): Promise<void> {
    await this.#ask('DELETE', this.#path);
  }
}

async function timed(what: string, expected: number, latencies: Latencies, request: () => ReturnType<Ask>): Promise<string> {
  const began = performance.now();
  const { status, text } = await request().catch((error: unknown) => ({ status: 0, text: String(error) }));
  const list = latencies.get(what) ?? [];
  latencies.set(what, [...list, performance.now() - began]);
  if (status !== expected) fail(`${what}: ${status} ${text.slice(0, 200)}`);
  return text;
}

function medianOf(list: readonly number[] = []): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
}

const deeds = ['event', 'durable event', 'validate', 'dead letters', 'deploy', 'delete'] as const;

function show(name: string, beside: Latencies, alone: Latencies): void {
  const cells = deeds.map((deed) => {
    const [median, before] = [medianOf(beside.get(deed)), medianOf(alone.get(deed))];
    return `${before.toFixed(1)} ${median.toFixed(1)} ${(median / before).toFixed(1)}x`.padStart(17);
  });
  print(name.padEnd(30) + cells.join(''));
}

async function besides(served: Served, name: string, ask: Ask): Promise<void> {
  const { key } = await served.tenant(`greedy ${performance.now()}`);
  const neighbour = await Neighbour.moveIn(ask);
  const load = spawn(process.execPath, ['--import', 'tsx', loadProcess, served.url, key, name], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = new Promise((resolve) => load.on('exit', resolve));
  await new Promise((resolve) => load.once('message', resolve));
  await sleep(WARM_UP_MS);
  const alone: Latencies = new Map();
  const beside: Latencies = new Map();
  for (const end = performance.now() + Number(values.seconds) * 2_000; performance.now() < end; ) {
    load.kill('SIGSTOP');
    await sleep(SETTLE_MS);
    await neighbour.live(TURN_MS, alone);
    load.kill('SIGCONT');
    await sleep(SETTLE_MS);
    await neighbour.live(TURN_MS, beside);
  }
  show(name, beside, alone);
  load.kill('SIGTERM');
  await ended;
  await neighbour.moveOut();
}

const served = await serve();
const { ask } = await served.tenant('victim');
print('ms (median): alone, beside'.padEnd(30) + deeds.map((deed) => deed.padStart(17)).join(''));
for (const name of Object.keys(loads)) {
  if (!positionals.every((part) => name.includes(part)) || served.ended() !== undefined) continue;
  await besides(served, name, ask);
}
if (served.ended() !== undefined) fail(`the server ended with ${served.ended()}`);
else await served.close();
print(failures === 0 ? 'nothing of the other tenant failed' : `${failures} requests of the other tenant failed`);
process.exitCode = failures === 0 ? 0 : 1;

/**
 * What one tenant at full load costs another: the latency of the other alone, and beside each kind of load. Two times is what it may
 * be. Anything of the other that fails ends the run with 1.
 *
 *   node scripts/build.mjs && npx tsx test/bench/neighbours/neighbours.ts [--seconds 10] [--rounds 1] [part of a load's name]
 */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loads, simple } from './loads.ts';
import { type Ask, type Served, serve } from './served.ts';

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, rounds: { type: 'string', default: '1' } },
  allowPositionals: true,
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Apart from this process, which measures. */
const loadProcess = fileURLToPath(new URL('load-process.ts', import.meta.url));
/** Until the load is at its height. */
const WARM_UP_MS = 2_000;

/** Milliseconds by what was done. */
type Latencies = Map<string, number[]>;

let failures = 0;

function fail(what: string): void {
  failures++;
  print(`  FAILED ${what}`);
}

/** Does what tenants do, one thing after the other, with pauses as between requests of people and machines. */
async function live(ask: Ask, ms: number): Promise<Latencies> {
  const latencies: Latencies = new Map();
  const timed = async (what: string, expected: number, request: () => ReturnType<Ask>): Promise<string> => {
    const began = performance.now();
    const { status, text } = await request().catch((error: unknown) => ({ status: 0, text: String(error) }));
    const list = latencies.get(what) ?? [];
    latencies.set(what, [...list, performance.now() - began]);
    if (status !== expected) fail(`${what}: ${status} ${text.slice(0, 200)}`);
    return text;
  };
  const own = JSON.parse(
    await timed('first deploy', 201, () => ask('POST', '/api/v1/pipelines', { name: `own-${performance.now()}`, source: simple })),
  );
  const path = `/api/v1/pipelines/${own.id}`;
  for (const end = performance.now() + ms; performance.now() < end; await sleep(20)) {
    for (let n = 0; n < 5; n++) await timed('event', 200, () => ask('POST', `${path}/events`, { event_type: 'S', fields: { v: 11 } }));
    await timed('durable event', 200, () => ask('POST', `${path}/events?durable=true`, { event_type: 'S', fields: { v: 1 } }));
    await timed('validate', 200, () => ask('POST', '/api/v1/validate', { source: simple }));
    await timed('dead letters', 200, () => ask('GET', `${path}/dlq?limit=10`));
    const text = await timed('deploy', 201, () => ask('POST', '/api/v1/pipelines', { name: 'other', source: simple }));
    await timed('delete', 200, () => ask('DELETE', `/api/v1/pipelines/${JSON.parse(text).id}`));
  }
  await ask('DELETE', path);
  return latencies;
}

function medianOf(list: readonly number[] = []): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
}

const deeds = ['event', 'durable event', 'validate', 'dead letters', 'deploy', 'delete'] as const;

function show(name: string, latencies: Latencies, alone: Latencies | undefined): void {
  const cells = deeds.map((deed) => {
    const median = medianOf(latencies.get(deed));
    const ratio = alone === undefined ? '' : ` ${(median / medianOf(alone.get(deed))).toFixed(1)}x`;
    return `${median.toFixed(1)}${ratio}`.padStart(14);
  });
  print(name.padEnd(30) + cells.join(''));
}

async function besides(served: Served, name: string, ask: Ask, alone: Latencies): Promise<void> {
  const { key } = await served.tenant(`greedy ${performance.now()}`);
  const load = spawn(process.execPath, ['--import', 'tsx', loadProcess, served.url, key, name], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => load.on('exit', resolve));
  await sleep(WARM_UP_MS);
  show(name, await live(ask, Number(values.seconds) * 1_000), alone);
  load.kill('SIGTERM');
  await ended;
}

const served = await serve();
const { ask } = await served.tenant('victim');
print('ms (median)'.padEnd(30) + deeds.map((deed) => deed.padStart(14)).join(''));
await live(ask, 1_000);
for (let round = 0; round < Number(values.rounds) && served.ended() === undefined; round++) {
  for (const name of Object.keys(loads)) {
    if (!positionals.every((part) => name.includes(part)) || served.ended() !== undefined) continue;
    // Anew for each load: how busy the machine is otherwise changes in between.
    const alone = await live(ask, Number(values.seconds) * 500);
    show('alone', alone, undefined);
    await besides(served, name, ask, alone);
  }
}
if (served.ended() !== undefined) fail(`the server ended with ${served.ended()}`);
else await served.close();
print(failures === 0 ? 'nothing of the other tenant failed' : `${failures} requests of the other tenant failed`);
process.exitCode = failures === 0 ? 0 : 1;

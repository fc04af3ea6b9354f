import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { cep, logOf, path, post, type Served, serve } from './serving.ts';

/*
 * A server is killed under durable load, and one file of its state directory is damaged before it starts again: then everything that
 * was acknowledged is there, or the server says what it lacks, or refuses to start with the page that helps. `CEP_DAMAGE_ROUNDS=60`
 * runs more rounds and prints each.
 */
const rounds = Number(process.env['CEP_DAMAGE_ROUNDS'] ?? 6);
const key = 'the-key-of-the-server';
const env = { CEP_API_KEY: key };
const headers = { 'x-api-key': key };
const counting = `stream Seen = Tx
  .partition_by(n)
  .aggregate(n: last(n), times: count())
  .emit(n: n, times: times)
`;

/** Numbers from 0 to below 1 that a seed names (mulberry32, public domain). */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const damages: readonly (readonly [name: string, damage: (file: string, chance: () => number) => void])[] = [
  [
    'a bit flipped',
    (file, chance) => {
      const bytes = readFileSync(file);
      const at = Math.floor(chance() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(chance() * 8));
      writeFileSync(file, bytes);
    },
  ],
  ['cut', (file, chance) => truncateSync(file, Math.floor(chance() * statSync(file).size))],
  ['deleted', (file) => rmSync(file)],
];

interface Started {
  readonly server: Served;
  readonly pipeline: string;
  readonly tenant: string;
}

async function started(stateDir: string): Promise<Started> {
  const server = await serve(['--state-dir', stateDir, '--checkpoint-interval', '1'], env);
  const { id } = await post(`${server.url}/api/v1/pipelines`, { name: 'counting', source: counting }, headers);
  const tenant = await post(`${server.url}/api/v1/tenants`, { name: 'acme' }, headers);
  return { server, pipeline: String(id), tenant: String(tenant['id']) };
}

const tx = (n: number): object => ({ event_type: 'Tx', fields: { n } });

/** Sends events until the server is gone; gives the numbers that it acknowledged. */
async function load({ server, pipeline }: Started, ms: number): Promise<readonly number[]> {
  const acknowledged: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const n = next++;
      const answer = await post(`${server.url}/api/v1/pipelines/${pipeline}/events?durable=true`, tx(n), headers).catch(() => null);
      if (answer === null) return;
      if (answer['accepted'] === true) acknowledged.push(n);
    }
  };
  const clients = [client(), client(), client()];
  await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(20), { timeout: 20_000, interval: 10 });
  await new Promise((resolve) => setTimeout(resolve, ms));
  server.cep.kill('SIGKILL');
  await Promise.all(clients);
  return acknowledged;
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && statSync(join(file.parentPath, file.name)).size > 0)
    .map((file) => join(file.parentPath, file.name).slice(folder.length + 1))
    .filter((name) => !/^(store\/(LOCK|LOG(\.old)?)|lock.*)$/.test(name))
    .sort();

/** What a start over the directory shows: refused, or what is there and what was said. */
async function restarted(stateDir: string, { pipeline, tenant }: Started, acknowledged: readonly number[]) {
  const process = cep(['--config', path('json.yaml'), 'server', '--port', '0', '--state-dir', stateDir], env);
  await Promise.race([process.until(({ stderr }) => stderr.includes('"Server ready"')), process.ended]);
  if (!process.stderr.includes('"Server ready"')) {
    const { code } = await process.ended;
    return { outcome: 'refused', code, text: process.stderr } as const;
  }
  const log = logOf(process);
  const said = log.some((line) => 'runbook' in line || line['message'] === 'Torn end of the event log cut');
  const url = String(log.find(({ message }) => message === 'Server listening')?.['url']);
  const tenants = JSON.stringify(await (await fetch(`${url}/api/v1/tenants`, { headers })).json());
  const times = new Map<number, number>();
  for (const n of acknowledged) {
    const answer = await post(`${url}/api/v1/pipelines/${pipeline}/events`, tx(n), headers);
    const [output] = (answer['output_events'] ?? []) as readonly { readonly fields: { readonly times: number } }[];
    times.set(n, output === undefined ? 0 : output.fields.times - 1);
  }
  process.kill('SIGKILL');
  await process.ended;
  const lost = acknowledged.filter((n) => (times.get(n) ?? 0) < 1).length;
  const twice = acknowledged.filter((n) => (times.get(n) ?? 0) > 1).length;
  return { outcome: 'started', said, lost, twice, hasTenant: tenants.includes(tenant), text: process.stderr } as const;
}

it(`keeps or names everything over ${rounds} kills with a damaged file`, { timeout: 60_000 + rounds * 30_000 }, async () => {
  const chance = chances(20_261_123);
  const table: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const stateDir = path(`state-${round}`);
    mkdirSync(stateDir, { mode: 0o700 });
    const before = await started(stateDir);
    const acknowledged = await load(before, chance() * 1_600);
    const copy = `${stateDir}-copy`;
    cpSync(stateDir, copy, { recursive: true });
    const names = filesIn(copy);
    const name = names[Math.floor(chance() * names.length)] as string;
    const [damage, apply] = damages[Math.floor(chance() * damages.length)] as (typeof damages)[number];
    apply(join(copy, name), chance);
    const after = await restarted(copy, before, acknowledged);
    const { text, ...facts } = after;
    table.push(`${round} ${name} ${damage}: ${acknowledged.length} acknowledged, ${JSON.stringify(facts)}`);
    if (process.env['CEP_DAMAGE_ROUNDS'] !== undefined) process.stdout.write(`${table.at(-1)}\n`);
    expect(acknowledged.length, table.at(-1)).toBeGreaterThan(0);
    expect(text, table.at(-1)).not.toMatch(/unexpected failure|a defect|\n\s+at /);
    if (after.outcome === 'refused') {
      expect([after.code, text], table.at(-1)).toEqual([2, expect.stringContaining('docs/operations/damaged-storage.md')]);
    } else {
      const isWhole = after.lost === 0 && after.hasTenant;
      if (!isWhole) expect(after.said, table.at(-1)).toBe(true);
      expect(after.twice, table.at(-1)).toBe(0);
    }
    rmSync(stateDir, { recursive: true });
    rmSync(copy, { recursive: true });
  }
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { RaftStatus } from '../../../coordinator/raft/group.ts';
import { freePorts, groupKey, peersOn } from '../../integration/raft/local-peers.ts';
import type { Asked, LoadResult } from './load.ts';

/**
 * `npm run bench:raft -- [--seconds N] [--warm N] [--trials N] [--burn SECONDS] [--only PART,..]` measures a group of three processes on this machine:
 * first a raw append with sync, and the least that replication can be, in rounds with Raft itself; then what a kill, a stop and a
 * restart cost. Ratios of one run say something, figures of different runs do not.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    warm: { type: 'string', default: '30' },
    trials: { type: 'string', default: '20' },
    burn: { type: 'string', default: '60' },
    only: { type: 'string', default: 'commits,failover,stop,follower,restart,burn' },
  },
});
const [seconds, warmSeconds, trials, burnSeconds] = [values.seconds, values.warm, values.trials, values.burn].map(Number) as [
  number,
  number,
  number,
  number,
];
const parts = values.only.split(',');
const warmSecondsShort = 5;
const payloadBytes = 128;
const electionTimeoutMs = 1_000;
const folder = mkdtempSync(join(tmpdir(), 'cep-bench-raft-'));

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A process that answers what it is asked. */
class Measured {
  readonly child: ChildProcess;
  readonly #answers = new Map<number, (answer: unknown) => void>();
  #nextId = 1;
  leads: (term: number) => void = () => undefined;
  readonly ready: Promise<void>;
  readonly ended: Promise<unknown>;

  constructor(script: string, args: readonly string[]) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    this.child = spawn(process.execPath, ['--import', 'tsx', path, ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.ended = once(this.child, 'exit');
    let tellReady: () => void = () => undefined;
    this.ready = new Promise((resolve) => {
      tellReady = resolve;
    });
    this.child.on('message', (message: { id?: number; answer?: unknown; event?: string; term?: number }) => {
      if (message.event === 'ready') tellReady();
      if (message.event === 'leads') this.leads(message.term ?? 0);
      if (message.id !== undefined) this.#answers.get(message.id)?.(message.answer);
    });
    this.child.on('error', () => undefined);
  }

  ask<T>(what: string, asked: Partial<Asked> = {}): Promise<T> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve as (answer: unknown) => void);
      this.child.send({ id, what, asked: { bytes: payloadBytes, ...asked } }, () => undefined);
    });
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

type Status = RaftStatus & { readonly startMs: number; readonly applied: number };

class Group {
  readonly members = new Map<number, Measured>();
  readonly #folder: string;
  readonly #peers: ReturnType<typeof peersOn>;
  readonly #snapshotEntries: number;
  /** Called when a member has committed its first entry as leader. */
  leads: (id: number) => void = () => undefined;

  constructor(name: string, ports: readonly number[], snapshotEntries = 10_000) {
    this.#folder = join(folder, name);
    this.#peers = peersOn(ports);
    this.#snapshotEntries = snapshotEntries;
  }

  async startAll(): Promise<void> {
    await Promise.all(this.#peers.map(({ id }) => this.start(id)));
  }

  async start(id: number): Promise<Measured> {
    const port = this.#peers[id - 1]?.port;
    const options = { clusterId: 'bench', nodeId: id, peers: this.#peers, listen: { host: '127.0.0.1', port }, key: groupKey };
    const dataDir = join(this.#folder, String(id));
    const member = new Measured('./member.ts', [JSON.stringify({ ...options, dataDir, snapshotEntries: this.#snapshotEntries })]);
    this.members.set(id, member);
    member.leads = () => this.leads(id);
    await member.ready;
    return member;
  }

  /** The leader, once both others have its whole log. */
  async settled(): Promise<Measured> {
    for (const until = performance.now() + 60_000; performance.now() < until; await pause(20)) {
      for (const member of this.members.values()) {
        const { role, peers } = await member.ask<Status>('status');
        if (role === 'leader' && peers.every(({ lag, isReachable }) => lag === 0 && isReachable)) return member;
      }
    }
    throw new Error('the group does not settle');
  }

  idOf(member: Measured): number {
    return [...this.members].find(([, one]) => one === member)?.[0] ?? 0;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.members.values()].map((member) => member.kill()));
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function rawAppend(): { readonly p50Us: number; readonly perSecond: number } {
  const file = openSync(join(folder, 'raw'), 'w');
  const bytes = Buffer.alloc(payloadBytes);
  const took: number[] = [];
  const until = performance.now() + 3_000;
  while (performance.now() < until) {
    const since = performance.now();
    writeSync(file, bytes);
    fdatasyncSync(file);
    took.push(performance.now() - since);
  }
  closeSync(file);
  const sum = took.reduce((total, ms) => total + ms, 0);
  return { p50Us: Math.round(1_000 * quantile(took, 0.5)), perSecond: Math.round((1_000 * took.length) / sum) };
}

function quantile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

const text = ({ perSecond, p50Us, p99Us, maxUs, failed }: LoadResult): string =>
  `${String(perSecond).padStart(7)}/s  p50 ${p50Us} us  p99 ${p99Us} us  max ${maxUs} us${failed > 0 ? `  ${failed} failed` : ''}`;

/** The median of rounds, by what is done a second. */
const middle = (results: readonly LoadResult[]): LoadResult =>
  [...results].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(results.length / 2)] as LoadResult;

async function commits(): Promise<void> {
  const raw = rawAppend();
  print(`A  raw append and fdatasync, ${payloadBytes} B: p50 ${raw.p50Us} us, ${raw.perSecond}/s`);
  const [one = 0, two = 0, ...raftPorts] = await freePorts(5);
  const followers = [one, two].map((port, at) => new Measured('./minimal-replication.ts', [join(folder, `minimal-${at}`), String(port)]));
  await Promise.all(followers.map(({ ready }) => ready));
  const minimal = new Measured('./minimal-replication.ts', [join(folder, 'minimal-leader'), '0', String(one), String(two)]);
  await minimal.ready;
  const group = new Group('commits', raftPorts);
  await group.startAll();
  // What V8 has not compiled yet takes several times as long, for Raft longer, as it is more code; and many clients share a batch, so that
  // they do not warm what one of them runs. A member runs for months.
  for (const clients of [64, 1])
    for (const measured of [minimal, await group.settled()]) await measured.ask('load', { clients, seconds: warmSeconds });
  for (const clients of [1, 64, 256]) {
    const rounds: { readonly b: LoadResult; readonly raft: LoadResult; readonly reads: LoadResult }[] = [];
    for (let round = 0; round < 3; round++) {
      const b = await minimal.ask<LoadResult>('load', { clients, seconds: seconds / 3 });
      const leader = await group.settled();
      const raft = await leader.ask<LoadResult>('load', { clients, seconds: seconds / 3 });
      rounds.push({ b, raft, reads: await leader.ask<LoadResult>('reads', { clients, seconds: seconds / 3 }) });
    }
    const [b, raft, reads] = [
      middle(rounds.map((round) => round.b)),
      middle(rounds.map((round) => round.raft)),
      middle(rounds.map((round) => round.reads)),
    ];
    print(`${clients} client${clients === 1 ? '' : 's'}, the middle of 3 rounds`);
    print(`  B  minimal replication  ${text(b)}`);
    print(`     raft commits         ${text(raft)}`);
    print(`     raft reads           ${text(reads)}`);
    const rate = raft.perSecond / b.perSecond;
    print(
      `  commit p50 ${(raft.p50Us / b.p50Us).toFixed(2)} B, ${(raft.p50Us / raw.p50Us).toFixed(1)} A; commits/s ${rate.toFixed(2)} B, ${(raft.perSecond / raw.perSecond).toFixed(1)} A; reads/s ${(reads.perSecond / raft.perSecond).toFixed(1)} x commits/s`,
    );
  }
  await group.killAll();
  await Promise.all([minimal, ...followers].map((process) => process.kill()));
}

/** From the kill, or the request to end, of the leader until another has committed. */
async function failover(name: string, end: (leader: Measured) => void): Promise<void> {
  const group = new Group(name, await freePorts(3));
  await group.startAll();
  const took: number[] = [];
  for (let trial = 0; trial < trials; trial++) {
    const leader = await group.settled();
    const id = group.idOf(leader);
    const next = new Promise<void>((resolve) => {
      group.leads = (who) => who !== id && resolve();
    });
    const since = performance.now();
    end(leader);
    await next;
    took.push(performance.now() - since);
    await leader.ended;
    await group.start(id);
  }
  await group.killAll();
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(took, share)) as [number, number, number];
  const ofT = (ms: number): string => `${ms.toFixed(0)} ms (${(ms / electionTimeoutMs).toFixed(2)} T)`;
  print(`${name}, ${trials} trials, until another has committed: p50 ${ofT(p50)}, p99 ${ofT(p99)}, max ${ofT(max)}`);
}

/** How long a write waits at most while a follower is killed, beside how long one does without that. */
async function follower(): Promise<void> {
  const group = new Group('follower', await freePorts(3));
  await group.startAll();
  await (await group.settled()).ask('load', { clients: 64, seconds: warmSecondsShort });
  const [calm, killed]: [number[], number[]] = [[], []];
  for (let trial = 0; trial < trials; trial++) {
    const leader = await group.settled();
    const longest = async (): Promise<number> => (await leader.ask<LoadResult>('load', { clients: 1, seconds: 1 })).maxUs / 1_000;
    calm.push(await longest());
    const [id, other] = [...group.members].find(([, one]) => one !== leader) as [number, Measured];
    const during = longest();
    await pause(500);
    await other.kill();
    killed.push(await during);
    await group.start(id);
  }
  await group.killAll();
  const text = (longestMs: readonly number[]): string =>
    `p50 ${quantile(longestMs, 0.5).toFixed(0)} ms, max ${quantile(longestMs, 1).toFixed(0)} ms`;
  print(`longest write of a second, ${trials} trials: ${text(calm)}; with SIGKILL of a follower in it: ${text(killed)}`);
}

async function restart(): Promise<void> {
  const group = new Group('restart', await freePorts(3), 10_000_000);
  await group.startAll();
  const leader = await group.settled();
  for (let lastIndex = 0; lastIndex < 100_000; ) {
    await leader.ask('load', { clients: 256, seconds: 2 });
    ({ lastIndex } = await leader.ask<Status>('status'));
  }
  await group.settled();
  const id = group.idOf(leader);
  await group.killAll();
  const { startMs, lastIndex } = await (await group.start(id)).ask<Status>('status');
  print(`restart with ${lastIndex} entries: ${startMs.toFixed(0)} ms from the call until the member takes part`);
  await group.killAll();
}

async function burn(): Promise<void> {
  const group = new Group('burn', await freePorts(3));
  await group.startAll();
  const leader = await group.settled();
  const before = await leader.ask<Status>('status');
  for (const member of group.members.values()) await member.ask('burn', { seconds: burnSeconds });
  await pause((burnSeconds + 5) * 1_000);
  const after = await (await group.settled()).ask<Status>('status');
  print(`${burnSeconds} s with the calling threads of all three at 90 % load: ${after.term - before.term} elections`);
  await group.killAll();
}

try {
  print(`${cpus().length} cores, ${cpus()[0]?.model}, Node ${process.version}`);
  if (parts.includes('commits')) await commits();
  if (parts.includes('failover')) await failover('SIGKILL of the leader', (leader) => leader.child.kill('SIGKILL'));
  if (parts.includes('stop')) await failover('end of the leader with transfer', (leader) => void leader.ask('close'));
  if (parts.includes('follower')) await follower();
  if (parts.includes('restart')) await restart();
  if (parts.includes('burn')) await burn();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

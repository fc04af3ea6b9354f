import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../sim/event-queue.ts';
import { audit, type Report } from '../audit.ts';
import { Clients } from '../clients.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import { Arena } from './arena.ts';
import { auditOutputs, isExact, type OutputReport } from './audit-outputs.ts';
import { BrokerProducer, EventStore } from './broker-producer.ts';
import { type CompiledTools, compiledTools } from './compiled-tools.ts';
import { Disks } from './disks.ts';
import { dataDir, Fleet } from './fleet.ts';
import { loopback } from './loopback.ts';
import { hasNamespaces, namespaces } from './namespaces.ts';
import { type Done, Nemesis } from './nemesis.ts';
import { Pinger } from './pinger.ts';
import { Producer } from './producer.ts';
import { chaosGroup, groupName, storedName } from './programs.ts';
import { Sink } from './sink.ts';
import { beat } from './story.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly coordinators: number;
  readonly workers: number;
  /** @default as many as a laptop takes */
  readonly producers?: number;
  /** Faults that are done in this order, each once, instead of others for so long. */
  readonly script?: readonly string[];
  /** Names of the faults that are done. @default all that can be done here */
  readonly only?: readonly string[] | undefined;
  /** Without it, links are never cut, and everything is on 127.0.0.1. */
  readonly usesNamespaces: boolean;
  /** URL of a NATS server with JetStream that all processes reach: from it a pipeline reads too. @default events are injected alone */
  readonly nats?: string | undefined;
  /** It reads as a durable consumer, which the server gives events again. @default by positions */
  readonly isDurable?: boolean;
  /** Path of `cli/bin.mjs` of another build, which takes part. */
  readonly otherBuild?: string | undefined;
  /** Logs stay in any case. @default false */
  readonly keepsLogs?: boolean;
  readonly heartbeatTimeoutSeconds?: number;
  readonly checkpointIntervalSeconds?: number;
  /** Ends the run, which then rejects; nothing of it is left. */
  readonly signal?: AbortSignal;
  /** Told each line of the timeline as it happens. */
  readonly onNote?: (line: string) => void;
}

export interface ChaosReport {
  readonly seed: number;
  readonly coordinators: number;
  readonly workers: number;
  /** From the first fault to the last event. */
  readonly minutes: number;
  /** Processes that were killed. */
  readonly kills: number;
  readonly done: readonly Done[];
  readonly outputs: OutputReport;
  /** What clients of the API saw. */
  readonly history: Report;
  readonly acknowledgements: readonly Acknowledgement[];
  /** In words, what was promised and not kept, besides what the two above say. */
  readonly violations: readonly string[];
  /** Faults that this machine cannot do, and what they need. */
  readonly leftOut: readonly string[];
  /** Where logs and timeline are, when they were kept. */
  readonly folder: string | undefined;
}

const recoveryMsMax = 90_000;
const settleMsMax = 120_000;
/** Long enough for the clock to close windows meanwhile, a little longer than what comes late is late. */
const beatPauseMsMax = 7_000;
const beatAgoMsMax = 4_000;
/** What is said twice may come a moment later. */
const repeatsMs = 2_500;

export function isClean({ outputs, history, violations }: Omit<ChaosReport, 'folder'>): boolean {
  return isExact(outputs) && violations.length === 0 && history.lost.length === 0 && history.verdict === 'linearizable';
}

/** Starts a cluster of real processes, does one fault after the other to it while clients work, lets it come to rest, and judges what came out. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = await mkdtemp(join(tmpdir(), 'cep-chaos-'));
  const count = options.coordinators + options.workers + 1;
  const network = options.usesNamespaces && (await hasNamespaces()) ? await namespaces(count) : await loopback(count);
  const sink = await Sink.start(network.outside);
  const disks = network.links && new Disks();
  const tools = await compiledTools(folder);
  const store = options.nats === undefined ? undefined : await EventStore.open(options.nats, options.isDurable ?? false);
  const run = new ChaosRun(options, { folder, network, sink, disks, tools, store });
  try {
    for (let id = 1; id <= options.coordinators; id++) await disks?.mount(dataDir(folder, id));
    const report = await Promise.race([run.all(), ended(options.signal)]);
    await run.close();
    await disks?.close();
    const isKept = options.keepsLogs === true || !isClean(report);
    if (!isKept) await rm(folder, { recursive: true, force: true });
    return { ...report, folder: isKept ? folder : undefined };
  } finally {
    await run.close();
    await disks?.close();
    await store?.close();
    await sink.close();
    await network.close();
  }
}

/** Rejects when a run is to end. */
function ended(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('the run was ended'))));
}

interface Ground {
  readonly folder: string;
  readonly network: Awaited<ReturnType<typeof loopback>>;
  readonly sink: Sink;
  readonly disks: Disks | undefined;
  readonly tools: CompiledTools | undefined;
  readonly store: EventStore | undefined;
}

class ChaosRun {
  readonly #options: ChaosOptions;
  readonly #ground: Ground;
  readonly #fleet: Fleet;
  readonly #arena: Arena;
  readonly #producers: readonly (Producer | BrokerProducer)[];
  readonly #pinger: Pinger;
  readonly #clients: Clients;
  readonly #acknowledgements: Acknowledgement[] = [];
  readonly #violations: string[] = [];
  readonly #timeline: string[] = [];
  readonly #beganAt = performance.now();
  #version = 1;
  #faultsFrom = 0;

  constructor(options: ChaosOptions, ground: Ground) {
    this.#options = options;
    this.#ground = ground;
    const { seed, coordinators, workers, producers = 4, heartbeatTimeoutSeconds = 6, checkpointIntervalSeconds = 2 } = options;
    const { folder, network, sink, tools, store } = ground;
    const violated = (what: string): void => this.#violated(what);
    this.#fleet = new Fleet({
      ...{ network, folder, coordinators, workers, heartbeatTimeoutSeconds, checkpointIntervalSeconds, slowSync: tools?.slowSync },
      heartbeatIntervalSeconds: heartbeatTimeoutSeconds / 6,
      onUnasked: violated,
    });
    const acknowledged = (one: Acknowledgement): void => void this.#acknowledgements.push(one);
    const random = (part: number) => seededRandom(seed * 1_000 + part);
    const client = { group: this.#fleet, pauseMsMax: 120, acknowledged, violated };
    const beating = random(998);
    const tell = (name: string, number: number) => [beat(name, number, beating(2) * beating(beatAgoMsMax))];
    this.#producers = [
      ...Array.from({ length: producers }, (_, at) => new Producer({ ...client, name: `p${at}`, random: random(at + 2) })),
      new Producer({ ...client, name: 'beats', random: random(997), pauseMsMax: beatPauseMsMax, tell }),
      ...[0, 1].flatMap((at) => {
        return store ? [new BrokerProducer({ store, name: storedName(at), random: random(990 + at), pauseMsMax: 240 })] : [];
      }),
    ];
    this.#pinger = new Pinger({ ...client, random: random(1) });
    this.#clients = new Clients({ group: this.#fleet, random: random(0), seed, writers: 2, readers: 2, pauseMsMax: 400 });
    this.#arena = new Arena({
      ...{
        fleet: this.#fleet,
        links: network.links,
        disks: ground.disks,
        tools,
        otherBuild: options.otherBuild,
        random: random(999),
        folder,
        violated,
      },
      heartbeatTimeoutMs: heartbeatTimeoutSeconds * 1_000,
      hasAcknowledged: (from, to) => this.#acknowledgements.some(({ firstSentAt, at }) => firstSentAt > from && at < to),
      note: (what) => this.#note(what),
      nextPrograms: () => chaosGroup(sink.url, ++this.#version, store),
    });
  }

  async all(): Promise<Omit<ChaosReport, 'folder'>> {
    await this.#fleet.start();
    await this.#deploy();
    this.#note(`${this.#options.coordinators} coordinators and ${this.#options.workers} workers run the programs`);
    for (const what of this.#leftOut()) this.#note(`left out: ${what}`);
    const clients = Promise.all([...this.#producers.map((one) => one.run()), this.#pinger.run(), this.#clients.run()]);
    const nemesis = this.#nemesis();
    this.#faultsFrom = performance.now();
    try {
      const { script, minutes } = this.#options;
      await (script === undefined ? nemesis.run(performance.now() + minutes * 60_000) : nemesis.script(script));
      await this.#settle(clients);
      return await this.#report(nemesis);
    } finally {
      this.#endClients();
      await writeFile(join(this.#ground.folder, 'timeline.txt'), `${this.#timeline.join('\n')}\n`);
    }
  }

  async close(): Promise<void> {
    this.#endClients();
    await this.#fleet.close();
  }

  async #deploy(): Promise<void> {
    const body = { name: groupName, ...chaosGroup(this.#ground.sink.url, this.#version, this.#ground.store) };
    const { status, body: told } = await this.#fleet.persist({ method: 'POST', path: '/pipeline-groups', body, deadlineMs: 60_000 });
    if (status !== 201) throw new Error(`the programs were answered ${status} ${JSON.stringify(told)}`);
  }

  #nemesis(): Nemesis {
    return new Nemesis({
      ...{ arena: this.#arena, acknowledgements: this.#acknowledgements, recoveryMsMax, only: this.#options.only },
      pipelines: ['pairs', 'counts', 'joins', 'pongs'],
      onFault: () => this.#clients.nextRound(),
    });
  }

  /** Everything runs again, and what was begun is finished. */
  async #settle(clients: Promise<unknown>): Promise<void> {
    this.#note('no more faults');
    await this.#ground.network.links?.heal();
    for (const one of [...this.#fleet.coordinators, ...this.#fleet.workers]) {
      if (one.isRunning) one.resume();
      else one.start();
    }
    await this.#fleet.whole(settleMsMax).catch((error: unknown) => this.#violated((error as Error).message));
    this.#endClients();
    const late = sleep(settleMsMax, 'late', { ref: false });
    if ((await Promise.race([clients, late])) === 'late') {
      const waiting = this.#producers.filter(({ waitingSince }) => waitingSince !== undefined).map(({ name }) => name);
      this.#violated(`what ${waiting.join(', ')} sent was not acknowledged within ${settleMsMax / 1_000} s after the last fault`);
    }
    const until = performance.now() + settleMsMax;
    while (this.#outputs().lost.length > 0 && performance.now() < until) await sleep(200);
    this.#note(`all outputs have come ${Math.round(performance.now() - until + settleMsMax)} ms after the last event`);
    await sleep(repeatsMs);
  }

  #outputs(): OutputReport {
    const sent = new Map(this.#producers.map(({ name, sent }) => [name, sent]));
    return auditOutputs({ deliveries: this.#ground.sink.deliveries, sent, pings: this.#pinger.outcomes });
  }

  async #report(nemesis: Nemesis): Promise<Omit<ChaosReport, 'folder'>> {
    const minutes = (performance.now() - this.#faultsFrom) / 60_000;
    const last = await this.#clients.readAll();
    const { history, acknowledgements } = this.#clients;
    const { seed, coordinators, workers } = this.#options;
    return {
      ...{ seed, coordinators, workers, minutes },
      kills: this.#fleet.parts.reduce((sum, { kills }) => sum + kills, 0),
      done: nemesis.done,
      outputs: this.#outputs(),
      history: audit({ history, acknowledgements, kills: [], last }),
      acknowledgements: this.#acknowledgements,
      violations: this.#violations,
      leftOut: this.#leftOut(),
    };
  }

  #leftOut(): readonly string[] {
    const { network, tools } = this.#ground;
    return [
      ...(network.links === undefined
        ? ['cut links and full disks, for which it takes root, `ip` and `iptables`, and no `--loopback`']
        : []),
      ...(tools === undefined ? ['slow disks and frames that overtake each other, for which it takes `cc`'] : []),
    ];
  }

  #endClients(): void {
    for (const one of [...this.#producers, this.#pinger, this.#clients]) one.end();
  }

  #violated(what: string): void {
    this.#violations.push(what);
    this.#note(`VIOLATION ${what}`);
  }

  #note(what: string): void {
    const line = `${((performance.now() - this.#beganAt) / 1_000).toFixed(2).padStart(8)} s  ${new Date().toISOString().slice(11, 23)}  ${what}`;
    this.#timeline.push(line);
    this.#options.onNote?.(line);
  }
}

import { join } from 'node:path';
import { vi } from 'vitest';
import type { RaftMember, RaftMemberOptions, RaftPeer, ReplicatedState } from '../../../coordinator/raft/group.ts';
import { startRaftMember } from '../../../coordinator/raft/start-raft-member.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { type Logger, silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import { groupKey } from './local-peers.ts';

export const wait = { timeout: 30_000, interval: 10 };

/** The commands in their order. */
class Journal implements ReplicatedState {
  commands: string[] = [];
  apply: ReplicatedState['apply'] = ({ data }) => this.commands.push(Buffer.from(data).toString());
  *save(): Iterable<Uint8Array> {
    for (const command of [...this.commands]) yield Buffer.from(`${command}\n`);
  }
  restore: ReplicatedState['restore'] = (state) => {
    this.commands = Buffer.from(state).toString().split('\n').slice(0, -1);
  };
}

interface Running {
  readonly member: RaftMember;
  readonly journal: Journal;
  readonly metrics: MetricRegistry;
  readonly lines: { readonly message: string; readonly fields: unknown }[];
}

/** Members of one group in this process, each with its thread, its sockets and a folder in `folder`. */
export class Group {
  readonly running = new Map<number, Running>();
  readonly peers: RaftPeer[];
  readonly #folder: string;

  constructor(folder: string, peers: readonly RaftPeer[]) {
    this.#folder = folder;
    this.peers = [...peers];
  }

  async start(id: number, options: Partial<RaftMemberOptions> = {}): Promise<Running> {
    const journal = new Journal();
    const metrics = new MetricRegistry();
    const lines: Running['lines'] = [];
    const log: Logger = {
      ...silentLogger,
      isEnabled: () => true,
      log: (_, message, fields) => lines.push({ message, fields }),
    };
    const own = this.peers.find((peer) => peer.id === id) as RaftPeer;
    const member = await startRaftMember({
      dataDir: join(this.#folder, String(id)),
      clusterId: 'cluster',
      nodeId: id,
      peers: this.peers,
      listen: { host: '127.0.0.1', port: own.port },
      key: groupKey,
      state: journal,
      telemetry: new Telemetry(log, metrics),
      timers: { tickMs: 10 },
      ...options,
    });
    const running = { member, journal, metrics, lines };
    this.running.set(id, running);
    return running;
  }

  of(id: number): Running {
    const found = this.running.get(id);
    if (found === undefined) throw new Error(`member ${id} does not run`);
    return found;
  }

  async stop(id: number, transfer = false): Promise<void> {
    const { member } = this.of(id);
    this.running.delete(id);
    await member.close({ transfer });
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.running.keys()].map((id) => this.stop(id)));
  }

  /** One that leads and has committed something in its term. */
  leader(): Promise<number> {
    return vi.waitFor(async () => {
      for (const [id, { member }] of this.running) {
        if (member.status().role !== 'leader') continue;
        await member.readIndex();
        return id;
      }
      throw new Error('nobody leads');
    }, wait);
  }

  async propose(id: number, text: string): Promise<unknown> {
    return (await this.of(id).member.propose(Buffer.from(text))).result;
  }

  async agreed(commands: readonly string[]): Promise<void> {
    await vi.waitFor(() => {
      for (const [id, { journal }] of this.running)
        if (journal.commands.join() !== commands.join()) throw new Error(`member ${id} does not agree`);
    }, wait);
  }
}

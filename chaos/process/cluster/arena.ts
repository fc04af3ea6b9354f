import { setTimeout as sleep } from 'node:timers/promises';
import type { CompiledTools } from './compiled-tools.ts';
import type { Disks } from './disks.ts';
import type { Fleet } from './fleet.ts';
import type { Links } from './network.ts';
import type { Part } from './part.ts';

export interface ArenaOptions {
  readonly fleet: Fleet;
  readonly links: Links | undefined;
  /** Undefined where none can become full. */
  readonly disks: Disks | undefined;
  readonly tools: CompiledTools | undefined;
  /** The command of another build; undefined where there is none. */
  readonly otherBuild: string | undefined;
  /** What is done follows from it; when it is done, from how fast the machine answers. */
  readonly random: (bound: number) => number;
  readonly heartbeatTimeoutMs: number;
  readonly folder: string;
  /** Whether a request that was sent, and acknowledged, between two moments is among those of clients. */
  readonly hasAcknowledged: (fromMs: number, toMs: number) => boolean;
  readonly note: (what: string) => void;
  readonly violated: (what: string) => void;
  /** The programs of the group, in another version each time. */
  readonly nextPrograms: () => object;
}

/** What faults work with. */
export class Arena {
  readonly fleet: Fleet;
  readonly options: ArenaOptions;

  constructor(options: ArenaOptions) {
    this.options = options;
    this.fleet = options.fleet;
  }

  note(what: string): void {
    this.options.note(what);
  }

  /** The same time again has the same seed. */
  async pause(fromMs: number, toMs: number): Promise<void> {
    await sleep(this.between(fromMs, toMs));
  }

  between(from: number, to: number): number {
    return from + this.options.random(Math.max(1, to - from));
  }

  pick<T>(all: readonly T[]): T {
    return all[this.options.random(all.length)] as T;
  }

  /** The coordinator that leads; while there is none, any that is awake. */
  async leader(): Promise<Part> {
    const { coordinators } = this.fleet;
    const awake = coordinators.filter(({ isAwake }) => isAwake);
    return (await this.fleet.leader()) ?? this.pick(awake.length > 0 ? awake : coordinators);
  }

  async follower(): Promise<Part> {
    const leader = await this.leader();
    return this.pick(this.fleet.coordinators.filter((one) => one !== leader));
  }

  /** One that has pipelines, where there is one. */
  async busyWorker(): Promise<Part> {
    const { status, body } = await this.fleet.persist({ method: 'GET', path: '/workers' });
    const busy = status === 200 ? (body as { id: string; pipelines: string[] }[]).filter(({ pipelines }) => pipelines.length > 0) : [];
    const parts = busy.flatMap(({ id }) => this.fleet.workers[Number(id.slice(1)) - 1] ?? []).filter(({ isAwake }) => isAwake);
    return this.pick(parts.length > 0 ? parts : this.fleet.workers);
  }
}

export interface Fault {
  readonly name: string;
  /** Of the list of faults in `docs/operations/faults.md`. */
  readonly rows: readonly number[];
  /** It can only be done with network namespaces. */
  readonly needsLinks?: boolean;
  /** It can only be done where there is a C compiler. */
  readonly needsTools?: boolean;
  /** It can only be done with another build of the product. */
  readonly needsOtherBuild?: boolean;
  /**
   * Does it, holds it and takes it back. `recovers` is called at the moment from which the cluster can go on by itself; when it is not,
   * that is the end.
   */
  readonly run: (arena: Arena, recovers: () => void) => Promise<void>;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Acknowledgement } from './acknowledgement.ts';
import type { Arena, Fault } from './arena.ts';
import { coordinatorFaults } from './coordinator-faults.ts';
import { crowdFaults } from './crowd-faults.ts';
import { diskFaults } from './disk-faults.ts';
import { machineFaults } from './machine-faults.ts';
import { migrationFaults } from './migration-faults.ts';
import { networkFaults } from './network-faults.ts';
import { operatorFaults } from './operator-faults.ts';
import { strangerFaults } from './stranger-faults.ts';
import { upgradeFaults } from './upgrade-faults.ts';
import { workerFaults } from './worker-faults.ts';

/** By what they touch: of each kind at most one is under way. */
const kinds: readonly (readonly Fault[])[] = [
  [...coordinatorFaults, ...diskFaults],
  [...workerFaults, ...strangerFaults],
  operatorFaults,
  crowdFaults,
  networkFaults,
  machineFaults,
  migrationFaults,
  upgradeFaults,
];

export const allFaults: readonly Fault[] = kinds.flat();

/** A fault that was done. */
export interface Done {
  readonly fault: Fault;
  /** Until every pipeline had acknowledged an event that was sent after the cluster could go on by itself; ms. */
  readonly recoveredMs: number;
  /** Terms that began meanwhile, whatever for; of those that were done together each has all. */
  readonly elections: number;
}

export interface NemesisOptions {
  readonly arena: Arena;
  readonly acknowledgements: readonly Acknowledgement[];
  /** Those that must take events again. */
  readonly pipelines: readonly string[];
  /** @default all that can be done here */
  readonly only?: readonly string[] | undefined;
  readonly recoveryMsMax: number;
  readonly onFault: () => void;
}

/** Does one fault after the other, some of them two at a time, and waits after each until the cluster works again. */
export class Nemesis {
  readonly done: Done[] = [];
  readonly #options: NemesisOptions;
  readonly #kinds: readonly (readonly Fault[])[];
  #termSeen = 0;

  constructor(options: NemesisOptions) {
    this.#options = options;
    const { only, arena } = options;
    const isPossible = ({ name, needsLinks, needsTools, needsOtherBuild }: Fault): boolean =>
      (needsLinks !== true || arena.options.links !== undefined) &&
      (needsTools !== true || arena.options.tools !== undefined) &&
      (needsOtherBuild !== true || arena.options.otherBuild !== undefined) &&
      (only === undefined || only.includes(name));
    this.#kinds = kinds.map((kind) => kind.filter(isPossible)).filter((kind) => kind.length > 0);
    if (this.#kinds.length === 0) throw new Error(`none of the faults ${only?.join(', ') ?? ''} can be done here`);
  }

  /** Resolves when the time is over, after the fault that is under way then. */
  async run(untilMs: number): Promise<void> {
    const { arena } = this.#options;
    while (performance.now() < untilMs) {
      await arena.pause(200, 2_000);
      const kind = arena.pick(this.#kinds);
      const others = this.#kinds.filter((one) => one !== kind);
      const isAlone = others.length === 0 || arena.options.random(3) > 0;
      const faults = [arena.pick(kind), ...(isAlone ? [] : [arena.pick(arena.pick(others))])];
      await this.#do(faults);
    }
  }

  /** Does these faults, one after the other. */
  async script(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const fault = allFaults.find((one) => one.name === name);
      if (fault === undefined) throw new Error(`there is no fault '${name}'`);
      await this.#do([fault]);
      await this.#rest();
    }
  }

  async #do(faults: readonly Fault[]): Promise<void> {
    const { arena, onFault } = this.#options;
    let from: number | undefined;
    const term = await this.#term();
    onFault();
    await Promise.all(
      faults.map(async (fault) => {
        let isTold = false;
        const recovers = (): void => {
          isTold = true;
          from = Math.max(from ?? 0, performance.now());
        };
        try {
          await fault.run(arena, recovers);
        } catch (error) {
          // What it asks may be out of reach because of the other one.
          arena.note(`${fault.name} was not carried out: ${(error as Error).message}`);
        }
        if (!isTold) recovers();
      }),
    );
    const recoveredMs = await this.#recovery(from ?? performance.now());
    const elections = (await this.#term()) - term;
    for (const fault of faults) this.done.push({ fault, recoveredMs, elections });
    arena.note(`every pipeline took events again after ${Math.round(recoveredMs)} ms, ${elections} terms later`);
    // Now and then the next fault meets a cluster that has not come to rest.
    if (arena.options.random(3) > 0) await this.#rest();
  }

  /** The latest that anybody has told; who is cut off tells an earlier one, or nothing. */
  async #term(): Promise<number> {
    const { fleet } = this.#options.arena;
    const told = await fleet.persist({ method: 'GET', path: '/raft/status' }).catch(() => undefined);
    this.#termSeen = Math.max(this.#termSeen, told?.body.term ?? 0);
    return this.#termSeen;
  }

  async #recovery(from: number): Promise<number> {
    const { arena, acknowledgements, pipelines, recoveryMsMax } = this.#options;
    const until = performance.now() + recoveryMsMax;
    for (;;) {
      const firsts = pipelines.map((pipeline) => acknowledgements.find((one) => one.sentAt > from && one.pipelines.includes(pipeline))?.at);
      if (firsts.every((at) => at !== undefined)) return Math.max(...firsts) - from;
      if (performance.now() > until) {
        const missing = pipelines.filter((_, at) => firsts[at] === undefined);
        arena.options.violated(`after ${recoveryMsMax / 1_000} s ${missing.join(', ')} took no event`);
        return Number.POSITIVE_INFINITY;
      }
      await sleep(20);
    }
  }

  async #rest(): Promise<void> {
    const { arena, recoveryMsMax } = this.#options;
    await arena.fleet.whole(recoveryMsMax).catch((error: unknown) => arena.options.violated((error as Error).message));
  }
}

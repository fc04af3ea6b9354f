import { setTimeout } from 'node:timers/promises';
import type { GroupMember } from '../cluster/group-member.ts';
import { ProcessMap, type WorkerProcess } from '../liveness/process-map.ts';
import type { Controller } from '../reconcile/controller.ts';
import { ipAddressIn } from './ip-address-in.ts';
import type { WorkerClient } from './worker-client.ts';

interface ConnectError {
  readonly code?: string;
  readonly address?: string;
}

interface WatchedProcess extends WorkerProcess {
  readonly address: string;
}

/** Between two looks at an address that refuses: long enough for nobody, short enough that a failover does not wait for it. */
const REFUSED_AGAIN_MS = 25;
const AGAIN_MS = 1_000;
/** Begun with one look: when very many workers come at once, who registers is not to wait for connections to all of them. */
const BEGUN_MAX = 16;

/**
 * Holds a connection to every worker, which the kernel closes when the process dies. A connection that breaks, at an IP address that then
 * refuses others or is another process's, proves that nothing of the process runs any more: what it had is given away at once, not after the
 * time of silence. A name proves nothing: it may lead to another machine by now, while the process goes on at the one before.
 * A worker that cannot be reached, or was never, proves nothing. Of one that was silent for its time nothing is left to prove, and its address
 * may be another's by now: it is called again when it is heard.
 */
export class WorkerWatches {
  readonly #group: GroupMember;
  readonly #client: WorkerClient;
  readonly #controller: Controller;
  readonly #watches = new ProcessMap<AbortController>();

  constructor({ group, client, controller }: { group: GroupMember; client: WorkerClient; controller: Controller }) {
    this.#group = group;
    this.#client = client;
    this.#controller = controller;
    controller.onLook(() => this.#follow());
  }

  close(): void {
    for (const [, watch] of this.#watches.entries()) watch.abort();
    this.#watches.clear();
  }

  #follow(): void {
    const { leases, isLeading } = this.#controller;
    const { workers } = this.#group.state;
    const isWanted = (process: WorkerProcess): boolean => {
      const worker = workers.get(process.id);
      return worker?.incarnation === process.incarnation && worker.status !== 'removed' && !leases.isOver(process);
    };
    for (const [process, watch] of this.#watches.entries()) {
      if (isLeading && isWanted(process)) continue;
      watch.abort();
      this.#watches.delete(process);
    }
    if (!isLeading) return;
    let begun = 0;
    for (const worker of workers.values()) {
      if (this.#watches.get(worker) !== undefined || worker.status === 'removed' || leases.isOver(worker)) continue;
      if (++begun > BEGUN_MAX) return;
      const watch = new AbortController();
      this.#watches.set(worker, watch);
      void this.#watch(worker, watch.signal).finally(() => {
        // It has ended by itself, with the lead: whoever leads again begins a new one.
        if (this.#watches.get(worker) === watch) this.#watches.delete(worker);
      });
    }
  }

  async #watch(process: WatchedProcess, signal: AbortSignal): Promise<void> {
    const { address, incarnation } = process;
    const peer = (): string | undefined => ipAddressIn(address) ?? this.#client.peerOf(address);
    /** Where it was reached, by IP address. */
    let place: string | undefined;
    let refusals = 0;
    while (!signal.aborted && this.#controller.isLeading) {
      try {
        let isFirst = true;
        const who = await this.#stay(process, signal, () => {
          // Connections made since may go where the name leads by now.
          if (isFirst) place = peer();
          isFirst = false;
          refusals = 0;
        });
        const isItsPlace = ipAddressIn(address) !== undefined || (place !== undefined && place === peer());
        if (who !== undefined && who !== incarnation && isItsPlace) return this.#died(process);
      } catch (error) {
        refusals = place !== undefined && isRefusalOf(place, error) ? refusals + 1 : 0;
        if (refusals > 1) return this.#died(process);
      }
      await pause(place === undefined ? AGAIN_MS : REFUSED_AGAIN_MS, signal);
    }
  }

  /** Reads on until the connection ends. Gives the incarnation of whoever answers there, when it is another one. */
  async #stay({ address, incarnation }: WatchedProcess, signal: AbortSignal, there: () => void): Promise<string | undefined> {
    let unread = '';
    // Whoever leaves this loop, by whatever way, leaves the connection too: an error of one that nobody reads would end the process.
    for await (const piece of await this.#client.watch(address, signal)) {
      const lines = `${unread}${piece.toString()}`.split('\n');
      unread = lines.pop() ?? '';
      for (const line of lines) {
        const told = JSON.parse(line) as { incarnation?: string };
        if (told.incarnation !== undefined && told.incarnation !== incarnation) return told.incarnation;
        there();
      }
    }
    return undefined;
  }

  #died(process: WatchedProcess): void {
    this.#controller.leases.died(process);
    this.#controller.changed();
  }
}

/** A name with several addresses has been tried at each of them. */
function isRefusalOf(place: string, error: unknown): boolean {
  const { errors = [error] } = error as Partial<AggregateError>;
  return errors.some(({ code, address }: ConnectError) => code === 'ECONNREFUSED' && address === place);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    // It is not watched any more.
    if (!signal.aborted) throw error;
  }
}

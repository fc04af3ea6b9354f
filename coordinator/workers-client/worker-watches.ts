import { setTimeout } from 'node:timers/promises';
import type { GroupMember } from '../cluster/group-member.ts';
import { ProcessMap, type WorkerProcess } from '../liveness/process-map.ts';
import type { Controller } from '../reconcile/controller.ts';
import type { WorkerClient } from './worker-client.ts';

interface WatchedProcess extends WorkerProcess {
  readonly address: string;
}

/** Between two looks at an address that refuses: long enough for nobody, short enough that a failover does not wait for it. */
const REFUSED_AGAIN_MS = 25;
const AGAIN_MS = 1_000;
/** Begun with one look: when very many workers come at once, who registers is not to wait for connections to all of them. */
const BEGUN_MAX = 16;

/**
 * Holds a connection to every worker, which the kernel closes when the process dies. A connection that breaks, at an address that then
 * refuses others, proves that nothing of the process runs any more: what it had is given away at once, not after the time of silence.
 * A worker that cannot be reached, or was never, proves nothing.
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
      return worker?.incarnation === process.incarnation && worker.status !== 'removed' && !leases.isProvenDead(process);
    };
    for (const [process, watch] of this.#watches.entries()) {
      if (isLeading && isWanted(process)) continue;
      watch.abort();
      this.#watches.delete(process);
    }
    if (!isLeading) return;
    let begun = 0;
    for (const worker of workers.values()) {
      if (this.#watches.get(worker) !== undefined || worker.status === 'removed' || leases.isProvenDead(worker)) continue;
      if (++begun > BEGUN_MAX) return;
      const watch = new AbortController();
      this.#watches.set(worker, watch);
      void this.#watch(worker, watch.signal);
    }
  }

  async #watch(process: WatchedProcess, signal: AbortSignal): Promise<void> {
    let wasThere = false;
    let refusals = 0;
    while (!signal.aborted && this.#controller.isLeading) {
      try {
        const who = await this.#stay(process, signal, () => {
          wasThere = true;
          refusals = 0;
        });
        if (who !== undefined && who !== process.incarnation) return this.#died(process);
      } catch (error) {
        refusals = isRefusal(error) ? refusals + 1 : 0;
        if (wasThere && refusals > 1) return this.#died(process);
      }
      await pause(wasThere ? REFUSED_AGAIN_MS : AGAIN_MS, signal);
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

function isRefusal(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    // It is not watched any more.
    if (!signal.aborted) throw error;
  }
}

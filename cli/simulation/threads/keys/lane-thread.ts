import type { Worker } from 'node:worker_threads';
import { spawnThread } from '../../../../shared/threads/spawn.ts';
import type { LaneSetup } from './lane.ts';
import type { FromLaneThread, LaneThreadSetup } from './lane-messages.ts';
import type { LaneRecord } from './lane-record.ts';

/** What a thread tells of its lane. */
export interface LaneListener {
  /** Records come in order. */
  record(record: LaneRecord): void;
  /** No more come. */
  lost(): void;
}

/** A lane on a thread of its own. */
export interface LaneThread {
  /** So many records may be made, those made before included. */
  allow(records: number): void;
  close(): Promise<void>;
}

export type StartLane = (setup: LaneSetup, number: number, listener: LaneListener) => LaneThread;

/** Threads of this process, each with a run of the program and the file open. */
export function laneThreads(program: Pick<LaneThreadSetup, 'programPaths' | 'program'>): StartLane {
  return (setup, number, listener) => new WorkerLane({ ...setup, ...program, number }, listener);
}

class WorkerLane implements LaneThread {
  readonly #worker: Worker;
  readonly #listener: LaneListener;
  #isLost = false;

  constructor(setup: LaneThreadSetup, listener: LaneListener) {
    this.#listener = listener;
    this.#worker = spawnThread('cli/simulation/threads/keys/lane-worker.ts', { name: `simulation-${setup.number}`, data: setup });
    this.#worker.on('message', (message: FromLaneThread) => {
      if (message.kind === 'lost') this.#lose();
      else if (!this.#isLost) this.#listener.record(message.record);
    });
    this.#worker.on('error', () => this.#lose());
    this.#worker.on('exit', () => this.#lose());
  }

  allow(records: number): void {
    this.#worker.postMessage(records);
  }

  async close(): Promise<void> {
    this.#isLost = true;
    await this.#worker.terminate();
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#listener.lost();
  }
}

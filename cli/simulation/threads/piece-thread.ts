import type { Worker } from 'node:worker_threads';
import { spawnThread } from '../../../shared/threads/spawn.ts';
import type { FromPieceThread, PieceSetup } from './piece-messages.ts';
import type { Piece, PieceRecord } from './piece-record.ts';

/** What a thread tells, in any order with other threads. */
export interface PieceListener {
  ready(): void;
  record(record: PieceRecord): void;
  /** It does nothing any more, nor will it tell of the pieces it has. */
  lost(): void;
}

/** Records pieces in the order in which it is given them. */
export interface PieceThread {
  give(piece: Piece): void;
  close(): Promise<void>;
}

export type StartThread = (listener: PieceListener, number: number) => PieceThread;

/** Threads of this process, each with a run of the program and the file open. */
export function pieceThreads(setup: PieceSetup): StartThread {
  return (listener, number) => new WorkerThread(setup, listener, number);
}

class WorkerThread implements PieceThread {
  readonly #worker: Worker;
  readonly #listener: PieceListener;
  #isLost = false;

  constructor(setup: PieceSetup, listener: PieceListener, number: number) {
    this.#listener = listener;
    this.#worker = spawnThread('cli/simulation/threads/piece-worker.ts', { name: `simulation-${number}`, data: setup });
    this.#worker.on('message', (message: FromPieceThread) => this.#take(message));
    this.#worker.on('error', () => this.#lose());
    this.#worker.on('exit', () => this.#lose());
  }

  give(piece: Piece): void {
    this.#worker.postMessage(piece);
  }

  async close(): Promise<void> {
    this.#isLost = true;
    await this.#worker.terminate();
  }

  #take(message: FromPieceThread): void {
    if (this.#isLost) return;
    if (message.kind === 'ready') this.#listener.ready();
    else if (message.kind === 'record') this.#listener.record(message.record);
    else this.#lose();
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#listener.lost();
  }
}

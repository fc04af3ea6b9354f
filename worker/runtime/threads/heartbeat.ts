/**
 * What an engine thread is busy with, in memory that the API thread reads without asking. The thread writes, the watchdog
 * reads; a value may be a moment old, never torn.
 */
export class Heartbeat {
  readonly shared: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(shared = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#cells = new Int32Array(shared);
  }

  /** Work for a slot begins. `record`: its number on the thread, 0 when it is no record. `stateBytes`: of the state that it goes through. */
  begin(slot: number, record: number, stateBytes = 0): void {
    this.#cells[RECORD] = record;
    this.#cells[STATE_BYTES] = stateBytes;
    this.#cells[EVENT] = -1;
    this.#cells[PROGRESS] = ((this.#cells[PROGRESS] as number) + 1) | 0;
    Atomics.store(this.#cells, SLOT, slot + 1);
  }

  /** The work comes to the event of this index in its record. */
  event(index: number): void {
    this.#cells[EVENT] = index;
    this.#cells[PROGRESS] = ((this.#cells[PROGRESS] as number) + 1) | 0;
  }

  end(): void {
    Atomics.store(this.#cells, SLOT, 0);
  }

  /** Undefined when the thread is idle. */
  read(): Beat | undefined {
    const slot = Atomics.load(this.#cells, SLOT) - 1;
    if (slot < 0) return undefined;
    return {
      slot,
      progress: Atomics.load(this.#cells, PROGRESS),
      record: Atomics.load(this.#cells, RECORD),
      event: Atomics.load(this.#cells, EVENT),
      stateBytes: Atomics.load(this.#cells, STATE_BYTES),
    };
  }
}

export interface Beat {
  readonly slot: number;
  /** Another number for each piece of work. */
  readonly progress: number;
  readonly record: number;
  /** -1 before the first event, and in work that is no event. */
  readonly event: number;
  /** Of a state that is loaded or saved, as far as is known. */
  readonly stateBytes: number;
}

const SLOT = 0;
const PROGRESS = 1;
const RECORD = 2;
const EVENT = 3;
const STATE_BYTES = 4;
const CELLS = 5;

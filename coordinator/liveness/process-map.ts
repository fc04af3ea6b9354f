/** A process of a worker. */
export interface WorkerProcess {
  readonly id: string;
  readonly incarnation: string;
}

/** Values by process. With a thousand workers each look asks thousands of times, so no key is put together for it. */
export class ProcessMap<V> {
  readonly #byId = new Map<string, Map<string, V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ id, incarnation }: WorkerProcess): V | undefined {
    return this.#byId.get(id)?.get(incarnation);
  }

  set({ id, incarnation }: WorkerProcess, value: V): void {
    const known = this.#byId.get(id) ?? new Map<string, V>();
    if (!known.has(incarnation)) this.#size++;
    known.set(incarnation, value);
    this.#byId.set(id, known);
  }

  delete({ id, incarnation }: WorkerProcess): void {
    const known = this.#byId.get(id);
    if (known?.delete(incarnation) !== true) return;
    this.#size--;
    if (known.size === 0) this.#byId.delete(id);
  }

  clear(): void {
    this.#byId.clear();
    this.#size = 0;
  }

  *entries(): Generator<readonly [process: WorkerProcess, value: V]> {
    for (const [id, known] of this.#byId) for (const [incarnation, value] of known) yield [{ id, incarnation }, value];
  }

  /** Without all others. */
  keep(processes: Iterable<WorkerProcess>): void {
    const kept = new ProcessMap<true>();
    for (const process of processes) kept.set(process, true);
    for (const [process] of this.entries()) if (kept.get(process) === undefined) this.delete(process);
  }
}

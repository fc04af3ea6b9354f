import type { ProgramSummary } from '../threads/messages.ts';
import type { PipelineCheckpoint, PipelineDefinition, RuntimeStorage } from './runtime-storage.ts';

/**
 * The definition of one pipeline, in memory and in the storage, if there is one. Whatever is written of the pipeline is written here, one
 * after the other, with the definition of that moment: a checkpoint that comes while the definition changes does not bring the old one back.
 */
export class PipelineRecord {
  readonly storage: RuntimeStorage | null;
  #definition: PipelineDefinition;
  #isDeleted = false;
  #busyMs = 0;
  #isGivenUp = false;
  #writes: Promise<unknown> = Promise.resolve();

  constructor(definition: PipelineDefinition, storage: RuntimeStorage | null) {
    this.#definition = definition;
    this.storage = storage;
  }

  get definition(): PipelineDefinition {
    return this.#definition;
  }

  /** How long the last write kept the thread, before the disk had its turn, ms. */
  get busyMs(): number {
    return this.#busyMs;
  }

  /** From here on nothing of the pipeline is written any more. */
  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** Both change, or neither; with the checkpoint, if one is given. @throws CepError `storage_unavailable` */
  change(change: Partial<PipelineDefinition>, checkpoint: PipelineCheckpoint | null = null): Promise<void> {
    return this.#inTurn(async () => {
      await this.#write({ ...this.#definition, ...change }, checkpoint);
      this.#definition = { ...this.#definition, ...change };
    });
  }

  /** Keeps a state of the program that runs. False when there is no storage, or the pipeline is deleted. @throws CepError `storage_unavailable` */
  keep(checkpoint: PipelineCheckpoint): Promise<boolean> {
    return this.#inTurn(() => this.#write(this.#definition, checkpoint));
  }

  /** What an engine says of the program that it runs; it says it again each time, so it need not be stored. */
  describe(summary: ProgramSummary): void {
    this.#definition = { ...this.#definition, summary };
  }

  /** Stays what it was where the storage refuses. @throws CepError `storage_unavailable` */
  async delete(): Promise<void> {
    this.#isDeleted = true;
    await this.#inTurn(async () => {
      try {
        await this.storage?.deletePipeline(this.#definition.id);
      } catch (error) {
        this.#isDeleted = this.#isGivenUp;
        throw error;
      }
    });
  }

  /** As `delete`, whatever the storage says. */
  giveUp(): void {
    this.#isGivenUp = true;
    void this.delete().catch(() => undefined); // Where it could not be saved it need not be deleted.
  }

  async #write(definition: PipelineDefinition, checkpoint: PipelineCheckpoint | null): Promise<boolean> {
    if (this.storage === null || this.#isDeleted) return false;
    const began = performance.now();
    const saved = this.storage.savePipeline(definition, checkpoint);
    this.#busyMs = performance.now() - began;
    await saved;
    return true;
  }

  #inTurn<T>(write: () => Promise<T>): Promise<T> {
    const written = this.#writes.then(write);
    this.#writes = written.catch(() => undefined);
    return written;
  }
}

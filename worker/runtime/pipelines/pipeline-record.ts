import type { ProgramSummary } from '../threads/messages.ts';
import type { PipelineCheckpoint, PipelineDefinition, RuntimeStorage } from './runtime-storage.ts';

/** The definition of one pipeline, in memory and in the storage, if there is one. */
export class PipelineRecord {
  readonly storage: RuntimeStorage | null;
  #definition: PipelineDefinition;
  #isDeleted = false;

  constructor(definition: PipelineDefinition, storage: RuntimeStorage | null) {
    this.#definition = definition;
    this.storage = storage;
  }

  get definition(): PipelineDefinition {
    return this.#definition;
  }

  /** From here on nothing of the pipeline is written any more. */
  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** Both change, or neither; with the checkpoint, if one is given. @throws CepError `storage_unavailable` */
  async change(change: Partial<PipelineDefinition>, checkpoint: PipelineCheckpoint | null = null): Promise<void> {
    const definition = { ...this.#definition, ...change };
    if (this.storage !== null && !this.#isDeleted) await this.storage.savePipeline(definition, checkpoint);
    this.#definition = definition;
  }

  /** What an engine says of the program that it runs; it says it again each time, so it need not be stored. */
  describe(summary: ProgramSummary): void {
    this.#definition = { ...this.#definition, summary };
  }

  async delete(): Promise<void> {
    this.#isDeleted = true;
    await this.storage?.deletePipeline(this.#definition.id);
  }
}

import type { Consumer } from 'kafkajs';

export interface OffsetCommitsOptions {
  readonly consumer: Consumer;
  readonly topic: string;
  /** A commit was refused. */
  readonly failed: (error: unknown) => void;
}

/** Tells the group how far the partitions are, one request at a time: what comes meanwhile is in the next one. */
export class OffsetCommits {
  readonly #options: OffsetCommitsOptions;
  #waiting = new Map<number, bigint>();
  #committing: Promise<void> | undefined;

  constructor(options: OffsetCommitsOptions) {
    this.#options = options;
  }

  /** Of the partition, everything before this offset is safe. */
  add(partition: number, next: bigint): void {
    this.#waiting.set(partition, next);
    this.#committing ??= this.#commitAll().finally(() => {
      this.#committing = undefined;
    });
  }

  /** Partitions are somebody else's now: what was to be told of them is not. */
  clear(): void {
    this.#waiting.clear();
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#committing;
  }

  async #commitAll(): Promise<void> {
    const { consumer, topic, failed } = this.#options;
    while (this.#waiting.size > 0) {
      const offsets = Array.from(this.#waiting, ([partition, next]) => ({ topic, partition, offset: String(next) }));
      this.#waiting.clear();
      try {
        await consumer.commitOffsets(offsets);
      } catch (error) {
        return failed(error);
      }
    }
  }
}

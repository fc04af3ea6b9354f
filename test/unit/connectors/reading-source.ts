import { vi } from 'vitest';
import type { Source, SourceBatch, SourceMessage, SourcePosition } from '../../../worker/connectors/connector.ts';

/** A source under test, and everything it says. */
export class ReadingSource {
  readonly #source: Source;
  readonly batches: SourceBatch[] = [];
  problem: string | undefined;
  isConnected = false;
  isEnded = false;
  /** What `take` waits for. */
  gate: Promise<void> = Promise.resolve();
  underWay = 0;

  constructor(source: Source, position: SourcePosition | null = null) {
    this.#source = source;
    source.start({
      position,
      take: async (batch) => {
        if (++this.underWay > 1) throw new Error('a batch came while another was under way');
        await this.gate;
        this.underWay--;
        this.batches.push(batch);
        return true;
      },
      connected: () => {
        [this.isConnected, this.problem] = [true, undefined];
      },
      disconnected: (reason) => {
        [this.isConnected, this.problem] = [false, reason];
      },
      ended: () => {
        this.isEnded = true;
      },
    });
  }

  get messages(): readonly SourceMessage[] {
    return this.batches.flatMap(({ messages }) => messages);
  }

  get texts(): readonly string[] {
    return this.messages.map(({ bytes }) => Buffer.from(bytes).toString());
  }

  /** As it would stand in a checkpoint. */
  get position(): SourcePosition | null {
    const position = this.batches.at(-1)?.position ?? null;
    return position === null ? null : JSON.parse(JSON.stringify(position));
  }

  until(condition: () => boolean): Promise<void> {
    return vi.waitFor(
      () => {
        if (!condition()) throw new Error(`not yet: ${this.messages.length} messages, ${this.problem ?? 'no problem'}`);
      },
      { timeout: 30_000, interval: 5 },
    );
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

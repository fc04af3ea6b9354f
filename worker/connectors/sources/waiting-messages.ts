import type { SourceMessage, SourceReading } from '../connector.ts';

/** So much may wait to be taken; then nothing more is to be read. */
const MESSAGES_MAX = 10_000;
const BYTES_MAX = 4 * 1_048_576;

export interface WaitingMessagesOptions {
  /** Reading may go on: there is room again. */
  readonly onRoom: () => void;
  readonly isClosed: () => boolean;
  /** @default 10,000 */
  readonly messagesMax?: number;
  /** Added to each batch that is handed over. @default nothing */
  readonly notes?: () => readonly SourceMessage[];
}

/** What others send unasked, on its way to be taken: whatever has come while one batch is made safe is the next one. */
export class WaitingMessages {
  readonly #options: WaitingMessagesOptions;
  #messages: SourceMessage[] = [];
  #bytes = 0;
  #isHandingOver = false;

  constructor(options: WaitingMessagesOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#messages.length >= (this.#options.messagesMax ?? MESSAGES_MAX) || this.#bytes >= BYTES_MAX;
  }

  add(message: SourceMessage, reading: SourceReading): void {
    this.#messages.push(message);
    this.#bytes += message.bytes.byteLength;
    void this.#handOver(reading);
  }

  async #handOver(reading: SourceReading): Promise<void> {
    if (this.#isHandingOver) return;
    this.#isHandingOver = true;
    // What came in the same piece belongs together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#messages.length > 0 && !this.#options.isClosed()) {
      const messages = [...this.#messages, ...(this.#options.notes?.() ?? [])];
      [this.#messages, this.#bytes] = [[], 0];
      this.#options.onRoom();
      if (!(await reading.take({ messages, position: null }))) break;
    }
    this.#isHandingOver = false;
  }
}

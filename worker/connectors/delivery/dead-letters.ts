/** A message that no sink took, as a line of the dead-letter file has it. */
export interface DeadLetter {
  /** When it was given up, RFC 3339. */
  readonly timestamp: string;
  /** The connector's name; `alert <address>` for webhooks, `on_error` for rows that a stream could not evaluate. */
  readonly connector: string;
  readonly error: string;
  readonly event: { readonly event_type: string; readonly timestamp: number; readonly data: unknown };
  readonly id: string;
  readonly pipeline_id: string;
  readonly stream: string;
  /** Requests that were really made. */
  readonly attempts: number;
  readonly code: string;
  readonly topic?: string;
  /** What was sent, where that is not the usual envelope. */
  readonly payload?: string;
}

/** Where dead letters are kept. A letter is one JSON object. */
export interface DeadLetters {
  /** Resolves when it is safe. Rejects when it cannot be kept: then it must not be forgotten either. */
  add(letter: DeadLetter): Promise<void>;
  /** Of one pipeline, oldest first. */
  list(pipelineId: string): Promise<readonly DeadLetter[]>;
  /** Those that `remove` names are gone; returns how many. */
  remove(pipelineId: string, remove: (letter: DeadLetter) => boolean): Promise<number>;
  /** Letters that fell out because there were too many. */
  readonly dropped: DroppedLetters;
  close(): Promise<void>;
}

/** Counts letters that fell out, by pipeline and connector. */
export class DroppedLetters {
  readonly #counts = new Map<string, number>();
  total = 0;

  add({ pipeline_id: pipelineId, connector }: Pick<DeadLetter, 'pipeline_id' | 'connector'>): void {
    const key = `${pipelineId} ${connector}`;
    this.total++;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  of(pipelineId: string, connector: string): number {
    return this.#counts.get(`${pipelineId} ${connector}`) ?? 0;
  }
}

/** Letters in memory: the newest, up to a number. */
export class MemoryDeadLetters implements DeadLetters {
  readonly #max: number;
  #letters: DeadLetter[] = [];
  readonly dropped = new DroppedLetters();

  constructor(max: number) {
    this.#max = max;
  }

  async add(letter: DeadLetter): Promise<void> {
    this.#letters.push(letter);
    const oldest = this.#letters.length > this.#max ? this.#letters.shift() : undefined;
    if (oldest !== undefined) this.dropped.add(oldest);
  }

  async list(pipelineId: string): Promise<readonly DeadLetter[]> {
    return this.#letters.filter((letter) => letter.pipeline_id === pipelineId);
  }

  async remove(pipelineId: string, remove: (letter: DeadLetter) => boolean): Promise<number> {
    const before = this.#letters.length;
    this.#letters = this.#letters.filter((letter) => letter.pipeline_id !== pipelineId || !remove(letter));
    return before - this.#letters.length;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

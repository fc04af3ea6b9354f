/** How long dead letters are counted before they are told again. */
const COUNT_MS = 10_000;
/** So many reasons are counted each for itself at a time; others, as those that name a value or a time, with all of their connector and code. */
const REASONS_MAX = 16;

export interface LetterReportsOptions {
  readonly pipelineId: string;
  readonly report: (report: { readonly level: 'warn'; readonly message: string; readonly fields: Record<string, string | number> }) => void;
}

interface Letter {
  readonly connector: string;
  readonly code: string;
  readonly error: string;
}

/** Tells of the first dead letter of a connector and reason at once, and how many followed every so often: a sink that is gone makes thousands a second. */
export class LetterReports {
  readonly #pipelineId: string;
  readonly #report: LetterReportsOptions['report'];
  readonly #counting = new Map<string, { letter: Letter; events: number; readonly timer: NodeJS.Timeout }>();

  constructor({ pipelineId, report }: LetterReportsOptions) {
    this.#pipelineId = pipelineId;
    this.#report = report;
  }

  count({ connector, code, error }: Letter, events = 1): void {
    // Not what it was made of, which may be large.
    const letter = { connector, code, error };
    const ofCode = `${letter.code} ${letter.connector}`;
    const ofReason = `${ofCode} ${letter.error}`;
    const key = this.#counting.has(ofReason) || this.#counting.size < REASONS_MAX ? ofReason : ofCode;
    const counting = this.#counting.get(key);
    if (counting !== undefined) {
      counting.letter = letter;
      counting.events += events;
      return;
    }
    this.#tell(letter, events);
    this.#begin(key, letter);
  }

  #begin(key: string, letter: Letter): void {
    this.#counting.set(key, { letter, events: 0, timer: setTimeout(() => this.#end(key), COUNT_MS).unref() });
  }

  /** Goes on counting while there is something to count. */
  #end(key: string): void {
    const counted = this.#counting.get(key);
    this.#counting.delete(key);
    if (counted === undefined || counted.events === 0) return;
    this.#tell(counted.letter, counted.events);
    this.#begin(key, counted.letter);
  }

  #tell({ connector, code, error }: Letter, events: number): void {
    const fields = { connector, pipeline: this.#pipelineId, code, error, events };
    this.#report({ level: 'warn', message: 'DLQ write', fields });
  }

  /** Tells what was counted and not yet told. */
  close(): void {
    for (const { letter, events, timer } of this.#counting.values()) {
      clearTimeout(timer);
      if (events > 0) this.#tell(letter, events);
    }
    this.#counting.clear();
  }
}

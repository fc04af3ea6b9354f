import { fitting } from '../../../shared/collections/fitting.ts';
import { limits } from '../../../shared/limits.ts';

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

/** What makes two letters of a pipeline the same: after a crash an event may be given up once more. */
export type LetterKey = Pick<DeadLetter, 'connector' | 'id'>;

/** What a letter is chosen by. */
export interface LetterFacts extends LetterKey {
  readonly code: string;
}

/** Letters that have all of what it names; an empty one names all letters. */
export type LetterFilter = Readonly<Partial<LetterFacts>>;

export function isChosen(letter: LetterFacts, { connector, id, code }: LetterFilter): boolean {
  return (
    (connector === undefined || connector === letter.connector) &&
    (id === undefined || id === letter.id) &&
    (code === undefined || code === letter.code)
  );
}

/** What is otherwise with a letter since; undefined: nothing is. */
export type LetterChange = (letter: LetterFacts) => FailedAgain | undefined;

/** How it stands with a letter after it was sent once more in vain. */
export type FailedAgain = Pick<DeadLetter, 'attempts' | 'error' | 'code'>;

/** A letter, as JSON text, with what has changed. */
export function changedLetter(text: string, change: FailedAgain): string {
  return JSON.stringify({ ...(JSON.parse(text) as DeadLetter), ...change });
}

export interface LetterPage {
  /** Each as JSON text. Fewer than asked for when they are large: the first is always there. */
  readonly letters: readonly string[];
  /** Of the pipeline, as far as they are chosen. */
  readonly total: number;
}

/** Where the dead letters of one tenant are kept. A letter is one JSON object. */
export interface DeadLetters {
  /** Resolves when it is safe. Rejects when it cannot be kept: then it must not be forgotten either. */
  add(letter: DeadLetter): Promise<void>;
  /** Of one pipeline, oldest first. Costs what the page costs, however many there are. @throws CepError `storage_unavailable`, as the others that follow */
  page(pipelineId: string, page: { readonly limit: number; readonly offset: number }, filter?: LetterFilter): Promise<LetterPage>;
  /** Those that `remove` names are gone; returns how many. */
  remove(pipelineId: string, remove: (letter: LetterFacts) => boolean): Promise<number>;
  /** Those of which `change` says so have failed again; they keep their turn. */
  update(pipelineId: string, change: LetterChange): Promise<void>;
  /** Letters that fell out because there were too many. */
  readonly dropped: DroppedLetters;
  close(): Promise<void>;
}

const PAGE_LETTERS = 100;

export function keyOf({ connector, id }: LetterKey): string {
  return `${connector} ${id}`;
}

/** The letters that a pipeline has now, oldest first. */
export async function* eachLetter(
  from: Pick<DeadLetters, 'page'>,
  pipelineId: string,
  filter: LetterFilter = {},
): AsyncGenerator<DeadLetter> {
  const { total } = await from.page(pipelineId, { limit: 0, offset: 0 }, filter);
  for (let offset = 0; offset < total; ) {
    const { letters } = await from.page(pipelineId, { limit: Math.min(PAGE_LETTERS, total - offset), offset }, filter);
    if (letters.length === 0) return;
    for (const letter of letters) yield JSON.parse(letter) as DeadLetter;
    offset += letters.length;
  }
}

/** Counts letters that fell out, by pipeline and connector: of pipelines that are there, as nobody asks for others. */
export class DroppedLetters {
  readonly #counts = new Map<string, Map<string, number>>();
  /** Whether there is such a pipeline. @default there is */
  isHosted: (pipelineId: string) => boolean = () => true;
  total = 0;

  add({ pipeline_id: pipelineId, connector }: Pick<DeadLetter, 'pipeline_id' | 'connector'>): void {
    this.total++;
    if (!this.isHosted(pipelineId)) return;
    const counts = this.#counts.get(pipelineId) ?? this.#begin(pipelineId);
    counts.set(connector, (counts.get(connector) ?? 0) + 1);
  }

  #begin(pipelineId: string): Map<string, number> {
    for (const id of this.#counts.keys()) if (!this.isHosted(id)) this.#counts.delete(id);
    const counts = new Map<string, number>();
    this.#counts.set(pipelineId, counts);
    return counts;
  }

  of(pipelineId: string, connector: string): number {
    return this.#counts.get(pipelineId)?.get(connector) ?? 0;
  }
}

interface KeptLetter extends LetterFacts {
  readonly pipelineId: string;
  /** Empty: it came in by a source. */
  readonly stream: string;
  readonly text: string;
}

/** Letters in memory: the newest, up to a number and a length. */
export class MemoryDeadLetters implements DeadLetters {
  readonly #max: number;
  readonly #charsMax: number;
  #letters: KeptLetter[] = [];
  #chars = 0;
  readonly dropped = new DroppedLetters();

  constructor(max: number, charsMax = Number.POSITIVE_INFINITY) {
    this.#max = max;
    this.#charsMax = charsMax;
  }

  async add(letter: DeadLetter): Promise<void> {
    const { pipeline_id: pipelineId, connector, id, code, stream } = letter;
    const text = JSON.stringify(letter);
    this.#letters.push({ pipelineId, connector, id, code, stream, text });
    this.#chars += text.length;
    while (this.#letters.length > this.#max || (this.#chars > this.#charsMax && this.#letters.length > 1)) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = this.#letters.shift();
    if (oldest === undefined) return;
    this.#chars -= oldest.text.length;
    this.dropped.add({ pipeline_id: oldest.pipelineId, connector: oldest.connector });
  }

  async page(pipelineId: string, { limit, offset }: Parameters<DeadLetters['page']>[1], filter: LetterFilter = {}): Promise<LetterPage> {
    const own = this.#letters.filter((letter) => letter.pipelineId === pipelineId && isChosen(letter, filter));
    const letters = withinPage(own.slice(offset, offset + limit), ({ text }) => text.length);
    return { total: own.length, letters: letters.map(({ text }) => text) };
  }

  async remove(pipelineId: string, remove: (letter: LetterFacts) => boolean): Promise<number> {
    const before = this.#letters.length;
    this.#letters = this.#letters.filter((letter) => letter.pipelineId !== pipelineId || !remove(letter));
    this.#chars = this.#letters.reduce((sum, { text }) => sum + text.length, 0);
    return before - this.#letters.length;
  }

  async update(pipelineId: string, change: LetterChange): Promise<void> {
    this.#letters = this.#letters.map((letter) => {
      const changed = letter.pipelineId === pipelineId ? change(letter) : undefined;
      return changed === undefined ? letter : { ...letter, code: changed.code, text: changedLetter(letter.text, changed) };
    });
    this.#chars = this.#letters.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** How many there are of a pipeline that are no messages of its sources: those were never taken in. */
  undelivered(pipelineId: string): number {
    return this.#letters.filter((letter) => letter.pipelineId === pipelineId && letter.stream !== '').length;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** As many from the start as fit into a page. */
export function withinPage<T>(letters: readonly T[], charsOf: (letter: T) => number): readonly T[] {
  return fitting(letters, charsOf, limits.deadLetterPageCharsMax);
}

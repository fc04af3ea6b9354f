import { CepError } from '../../shared/errors/error.ts';
import type { EngineSnapshot } from '../../worker/engine/engine.ts';
import type { EventPosition } from '../event-files/event-lines.ts';
import { type EventFormat, isSeekable, sourceName } from '../event-files/event-source.ts';
import { CheckpointFile, type OpenCheckpoint } from './checkpoint.ts';
import type { SavedTotals } from './totals.ts';

export interface CheckpointSettings {
  readonly folder: string;
  readonly intervalMs: number;
  /** Digest of everything that decides results, but the events. */
  readonly program: string;
  /** Events come with waits between them, so that one may be due behind any of them. */
  readonly timed: boolean;
  readonly note: (text: string) => void;
}

/** The checkpoints of one simulation: which one it begins from, and when the next is due. */
export class Checkpoints {
  readonly #settings: CheckpointSettings;
  readonly #file: CheckpointFile;
  #dueAt: number;

  /** @throws CepError `io_error` */
  constructor(settings: CheckpointSettings) {
    this.#settings = settings;
    this.#file = new CheckpointFile(settings.folder);
    this.#dueAt = performance.now() + settings.intervalMs;
  }

  get isDue(): boolean {
    return performance.now() >= this.#dueAt;
  }

  /** Whether the event file must be read line by line, so that its position is known when a checkpoint is due. */
  get needsPosition(): boolean {
    return this.#settings.timed || this.isDue;
  }

  /** The checkpoint to go on from; undefined when there is none of this program, or only that of a finished run. */
  load(): OpenCheckpoint | undefined {
    const checkpoint = this.#file.load();
    if (!checkpoint) return undefined;
    if (checkpoint.program !== this.#settings.program) {
      this.#settings.note(`the checkpoint in '${this.#settings.folder}' is of another program: beginning anew`);
      return undefined;
    }
    return checkpoint.finished ? undefined : checkpoint;
  }

  save(events: EventPosition, totals: SavedTotals, engine: EngineSnapshot): void {
    this.#file.save({ finished: false, program: this.#settings.program, events, totals, engine });
    this.#dueAt = performance.now() + this.#settings.intervalMs;
  }

  finish(totals: SavedTotals): void {
    this.#file.save({ finished: true, program: this.#settings.program, totals });
  }
}

/** Refuses what cannot be read a second time from a byte on. @throws CepError `usage_error` */
export function requireSeekable(eventsPaths: readonly string[], format: EventFormat | undefined): void {
  const other = eventsPaths.find((path) => !isSeekable(path, format));
  if (other === undefined) return;
  throw new CepError('usage_error', `--checkpoint-dir needs event files, and '${sourceName(other)}' cannot be read from the middle on`, {
    hint: 'unpack it into a file, .evt or .jsonl',
  });
}

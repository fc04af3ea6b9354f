import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import { limits } from '../../../shared/limits.ts';
import type { Row } from '../operators/row.ts';

/** Where a row can go: into one input of one stream. */
export interface Inlet {
  /** Index of the stream. */
  readonly stream: number;
  deliver(row: Row): void;
}

/** Every inlet that takes the rows of one origin, in order of declaration. */
export type Route = readonly Inlet[];

type Entry = { readonly route: Route; readonly row: Row } | (() => void);

/**
 * Results on their way to the streams that follow, first in, first out. Empty between two calls of the engine. A program can
 * make rows of rows without end, so there is a bound for one event.
 */
export class ResultQueue {
  #entries: Entry[] = [];
  /** Those that were taken out since it was empty. */
  #taken = 0;

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** @throws EvaluationError when one event has caused too many rows. */
  add(route: Route, row: Row): void {
    if (route.length > 0) this.#add({ route, row });
  }

  /** What generated code does with a result. @throws EvaluationError as `add` does. */
  addCall(call: () => void): void {
    this.#add(call);
  }

  #add(entry: Entry): void {
    if (this.#entries.length >= limits.rowsWaitingMax) {
      throw new EvaluationError(`at most ${limits.rowsWaitingMax} rows can wait to be handed from stream to stream for one event`);
    }
    if (this.#taken >= limits.rowsPerEventMax) {
      throw new EvaluationError(`at most ${limits.rowsPerEventMax} rows are handed from stream to stream for one event`);
    }
    this.#entries.push(entry);
  }

  drain(): void {
    while (this.#entries.length > 0) {
      const batch = this.#entries;
      this.#entries = [];
      this.#taken += batch.length;
      for (const entry of batch) {
        if (typeof entry === 'function') entry();
        else for (const inlet of entry.route) inlet.deliver(entry.row);
      }
    }
    this.#taken = 0;
  }
}

import type { Row } from '../operators/row.ts';

/** Where a row can go: into one input of one stream. */
export interface Inlet {
  /** Index of the stream. */
  readonly stream: number;
  deliver(row: Row): void;
}

/** Every inlet that takes the rows of one origin, in order of declaration. */
export type Route = readonly Inlet[];

/** Results on their way to the streams that follow, first in, first out. Empty between two calls of the engine. */
export class ResultQueue {
  #entries: ({ readonly route: Route; readonly row: Row } | (() => void))[] = [];

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  add(route: Route, row: Row): void {
    if (route.length > 0) this.#entries.push({ route, row });
  }

  /** What generated code does with a result. */
  addCall(call: () => void): void {
    this.#entries.push(call);
  }

  drain(): void {
    while (this.#entries.length > 0) {
      const batch = this.#entries;
      this.#entries = [];
      for (const entry of batch) {
        if (typeof entry === 'function') entry();
        else for (const inlet of entry.route) inlet.deliver(entry.row);
      }
    }
  }
}

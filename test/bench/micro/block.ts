import { compileFunction } from 'node:vm';
import type { MicroCase, MicroEvent } from './case.ts';

/** Some events of a case in columns. */
export interface Block {
  readonly types: Uint8Array;
  readonly times: Float64Array;
  readonly firsts: (string | number)[];
  readonly seconds: number[];
}

/** Makes the events of a case, one block after the other. */
export class Blocks {
  readonly #next: ReturnType<MicroCase['events']>;
  readonly #event: MicroEvent = { type: 0, time: 0, first: 0, second: 0 };
  #made = 0;

  constructor(micro: MicroCase) {
    this.#next = micro.events();
  }

  next(size: number): Block {
    const block: Block = { types: new Uint8Array(size), times: new Float64Array(size), firsts: [], seconds: [] };
    for (let i = 0; i < size; i++) {
      this.#next(this.#made++, this.#event);
      const { type, time, first, second } = this.#event;
      block.types[i] = type;
      block.times[i] = time;
      block.firsts.push(first);
      block.seconds.push(second);
    }
    return block;
  }
}

/** Hands in the events of a block from one position up to another. */
export type Feed = (block: Block, from: number, to: number) => void;

/** What takes the events of one type, and which of the columns it is given. */
export interface Taker {
  readonly take: (...values: never[]) => void;
  readonly columns: readonly ('firsts' | 'seconds')[];
  /** Constants between the time and the first value. */
  readonly constants?: readonly boolean[];
}

/** A loop of its own for these takers, so that none of its calls knows any other. */
export function feedOf(takers: readonly Taker[]): Feed {
  const cases = takers.map(({ columns, constants = [] }, type) => {
    const values = ['block.times[i]', ...constants.map(String), ...columns.map((column) => `${column}[i]`)];
    return `case ${type}: take${type}(${values.join(', ')}); break;`;
  });
  const text = `'use strict';
return (block, from, to) => {
  const { types, firsts, seconds } = block;
  for (let i = from; i < to; i++) switch (types[i]) { ${cases.join(' ')} }
};`;
  const names = takers.map((_, type) => `take${type}`);
  return compileFunction(text, names)(...takers.map(({ take }) => take)) as Feed;
}

import type { Frame } from './scope.ts';

/** A fresh frame: the locals of one function activation, or of one expression of a stream. */
export function newFrame(): Frame {
  let size = 0;
  return {
    doubts: 0,
    doubtfulCalls: 0,
    allocate: () => size++,
    get size() {
      return size;
    },
  };
}

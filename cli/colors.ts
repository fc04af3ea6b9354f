import type { Writable } from 'node:stream';
import pc from 'picocolors';

export type Colors = ReturnType<typeof pc.createColors>;

/** Colours for one stream: only on a terminal, never with `NO_COLOR`, always with `FORCE_COLOR`. */
export function colorsFor(stream: Writable, env: Readonly<Record<string, string | undefined>>): Colors {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true && env['TERM'] !== 'dumb';
  return pc.createColors(!env['NO_COLOR'] && (isTerminal || Boolean(env['FORCE_COLOR'])));
}

/** For text that goes to such a stream by another way. */
export function colorsOf(hasColors: boolean): Colors {
  return pc.createColors(hasColors);
}

/** For text that is no output of a terminal. */
export const plain: Colors = pc.createColors(false);

import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readKeys } from '../../../../../cli/terminal/keys.ts';
import type { Key } from '../../../../../cli/terminal/screen.ts';

/** Keys of these bytes, in pieces as they may come from a terminal. */
async function keysOf(bytes: string, pieceLength: number): Promise<readonly Key[]> {
  const keys: Key[] = [];
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => stdin });
  const stop = readKeys(stdin as unknown as NodeJS.ReadStream, new PassThrough() as unknown as NodeJS.WriteStream, (key) => keys.push(key));
  for (let at = 0; at < bytes.length; at += pieceLength) stdin.write(bytes.slice(at, at + pieceLength));
  while (stdin.readableLength > 0) await nextTurn();
  await nextTurn();
  stop();
  return keys;
}

it('gives a paste of ten thousand lines as one text, in whatever pieces it comes', async () => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at}`);
  const pasted = await keysOf(`\u001b[200~${lines.join('\r')}\u001b[201~x`, 4_093);
  expect(pasted.map(({ text }) => text)).toEqual([lines.join('\n'), 'x']);
});

it('gives what comes faster than it is typed as one text, what stands behind its last line break on its own, and keys as keys', async () => {
  const text = 'event A:\r\n\tx: int\r'.repeat(300);
  const keys = await keysOf(`${text}stream\u001b[A\tb`, 4_093);
  const lines = 'event A:\n\tx: int\n'.repeat(300);
  expect(keys.map(({ name, text: typed }) => name || typed)).toEqual([lines, 'stream', 'up', 'tab', 'b']);
});

it('tells text from keys', async () => {
  const keys = await keysOf('aß😀\t\r\u0007\u001b[A\u001b[Z', 100);
  const named = keys.map(({ name, text, isCtrl, isShift }) => text || `${isCtrl ? 'ctrl ' : ''}${isShift ? 'shift ' : ''}${name}`);
  expect(named).toEqual(['a', 'ß', '😀', 'tab', 'return', 'ctrl g', 'up', 'shift tab']);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Connector, emptyState } from '../../../../coordinator/state/cluster-state.ts';
import { decodeSnapshot, encodeSnapshot, UnreadableSnapshot } from '../../../../coordinator/state/snapshot.ts';
import { crc32c } from '../../../../shared/checksum/crc32c.ts';
import { anyLog, applyAll } from './commands.ts';

const bytesOf = (state: Parameters<typeof encodeSnapshot>[0]): Buffer => Buffer.concat([...encodeSnapshot(state)]);

const connector = (number: number): Connector => {
  const index = { createdIndex: number + 1, createdAtMs: 0, updatedAtMs: 0 };
  return { name: `c${number}`, type: 'kafka', parameters: { topic: 'ü' }, version: 1, ...index };
};

const large = {
  ...emptyState,
  connectors: Array.from({ length: 1_000 }, (_, number) => connector(number)).reduce(
    (table, one) => table.set(one.name, one),
    emptyState.connectors,
  ),
};

describe('a snapshot', () => {
  it('gives the state back, and the same bytes from it', () => {
    const bytes = bytesOf(large);
    const state = decodeSnapshot(bytes);
    expect([state.connectors.size, state.connectors.get('c999')]).toEqual([1_000, connector(999)]);
    expect(bytesOf(state).equals(bytes)).toBe(true);
  });

  it('comes in pieces, and shows the moment at which it was begun', () => {
    const whole = bytesOf(large);
    const pieces = encodeSnapshot(large);
    const read = [pieces.next().value as Uint8Array];
    large.connectors.set('c0', connector(5)).delete('c1');
    for (const piece of pieces) read.push(piece);
    expect(read.length).toBeGreaterThan(5);
    expect(Math.max(...read.map(({ length }) => length))).toBeLessThan(40_000);
    expect(Buffer.concat(read).equals(whole)).toBe(true);
  });

  it('is refused when a byte of it is another, or missing', () => {
    const bytes = bytesOf(applyAll(fc.sample(anyLog, { numRuns: 1, seed: 3 })[0] ?? []));
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] as number) ^ (1 << (at % 8));
      expect(() => decodeSnapshot(flipped)).toThrow(UnreadableSnapshot);
    }
    for (const length of [0, 3, 4, bytes.length - 1]) expect(() => decodeSnapshot(bytes.subarray(0, length))).toThrow(UnreadableSnapshot);
  });

  it('of a later format is refused', () => {
    const text = Buffer.from('{"format":5}\n');
    const end = Buffer.alloc(4);
    end.writeUInt32BE(crc32c(text));
    expect(() => decodeSnapshot(Buffer.concat([text, end]))).toThrow(
      'the snapshot has format 5, and this version reads up to 4. Start the version of cep that the other members run',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { markOf, Receipts, receivedOf } from '../../../../worker/runtime/placed/receipts.ts';

const batch = (sequence: number, ids: readonly string[] = [], receivedAt = 1_000) => ({ sequence, ids, receivedAt });

describe('receipts of batches', () => {
  it('take each batch of a source once and in order, and say which is expected', () => {
    const receipts = new Receipts();
    expect(receipts.accept('A', batch(1))).toEqual({ source: 'A', sequence: 1, time: 1_000 });
    expect(() => receipts.accept('A', batch(3))).toThrow(expect.objectContaining({ code: 'sequence_gap', details: { expected: 2 } }));
    expect(() => receipts.accept('A', batch(1))).toThrow(/expected 2/);
    expect([receipts.accepted('A'), receipts.accepted('B')]).toEqual([1, 0]);
  });

  it('give events no time before that of the batch before', () => {
    const receipts = new Receipts();
    receipts.accept('A', batch(1, [], 5_000));
    expect(receipts.accept('A', batch(2, [], 4_000)).time).toBe(5_000);
  });

  it('refuse a source that has another owner since', () => {
    const receipts = new Receipts();
    receipts.meet('A', 7);
    expect(() => receipts.meet('A', 6)).toThrow(expect.objectContaining({ code: 'stale_epoch' }));
    receipts.meet('A', 7);
  });

  it('save of each source what is in the state, and nothing that only waits', () => {
    const receipts = new Receipts();
    receipts.meet('A', 7);
    const first = markOf(receipts.accept('A', batch(1, ['x', 'y'])));
    receipts.accept('A', batch(2, ['z']));
    const positions = { [first.id]: first.position, 'Kafka/orders': { offset: 3 } };
    expect(receivedOf(positions)).toEqual({ A: 1 });
    const restored = new Receipts(JSON.parse(JSON.stringify(receipts.save(positions))), positions);
    expect([restored.accepted('A'), restored.isKnown('A', 'y'), restored.isKnown('A', 'z')]).toEqual([1, true, false]);
    expect(() => restored.meet('A', 6)).toThrow(/epoch 7/);
  });

  it('forget the oldest ids of a restored window first, and no more of them than are too many', () => {
    const receipts = new Receipts();
    const ids = Array.from({ length: 65_536 }, (_, at) => `e${at}`);
    for (let at = 0; at < ids.length; at += 500) receipts.accept('A', batch(at / 500 + 1, ids.slice(at, at + 500)));
    const { id, position } = markOf({ source: 'A', sequence: 132, time: 1_000 });
    const positions = { [id]: position };
    const restored = new Receipts(JSON.parse(JSON.stringify(receipts.save(positions))), positions);
    restored.accept('A', batch(133, ['new']));
    expect(['e0', 'e500', 'e65535', 'new'].map((known) => restored.isKnown('A', known))).toEqual([false, true, true, true]);
    const next = markOf({ source: 'A', sequence: 133, time: 1_000 });
    expect(restored.save({ [next.id]: next.position })['A']?.ids.length).toBe(65_536 - 500 + 1);
  });
});

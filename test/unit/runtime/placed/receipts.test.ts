import { describe, expect, it } from 'vitest';
import { FIRST_STATE_FORMAT, LATEST_STATE_FORMAT } from '../../../../worker/engine/state/format.ts';
import { markOf, Receipts, receivedOf } from '../../../../worker/runtime/placed/receipts.ts';
import { ReceivedIds } from '../../../../worker/runtime/placed/received-ids.ts';

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
    const restored = new Receipts(JSON.parse(JSON.stringify(receipts.save(positions, LATEST_STATE_FORMAT))), positions);
    expect([restored.accepted('A'), restored.isKnown('A', 'y'), restored.isKnown('A', 'z')]).toEqual([1, true, false]);
    expect(() => restored.meet('A', 6)).toThrow(/epoch 7/);
  });

  it('forget the oldest ids of a restored window first, and no more of them than are too many', () => {
    const receipts = new Receipts();
    const ids = Array.from({ length: 65_536 }, (_, at) => `e${at}`);
    for (let at = 0; at < ids.length; at += 500) receipts.accept('A', batch(at / 500 + 1, ids.slice(at, at + 500)));
    const { id, position } = markOf({ source: 'A', sequence: 132, time: 1_000 });
    const positions = { [id]: position };
    const restored = new Receipts(JSON.parse(JSON.stringify(receipts.save(positions, LATEST_STATE_FORMAT))), positions);
    restored.accept('A', batch(133, ['new']));
    expect(['e0', 'e500', 'e65535', 'new'].map((known) => restored.isKnown('A', known))).toEqual([false, true, true, true]);
    const next = markOf({ source: 'A', sequence: 133, time: 1_000 });
    expect(restored.save({ [next.id]: next.position }, FIRST_STATE_FORMAT)['A']?.ids?.length).toBe(65_536 - 500 + 1);
  });
});

describe('ids of events that a placement has sent', () => {
  const source = 'g:p:0';
  const idsOf = (count: number, from = 0) => Array.from({ length: count }, (_, at) => `g-p-0-${from + at}`);
  const nothing = { from: 1, through: 0 };
  const positionsAt = (sequence: number) => {
    const { id, position } = markOf({ source, sequence, time: 1_000 });
    return { [id]: position };
  };
  const restoredFrom = (receipts: Receipts, sequence: number, format = LATEST_STATE_FORMAT) => {
    const positions = positionsAt(sequence);
    return new Receipts(JSON.parse(JSON.stringify(receipts.save(positions, format))), positions);
  };
  const knows = (receipts: Receipts, ids: readonly string[]) => ids.filter((id) => receipts.isKnown(source, id)).length;

  it('are kept, however many, until it says that they cannot come again', () => {
    const receipts = new Receipts();
    const ids = idsOf(100_000);
    for (let at = 0; at < 200; at++) {
      receipts.accept(source, { ...batch(at + 1, ids.slice(at * 500, (at + 1) * 500)), unrepeated: nothing });
    }
    expect(knows(receipts, ids)).toBe(100_000);
    expect(knows(restoredFrom(receipts, 200), ids)).toBe(100_000);
    receipts.accept(source, { ...batch(201, ['g-p-0-new']), unrepeated: { from: 1, through: 199 } });
    expect([knows(receipts, ids), receipts.isKnown(source, 'g-p-0-new')]).toEqual([500, true]);
    expect(knows(restoredFrom(receipts, 201), [...ids, 'g-p-0-new'])).toBe(501);
  });

  it('count as of the last batch that they came in, as what is made again may be made once more', () => {
    const receipts = new Receipts();
    receipts.accept(source, { ...batch(1, idsOf(3)), unrepeated: nothing });
    receipts.accept(source, { ...batch(2, idsOf(2)), unrepeated: nothing });
    receipts.accept(source, { ...batch(3, []), unrepeated: { from: 1, through: 1 } });
    expect(knows(receipts, idsOf(3))).toBe(2);
    receipts.accept(source, { ...batch(4, []), unrepeated: { from: 1, through: 2 } });
    expect([knows(receipts, idsOf(3)), knows(restoredFrom(receipts, 4), idsOf(3))]).toEqual([0, 0]);
  });

  it('are part of the state by their first batch where another one only waits', () => {
    const receipts = new Receipts();
    receipts.accept(source, { ...batch(1, idsOf(3)), unrepeated: nothing });
    receipts.accept(source, { ...batch(2, idsOf(3)), unrepeated: nothing });
    expect(knows(restoredFrom(receipts, 1), idsOf(3))).toBe(3);
  });

  it('are kept once, however often the sender makes them again from the same checkpoint', () => {
    const ids = new ReceivedIds(source);
    for (let life = 0, sequence = 0; life < 20; life++) {
      // One batch of each life has an id that is not made again.
      const made = [`g-p-0-only${life}`, ...idsOf(100)];
      const from = sequence + 1;
      for (let at = 0; at < made.length; at += 10) {
        ids.add(++sequence, made.slice(at, at + 10), { from, through: from - 1 });
        ids.save(sequence - 1);
      }
    }
    const waiting = 1;
    expect(ids.size).toBe(100 + 20 + waiting);
    ids.save(20 * 11);
    expect(ids.size).toBe(100 + 20);
    expect([...idsOf(100), 'g-p-0-only0', 'g-p-0-only19'].every((id) => ids.has(id))).toBe(true);
  });

  it('are not saved again once they are forgotten, when a version before had saved them', () => {
    const whole = { [source]: { epoch: 0, ids: idsOf(3) } };
    const receipts = new Receipts(whole, positionsAt(4));
    receipts.accept(source, { ...batch(5, ['g-p-0-x']), unrepeated: nothing });
    receipts.accept(source, { ...batch(6, idsOf(2)), unrepeated: nothing });
    receipts.accept(source, { ...batch(7, []), unrepeated: { from: 6, through: 6 } });
    expect(receipts.save(positionsAt(7), LATEST_STATE_FORMAT)[source]?.batches).toEqual([
      [0, '2'],
      [5, 'x'],
    ]);
  });

  it('of lives before are kept until the present one has come by what it makes again', () => {
    const receipts = new Receipts();
    receipts.accept(source, { ...batch(1, idsOf(1_000)), unrepeated: nothing });
    // The next life has a checkpoint by now, and has not come to make all of that again.
    const unrepeated = { from: 2, through: 2 };
    receipts.accept(source, { ...batch(2, idsOf(10)), unrepeated: { from: 2, through: 1 } });
    receipts.accept(source, { ...batch(3, ['g-p-0-x']), unrepeated });
    expect(knows(receipts, idsOf(1_000))).toBe(990);
    for (let at = 0; at < 133; at++) receipts.accept(source, { ...batch(4 + at, idsOf(500, 5_000 + at * 500)), unrepeated });
    expect(knows(receipts, idsOf(1_000))).toBe(990);
    receipts.accept(source, { ...batch(137, idsOf(100, 900_000)), unrepeated });
    expect(knows(receipts, idsOf(1_000))).toBe(0);
  });

  it('are saved without what all of them have in common, and whole for a version before', () => {
    const receipts = new Receipts();
    receipts.accept(source, { ...batch(1, ['g-p-0-a', 'g-p-0-b']), unrepeated: nothing });
    receipts.accept(source, { ...batch(2, ['g-p-0-c', 'another one', '=d']), unrepeated: nothing });
    const saved = receipts.save(positionsAt(2), LATEST_STATE_FORMAT);
    expect(saved[source]?.batches?.[0]).toEqual([1, 'a b']);
    expect(knows(restoredFrom(receipts, 2), ['g-p-0-b', 'g-p-0-c', 'another one', '=d', 'a'])).toBe(4);
    const ids = ['g-p-0-a', 'g-p-0-b', 'g-p-0-c', 'another one', '=d'];
    expect(receipts.save(positionsAt(2), 4)).toEqual({ [source]: { epoch: 0, ids } });
    expect(knows(restoredFrom(receipts, 2, 4), ids)).toBe(5);
  });
});

import { describe, expect, it } from 'vitest';
import { chunkAt, SnapshotReceiver } from '../../../coordinator/raft/storage/snapshot-transfer.ts';
import { crc32c } from '../../../shared/checksum/crc32c.ts';

const configuration = { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] };
const state = Uint8Array.from({ length: 25 }, (_, at) => at * 7);
const manifestAt = (index: number) => ({
  index,
  term: 1,
  configuration,
  chain: 0,
  size: state.length,
  chunkCount: 3,
  checksum: crc32c(state),
});
const part = (offset: number, { term = 1, index = 9 } = {}) => chunkAt({ from: 1, term }, manifestAt(index), state, offset, 10);

describe('a snapshot on its way', () => {
  it('is put together from parts, those that come twice or out of turn left alone', () => {
    const receiver = new SnapshotReceiver();
    expect(receiver.receive(part(10))).toEqual({ next: 0, complete: undefined });
    expect(receiver.receive(part(0))).toEqual({ next: 10, complete: undefined });
    expect(receiver.receive(part(0))).toEqual({ next: 10, complete: undefined });
    expect(receiver.receive(part(20))).toEqual({ next: 10, complete: undefined });
    expect(receiver.receive(part(10))).toEqual({ next: 20, complete: undefined });
    expect(receiver.receive(part(20))).toEqual({ next: 25, complete: state });
  });

  it('does not begin anew when its last part is sent again, before it is durable or after', () => {
    const receiver = new SnapshotReceiver();
    for (const offset of [0, 10]) receiver.receive(part(offset));
    expect(receiver.receive(part(20)).complete).toEqual(state);
    // The sender waits on.
    expect(receiver.receive(part(20))).toEqual({ next: 20, complete: undefined });
    receiver.kept(manifestAt(12));
    expect(receiver.receive(part(20))).toEqual({ next: 20, complete: undefined });
    receiver.kept(manifestAt(9));
    expect(receiver.receive(part(20))).toEqual({ next: 25, complete: undefined });
    // One that begins again need not send it all.
    expect(receiver.receive(part(0))).toEqual({ next: 25, complete: undefined });
    expect(receiver.receive(part(0, { index: 12 }))).toEqual({ next: 10, complete: undefined });
  });

  it('begins anew when the bytes are not those of the manifest', () => {
    const receiver = new SnapshotReceiver();
    receiver.receive(part(0));
    receiver.receive({ ...part(10), bytes: new Uint8Array(10) });
    expect(receiver.receive(part(20))).toEqual({ next: 0, complete: undefined });
    for (const offset of [0, 10]) receiver.receive(part(offset));
    expect(receiver.receive(part(20)).complete).toEqual(state);
  });

  it('gives way to a later one of the same leader, and to any of a later leader', () => {
    const receiver = new SnapshotReceiver();
    receiver.receive(part(0));
    expect(receiver.receive(part(0, { index: 12 })).next).toBe(10);
    expect(receiver.receive(part(10, { index: 9 }))).toEqual({ next: 10, complete: undefined });
    expect(receiver.receive(part(0, { index: 5, term: 2 })).next).toBe(10);
    receiver.receive(part(10, { index: 5, term: 2 }));
    expect(receiver.receive(part(20, { index: 5, term: 2 })).complete).toEqual(state);
  });
});

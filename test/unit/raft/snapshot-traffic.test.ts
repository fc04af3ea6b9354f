import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Input } from '../../../coordinator/raft/core/messages.ts';
import { SnapshotTraffic } from '../../../coordinator/raft/driver/snapshot-traffic.ts';
import { chunkBytesDefault, LogStorage } from '../../../coordinator/raft/storage/log-storage.ts';
import type { Packet } from '../../../coordinator/raft/transport/packet.ts';

const configuration = { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] };
const parts = 8;
const state = new Uint8Array(parts * chunkBytesDefault);
const manifest = { index: 9, term: 1, configuration, chain: 0, size: state.length, chunkCount: parts, checksum: 0 };
const hardState = { term: 1, vote: 1, commit: 9 };
const storage = new LogStorage({ seq: 1, hardState, recovering: undefined, snapshot: 0, manifest, points: [] }, chunkBytesDefault);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A leader that sends to node 2 over a link which takes so long for each part, one after another; gives the parts sent and what came of it. */
async function sent(partMs: number): Promise<{ readonly offsets: number[]; readonly steps: Input[]; readonly tookMs: number }> {
  const offsets: number[] = [];
  const steps: Input[] = [];
  let [free, received] = [performance.now(), 0];
  const arrive = (offset: number): void => {
    if (offset === received) received += chunkBytesDefault;
    traffic.answered({ from: 2, term: 1, index: manifest.index, offset: received });
  };
  const traffic = new SnapshotTraffic({
    id: 1,
    storage,
    send: (_, packet: Packet) => {
      if (packet.kind !== 'chunk') return;
      const { offset } = packet.chunk;
      offsets.push(offset);
      free = Math.max(free, performance.now()) + partMs;
      setTimeout(() => arrive(offset), free - performance.now());
    },
    write: () => undefined,
    step: (input) => steps.push(input),
    repeatMs: 500,
  });
  traffic.keep(state);
  const since = performance.now();
  traffic.begin(2, 1);
  while (steps.length === 0) await vi.advanceTimersToNextTimerAsync();
  traffic.stop();
  return { offsets, steps, tookMs: performance.now() - since };
}

describe('a snapshot on its way', () => {
  it('is sent once over a link that is fast enough', async () => {
    const { offsets, steps } = await sent(100);
    expect(offsets).toHaveLength(parts);
    expect(steps).toEqual([{ type: 'snapshotSent', to: 2, succeeded: true }]);
  });

  it('arrives over a link on which a part takes longer than the wait for its answer, without most parts being sent again', async () => {
    // 256 KiB over 1 Mbit/s.
    const { offsets, steps, tookMs } = await sent(2_100);
    expect(steps).toEqual([{ type: 'snapshotSent', to: 2, succeeded: true }]);
    expect(offsets.length).toBeLessThan(2 * parts);
    expect(tookMs).toBeLessThan(2 * parts * 2_100);
  });

  it('is given up when nobody answers', async () => {
    const { offsets, steps } = await sent(1e8);
    expect(offsets).toEqual([0, 0, 0, 0, 0]);
    expect(steps).toEqual([{ type: 'snapshotSent', to: 2, succeeded: false }]);
  });
});

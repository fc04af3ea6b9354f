import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Input } from '../../../coordinator/raft/core/messages.ts';
import { SnapshotTraffic } from '../../../coordinator/raft/driver/snapshot-traffic.ts';
import { chunkBytesDefault, LogStorage, type Step } from '../../../coordinator/raft/storage/log-storage.ts';
import { chunkAt } from '../../../coordinator/raft/storage/snapshot-transfer.ts';
import type { Packet } from '../../../coordinator/raft/transport/packet.ts';
import { crc32c } from '../../../shared/checksum/crc32c.ts';

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

/** Node 2, to which node 1 sends the snapshot; what it writes is in the hands of the test. */
function follower() {
  const answers: number[] = [];
  const steps: Input[] = [];
  const writing: Iterator<Step>[] = [];
  let done = (): void => undefined;
  const first = { ...manifest, index: 0, term: 0, size: 0, chunkCount: 0 };
  const traffic = new SnapshotTraffic({
    id: 2,
    storage: new LogStorage({ seq: 1, hardState, recovering: undefined, snapshot: 0, manifest: first, points: [] }, chunkBytesDefault),
    send: (_, packet: Packet) => {
      if (packet.kind === 'chunkAnswer') answers.push(packet.answer.offset);
    },
    write: (next, then) => {
      writing.push(next);
      done = then;
    },
    step: (input) => steps.push(input),
    repeatMs: 500,
  });
  const whole = { ...manifest, checksum: crc32c(state) };
  const arrive = (at: number): void =>
    traffic.arrived(chunkAt({ from: 1, term: 1 }, whole, state, at * chunkBytesDefault, chunkBytesDefault), 1);
  const finish = (): void => {
    for (const all of writing) while (!all.next().done);
    done();
  };
  return { answers, steps, writing, traffic, arrive, finish };
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

  it('is no more written when the node stops, and what was written is removed', () => {
    const { writing, arrive, traffic } = follower();
    for (let at = 0; at < parts; at++) arrive(at);
    expect(writing).toHaveLength(1);
    const [steps] = writing as [Iterator<Step>];
    expect((steps.next().value as Step).operations.map(({ type }) => type)).toEqual(['put', 'put']);
    traffic.stop();
    expect((steps.next().value as Step).operations.every(({ type }) => type === 'delete')).toBe(true);
    expect(steps.next().done).toBe(true);
  });

  it('is written once though its last part comes again and again, and is said to be there each time when it is', () => {
    const { writing, arrive, answers, steps, finish } = follower();
    for (let at = 0; at < parts; at++) arrive(at);
    for (let time = 0; time < 3; time++) arrive(parts - 1);
    const last = (parts - 1) * chunkBytesDefault;
    expect([writing.length, answers.slice(parts - 1)]).toEqual([1, [last, last, last]]);
    finish();
    expect([answers.at(-1), steps.length]).toEqual([state.length, 1]);
    arrive(parts - 1);
    expect([writing.length, answers.at(-1), steps.length]).toEqual([1, state.length, 2]);
    expect(steps[1]).toEqual(steps[0]);
  });

  it('is given up when nobody answers', async () => {
    const { offsets, steps } = await sent(1e8);
    expect(offsets).toEqual([0, 0, 0, 0, 0]);
    expect(steps).toEqual([{ type: 'snapshotSent', to: 2, succeeded: false }]);
  });
});

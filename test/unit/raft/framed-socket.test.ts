import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { RaftLog } from '../../../coordinator/raft/core/log.ts';
import type { Entry } from '../../../coordinator/raft/core/messages.ts';
import { Progress } from '../../../coordinator/raft/core/progress.ts';
import { raftDefaults } from '../../../coordinator/raft/core/state.ts';
import { FramedSocket } from '../../../coordinator/raft/peers/framed-socket.ts';
import { encodePacket } from '../../../coordinator/raft/transport/packet.ts';

/** Over which nothing leaves. */
class StuckSocket extends EventEmitter {
  writableLength = 0;
  readonly destroyed = false;
  readonly setNoDelay = vi.fn();
  readonly cork = vi.fn();
  readonly uncork = vi.fn();
  write(bytes: Uint8Array): void {
    this.writableLength += bytes.length;
  }
}

it.each([
  ['small', 16],
  ['of the size of a command', 200],
  ['long', 60_000],
  ['as long as a message may be', raftDefaults.bytesPerMessageMax],
])('a connection has room for the whole window of a follower, whose entries are %s', async (_, dataBytes) => {
  const framed = new FramedSocket(new StuckSocket() as unknown as Socket, 1);
  const count = Math.min(80_000, Math.ceil(12_000_000 / dataBytes));
  const data = new Uint8Array(dataBytes);
  const entries = Array.from({ length: count }, (_unused, at): Entry => ({ index: at + 1, term: 1, kind: 'command', data }));
  const log = new RaftLog(0, 0, entries, 0);
  const progress = new Progress(1);
  progress.become('replicate');
  let messages = 0;
  while (!progress.isPaused(raftDefaults)) {
    const batch = log.batch(progress.next, raftDefaults.entriesPerMessageMax, raftDefaults.bytesPerMessageMax);
    const head = { from: 1, to: 2, term: 1, previousIndex: progress.next - 1, previousTerm: 1, commit: 0 };
    expect(framed.send(encodePacket({ kind: 'message', message: { type: 'appendRequest', ...head, entries: batch } }))).toBe(true);
    progress.sent(
      progress.next - 1 + batch.length,
      batch.reduce((sum, entry) => sum + entry.data.length, 0),
    );
    messages++;
    await Promise.resolve();
  }
  expect(messages).toBeGreaterThan(3);
  // And still for a heartbeat.
  expect(framed.hasRoom).toBe(true);
});

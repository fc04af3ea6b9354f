import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Delivered } from '../../../coordinator/raft/driver/raft-driver.ts';
import { ThreadedMember } from '../../../coordinator/raft/thread/member.ts';
import { decodeProposals, encodeCommitted, type ThreadStatus, type ToRaftThread } from '../../../coordinator/raft/thread/messages.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The Raft thread of a leader, in the hands of the test. */
class RaftThread extends EventEmitter {
  readonly proposed: { readonly id: number; readonly text: string }[] = [];

  postMessage(message: ToRaftThread): void {
    if (message.kind !== 'propose') return;
    for (const { id, data } of decodeProposals(message)) this.proposed.push({ id, text: new TextDecoder().decode(data) });
  }

  terminate(): Promise<number> {
    return Promise.resolve(0);
  }

  /** `proposal`: 0 for an entry of somebody else. Returns how many bytes it took to say so. */
  commit(index: number, entries: readonly { readonly proposal: number; readonly text: string }[]): number {
    const batch = entries.map(({ proposal, text }, at): Delivered => {
      return { entry: { index: index + at, term: 1, kind: 'command', data: bytes(text) }, proposal };
    });
    const message = encodeCommitted(batch);
    this.emit('message', message);
    return message.memory.byteLength;
  }
}

const status: ThreadStatus = {
  role: 'leader',
  leader: 1,
  term: 1,
  commitIndex: 0,
  lastIndex: 0,
  isRecovering: false,
  isRemoved: false,
  members: [],
  formats: new Map(),
  writes: { counts: [], sum: 0 },
  packetsDropped: 0,
  connectionsRefused: 0,
};

let thread: RaftThread;
let member: ThreadedMember;
let applied: string[];
let failures: Error[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] });
  thread = new RaftThread();
  applied = [];
  failures = [];
  const state = {
    apply: ({ data }: { readonly data: Uint8Array }) => applied.push(new TextDecoder().decode(data)),
    save: () => [],
    restore: () => undefined,
  };
  const options = {
    dataDir: '',
    clusterId: 'c',
    nodeId: 1,
    peers: [],
    listen: { host: '127.0.0.1', port: 0 },
    key: 'k'.repeat(16),
    state,
    telemetry: new Telemetry(silentLogger, new MetricRegistry()),
  };
  member = new ThreadedMember(options, thread as unknown as Worker, { port: 1, status, applied: 0 });
  void member.failed.then((error) => failures.push(error));
});

afterEach(() => vi.useRealTimers());

/** What is proposed in one turn leaves in one message. */
async function propose(...texts: readonly string[]): Promise<readonly Promise<unknown>[]> {
  const answers = texts.map((text) => member.propose(bytes(text)).catch((error: Error) => error));
  await Promise.resolve();
  return answers;
}

it('applies its own proposals in their place among those of others, and is not sent them again', async () => {
  const long = 'x'.repeat(100_000);
  const answers = await propose('a', long);
  expect(thread.proposed.map(({ text }) => text)).toEqual(['a', long]);
  const [a, second] = thread.proposed.map(({ id }) => id) as [number, number];
  const sent = thread.commit(1, [
    { proposal: 0, text: 'of another leader' },
    { proposal: a, text: 'a' },
    { proposal: second, text: long },
  ]);
  expect(applied).toEqual(['of another leader', 'a', long]);
  expect(sent).toBeLessThan(1_000);
  expect(await Promise.all(answers)).toEqual([
    { index: 2, term: 1, result: 2 },
    { index: 3, term: 1, result: 3 },
  ]);
});

it('applies a proposal that nobody waits for any more', async () => {
  const [answer] = await propose('late');
  vi.advanceTimersByTime(10_500);
  expect(await answer).toMatchObject({ reason: 'timeout' });
  thread.commit(1, [{ proposal: thread.proposed[0]?.id as number, text: 'late' }]);
  expect(applied).toEqual(['late']);
});

it('fails, rather than apply something else, when a proposal is committed twice', async () => {
  await propose('once');
  const proposal = thread.proposed[0]?.id as number;
  thread.commit(1, [{ proposal, text: 'once' }]);
  thread.commit(2, [{ proposal, text: 'once' }]);
  await Promise.resolve();
  expect(applied).toEqual(['once']);
  expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining(`the proposal ${proposal} is committed`)]);
});

it('forgets a proposal that is refused', async () => {
  const [answer] = await propose('no');
  const id = thread.proposed[0]?.id as number;
  thread.emit('message', { kind: 'refused', id, reason: 'superseded', leader: 2 });
  expect(await answer).toMatchObject({ reason: 'superseded' });
  thread.commit(1, [{ proposal: id, text: 'no' }]);
  await Promise.resolve();
  expect([applied, failures.length]).toEqual([[], 1]);
});

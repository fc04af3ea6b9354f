import { describe, expect, it } from 'vitest';
import { WriteQueue } from '../../../coordinator/raft/driver/write-queue.ts';
import type { Step } from '../../../coordinator/raft/storage/log-storage.ts';

const stepOf = (key: string, slot?: number): Step => ({
  operations: [{ type: 'delete', key }],
  witness: slot === undefined ? undefined : { offset: slot, bytes: new Uint8Array(1) },
});

/** A queue over a disk whose writes end when told, with what was written and said, in order. */
function queue() {
  const log: string[] = [];
  const ends: ((cause?: Error) => void)[] = [];
  const made = new WriteQueue(
    ({ operations, witness }) => {
      log.push(`write ${operations.map(({ key }) => key).join(' ')}${witness ? ` witness ${witness.offset}` : ''}`);
      return new Promise((resolve, reject) => ends.push((cause) => (cause ? reject(cause) : resolve())));
    },
    (cause) => log.push(`failed ${(cause as Error).message}`),
    () => undefined,
  );
  const push = (key: string, isWrite = true, slot?: number): void =>
    made.push({ step: stepOf(key, slot), isWrite, done: () => log.push(`done ${key}`) });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const end = async (cause?: Error): Promise<void> => {
    await turn();
    ends.shift()?.(cause);
    await turn();
  };
  return { log, push, end, turn, queue: made };
}

describe('the queue of writes', () => {
  it('puts what comes during a write into one batch, with the newest witness', async () => {
    const { log, push, end } = queue();
    push('a', true, 1);
    await end();
    push('b', true, 2);
    await end();
    expect(log).toEqual(['write a witness 1', 'done a', 'write b witness 2', 'done b']);
    push('c', true, 3);
    push('d', true, 4);
    push('e', true, 5);
    await end();
    expect(log.slice(4)).toEqual(['write c d e witness 5', 'done c', 'done d', 'done e']);
  });

  it('keeps steps apart that must be durable one before the other', async () => {
    const { log, push, end } = queue();
    push('a');
    push('b', false);
    push('c', false);
    push('d');
    push('e');
    for (let write = 0; write < 4; write++) await end();
    expect(log.filter((line) => line.startsWith('write'))).toEqual(['write a', 'write b', 'write c', 'write d e']);
  });

  it('says once that a write failed, and writes nothing more', async () => {
    const { log, push, end, queue: made } = queue();
    push('a');
    push('b', false);
    await end(new Error('EIO'));
    await made.drained();
    push('c');
    await end();
    expect(log).toEqual(['write a', 'failed EIO']);
  });
});

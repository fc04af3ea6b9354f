import { describe, expect, it } from 'vitest';
import { WriteQueue } from '../../../coordinator/raft/driver/write-queue.ts';
import type { Step } from '../../../coordinator/raft/storage/log-storage.ts';

const stepOf = (key: string, slot?: number): Step => ({
  operations: [{ type: 'delete', key }],
  witness: slot === undefined ? undefined : { offset: slot, bytes: new Uint8Array(1) },
});

/** A queue over a disk whose writes end when told, with what was begun and said, in order. */
function queue() {
  const log: string[] = [];
  const ends = new Map<string, (cause?: Error) => void>();
  const begun = (what: string): Promise<void> => {
    log.push(what);
    return new Promise((resolve, reject) => ends.set(what, (cause) => (cause ? reject(cause) : resolve())));
  };
  const made = new WriteQueue(
    {
      writeBatch: (operations) => begun(operations.map(({ key }) => key).join(' ')),
      writeWitness: ({ offset }) => begun(`witness ${offset}`),
    },
    (cause) => log.push(`failed ${(cause as Error).message}`),
    () => undefined,
  );
  const push = (key: string, slot?: number, isWrite = true): void =>
    made.push({ step: stepOf(key, slot), isWrite, done: () => log.push(`done ${key}`) });
  /** What waits for the next turn of the loop has begun, and what waits for that. */
  const turn = async (): Promise<void> => {
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Ends what was begun, which must have been. */
  const end = async (what: string, cause?: Error): Promise<void> => {
    await turn();
    const ended = ends.get(what);
    if (ended === undefined) throw new Error(`${what} was not begun: ${log.join(', ')}`);
    ends.delete(what);
    ended(cause);
    await turn();
  };
  return { log, push, end, turn, queue: made };
}

describe('the queue of writes', () => {
  it('puts what comes during a write into one batch, with the newest witness', async () => {
    const { log, push, end } = queue();
    push('a', 1);
    await end('a');
    await end('witness 1');
    push('b', 2);
    await end('b');
    push('c', 3);
    push('d', 4);
    push('e', 5);
    await end('witness 2');
    await end('c d e');
    await end('witness 5');
    expect(log.slice(3)).toEqual(['b', 'witness 2', 'c d e', 'done b', 'witness 5', 'done c', 'done d', 'done e']);
  });

  it('begins a witness after its own batch and the witness before it, however late that ends', async () => {
    const { log, push, end, turn } = queue();
    push('a', 1);
    await end('a');
    push('b', 2);
    await end('b');
    await turn();
    expect(log).toEqual(['a', 'witness 1', 'b']);
    push('c', 3);
    await turn();
    expect(log).toEqual(['a', 'witness 1', 'b']);
    await end('witness 1');
    expect(log).toEqual(['a', 'witness 1', 'b', 'done a', 'witness 2', 'c']);
  });

  it('keeps steps apart that must be durable one before the other', async () => {
    const { log, push, end, turn } = queue();
    push('a', 1);
    push('b', undefined, false);
    push('c', undefined, false);
    push('d', 2);
    push('e', 3);
    await end('a');
    await turn();
    expect(log).toEqual(['a', 'witness 1']);
    await end('witness 1');
    await end('b');
    await end('c');
    await end('d e');
    await end('witness 3');
    expect(log).toEqual(['a', 'witness 1', 'done a', 'b', 'done b', 'c', 'done c', 'd e', 'witness 3', 'done d', 'done e']);
  });

  it('says once that a batch failed, and writes nothing more', async () => {
    const { log, push, end, turn, queue: made } = queue();
    push('a');
    push('b', undefined, false);
    await end('a', new Error('EIO'));
    await made.drained();
    push('c');
    await turn();
    expect(log).toEqual(['a', 'failed EIO']);
  });

  it('says once that a witness failed, and neither does nor acknowledges what was written meanwhile', async () => {
    const { log, push, end, queue: made } = queue();
    push('a', 1);
    await end('a');
    push('b', 2);
    await end('witness 1', new Error('EIO'));
    await end('b');
    await made.drained();
    expect(log).toEqual(['a', 'witness 1', 'b', 'failed EIO']);
  });
});

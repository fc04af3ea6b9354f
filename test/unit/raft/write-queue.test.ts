import { describe, expect, it } from 'vitest';
import { WriteQueue } from '../../../coordinator/raft/driver/write-queue.ts';
import type { Step } from '../../../coordinator/raft/storage/log-storage.ts';
import { decodeWitness, slotBytes } from '../../../coordinator/raft/storage/witness.ts';

const stepOf = (key: string, seq?: number, valueBytes = 0): Step => ({
  operations: [{ type: 'put', key, value: new Uint8Array(valueBytes) }],
  witness:
    seq === undefined ? undefined : { seq, vote: { term: 1, vote: 1 }, last: { index: 1, term: 1, chain: 1 }, recovering: undefined },
});

/** A queue over a disk whose writes end when told, with what was begun and said, in order. */
function queue() {
  const log: string[] = [];
  const ends = new Map<string, (cause?: Error) => void>();
  const begun = (what: string): Promise<void> => {
    log.push(what);
    return new Promise((resolve, reject) => ends.set(what, (cause) => (cause ? reject(cause) : resolve())));
  };
  const seen = (bytes: Uint8Array): string => {
    const file = new Uint8Array(2 * slotBytes);
    file.set(bytes);
    const found = decodeWitness(file);
    return `witness ${found?.seq} of ${found?.batch.map(({ key }) => key).join(' ') || 'nothing'}`;
  };
  const made = new WriteQueue(
    {
      writeBatch: (operations) => begun(operations.map(({ key }) => key).join(' ')),
      writeWitness: (bytes) => begun(seen(bytes)),
    },
    (cause) => log.push(`failed ${(cause as Error).message}`),
    () => undefined,
  );
  const push = (key: string, seq?: number, { isWrite = true, valueBytes = 0 } = {}): void =>
    made.push({ step: stepOf(key, seq, valueBytes), isWrite, done: () => log.push(`done ${key}`) });
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
  it('puts what comes during a write into one batch, whose witness has all of it', async () => {
    const { log, push, end } = queue();
    push('a', 1);
    await end('a');
    push('b', 2);
    push('c', 3);
    await end('witness 1 of a');
    await end('witness 3 of b c');
    await end('b c');
    expect(log).toEqual(['a', 'witness 1 of a', 'done a', 'b c', 'witness 3 of b c', 'done b', 'done c']);
  });

  it('acknowledges nothing before both batch and witness are durable, whichever comes first', async () => {
    const { log, push, end } = queue();
    push('a', 1);
    await end('witness 1 of a');
    expect(log).toEqual(['a', 'witness 1 of a']);
    await end('a');
    push('b', 2);
    await end('b');
    expect(log).toEqual(['a', 'witness 1 of a', 'done a', 'b', 'witness 2 of b']);
  });

  it('writes the witness behind a batch that it has no room for', async () => {
    const { log, push, end, turn } = queue();
    push('a', 1, { valueBytes: slotBytes });
    await turn();
    expect(log).toEqual(['a']);
    await end('a');
    await end('witness 1 of nothing');
    expect(log).toEqual(['a', 'witness 1 of nothing', 'done a']);
  });

  it('keeps steps apart that must be durable one before the other', async () => {
    const { log, push, end, turn } = queue();
    push('a', 1);
    push('b', undefined, { isWrite: false });
    push('c', undefined, { isWrite: false });
    push('d', 2);
    await end('a');
    await turn();
    expect(log).toEqual(['a', 'witness 1 of a']);
    await end('witness 1 of a');
    await end('b');
    await end('c');
    await end('d');
    await end('witness 2 of d');
    expect(log).toEqual(['a', 'witness 1 of a', 'done a', 'b', 'done b', 'c', 'done c', 'd', 'witness 2 of d', 'done d']);
  });

  it('makes each of many steps when the one before it is durable, and writes what comes meanwhile between them', async () => {
    const { log, push, end, queue: made } = queue();
    function* steps(): Generator<Step> {
      for (const key of ['a', 'b']) {
        log.push(`make ${key}`);
        yield stepOf(key);
      }
    }
    made.pushEach(steps(), () => log.push('all done'));
    push('c', 1);
    await end('a');
    await end('c');
    await end('witness 1 of c');
    await end('b');
    expect(log).toEqual(['make a', 'a', 'make b', 'c', 'witness 1 of c', 'done c', 'b', 'all done']);
  });

  it('says once that a batch failed, and writes nothing more', async () => {
    const { log, push, end, turn, queue: made } = queue();
    push('a');
    push('b', undefined, { isWrite: false });
    await end('a', new Error('EIO'));
    await made.drained();
    push('c');
    await turn();
    expect(log).toEqual(['a', 'failed EIO']);
  });

  it('says once that a witness failed, when its batch is not on its way any more', async () => {
    const { log, push, end, queue: made } = queue();
    push('a', 1);
    push('b', 2, { isWrite: false });
    await end('witness 1 of a', new Error('EIO'));
    expect(log).toEqual(['a', 'witness 1 of a']);
    await end('a');
    await made.drained();
    expect(log).toEqual(['a', 'witness 1 of a', 'failed EIO']);
  });
});

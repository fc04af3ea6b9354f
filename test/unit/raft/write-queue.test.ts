import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WriteQueue } from '../../../coordinator/raft/driver/write-queue.ts';
import type { Step } from '../../../coordinator/raft/storage/log-storage.ts';
import { decodeWitness, slotBytes } from '../../../coordinator/raft/storage/witness.ts';

const stepOf = (key: string, seq?: number, valueBytes = 0): Step => ({
  operations: [{ type: 'put', key, value: new Uint8Array(valueBytes) }],
  witness:
    seq === undefined ? undefined : { seq, vote: { term: 1, vote: 1 }, last: { index: 1, term: 1, chain: 1 }, recovering: undefined },
});

/** As large as a batch that the witness has not room for twice. */
const longBytes = 10_000;

/** A queue over a disk whose writes end when told, with what was begun and said, in order. Time goes on when told, too. */
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
  const made = new WriteQueue({
    disk: {
      writeBatch: (operations) => begun(operations.map(({ key }) => key).join(' ')),
      writeWitness: (bytes) => begun(seen(bytes)),
    },
    failed: (cause) => log.push(`failed ${(cause as Error).message}`),
    settled: () => undefined,
    durable: () => undefined,
  });
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
  /** So long that the database is given what only the witness has. */
  const later = async (): Promise<void> => {
    await turn();
    vi.advanceTimersByTime(5);
    await turn();
  };
  return { log, push, end, turn, later, queue: made };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the queue of writes', () => {
  it('acknowledges what the witness has, and gives it to the database later, several with one batch', async () => {
    const { log, push, end, later } = queue();
    push('a', 1);
    await end('witness 1 of a');
    push('b', 2);
    push('c', 3);
    await end('witness 3 of a b c');
    expect(log).toEqual(['witness 1 of a', 'done a', 'witness 3 of a b c', 'done b', 'done c']);
    await later();
    await end('a b c');
    push('d', 4);
    await end('witness 4 of d');
    expect(log.slice(5)).toEqual(['a b c', 'witness 4 of d', 'done d']);
  });

  it('writes the next witness while the database is given what the one before it has, with all that it lacks until then', async () => {
    const { log, push, end, later } = queue();
    push('a', 1);
    await end('witness 1 of a');
    await later();
    push('b', 2);
    await end('witness 2 of a b');
    push('c', 3);
    await end('a');
    await end('witness 3 of a b c');
    await later();
    await end('b c');
    expect(log).toEqual(['witness 1 of a', 'done a', 'a', 'witness 2 of a b', 'done b', 'witness 3 of a b c', 'done c', 'b c']);
  });

  it('acknowledges a batch that the witness has no room for twice when both have it, with what the database lacks', async () => {
    const { log, push, end } = queue();
    push('a', 1);
    await end('witness 1 of a');
    push('b', 2, { valueBytes: longBytes });
    await end('witness 2 of a b');
    expect(log.slice(2)).toEqual(['a b', 'witness 2 of a b']);
    await end('a b');
    push('c', 3, { valueBytes: longBytes });
    await end('c');
    expect(log.slice(4)).toEqual(['done b', 'c', 'witness 3 of c']);
  });

  it('writes nothing to the database again behind what follows it', async () => {
    const { log, push, end, later, turn } = queue();
    push('a', 1);
    await end('witness 1 of a');
    await later();
    push('b', 2);
    await end('witness 2 of a b');
    push('c', 3, { valueBytes: longBytes });
    await turn();
    expect(log.slice(2)).toEqual(['a', 'witness 2 of a b', 'done b']);
    await end('a');
    await later();
    expect(log.slice(5)).toEqual(['b c', 'witness 3 of b c']);
    await end('witness 3 of b c');
    await end('b c');
    await later();
    expect(log.slice(7)).toEqual(['done c']);
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

  it('keeps steps apart that must be durable one before the other, in the database', async () => {
    const { log, push, end, turn } = queue();
    push('a', 1);
    push('b', undefined, { isWrite: false });
    push('c', undefined, { isWrite: false });
    push('d', 2);
    await turn();
    expect(log).toEqual(['witness 1 of a']);
    await end('witness 1 of a');
    await end('a b');
    await end('c');
    await end('witness 2 of d');
    expect(log).toEqual(['witness 1 of a', 'done a', 'a b', 'done b', 'c', 'done c', 'witness 2 of d', 'done d']);
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
    await end('witness 1 of c');
    await end('c b');
    expect(log).toEqual(['make a', 'a', 'make b', 'witness 1 of c', 'done c', 'c b', 'all done']);
  });

  it('is drained when the database has everything', async () => {
    const { log, push, end, queue: made } = queue();
    push('a', 1);
    await end('witness 1 of a');
    const drained = made.drained().then(() => log.push('drained'));
    push('b', 2);
    await end('witness 2 of a b');
    await end('a');
    await end('b');
    await drained;
    expect(log).toEqual(['witness 1 of a', 'done a', 'a', 'witness 2 of a b', 'done b', 'b', 'drained']);
  });

  it('is not drained while a long batch is written that came meanwhile', async () => {
    const { log, push, end, turn, queue: made } = queue();
    push('a', 1);
    await end('witness 1 of a');
    const drained = made.drained().then(() => log.push('drained'));
    push('b', 2, { valueBytes: longBytes });
    await end('a');
    await turn();
    expect(log.slice(2)).toEqual(['a', 'b', 'witness 2 of b']);
    await end('b');
    await end('witness 2 of b');
    await drained;
    expect(log.slice(5)).toEqual(['done b', 'drained']);
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

  it('says that the database could not be given what only the witness has, and writes nothing more', async () => {
    const { log, push, end, later, turn, queue: made } = queue();
    push('a', 1);
    await end('witness 1 of a');
    await later();
    await end('a', new Error('EIO'));
    push('b', 2);
    await turn();
    await made.drained();
    expect(log).toEqual(['witness 1 of a', 'done a', 'a', 'failed EIO']);
  });

  it.each([
    ['witness', 0, 'witness 2 of a b'],
    ['long batch', longBytes, undefined],
  ])('acknowledges nothing behind a failure of what the database was given: a %s', async (_, valueBytes, begun) => {
    const { log, push, end, later, queue: made } = queue();
    push('a', 1);
    await end('witness 1 of a');
    await later();
    push('b', 2, { valueBytes });
    await end('a', new Error('EIO'));
    if (begun !== undefined) await end(begun);
    await later();
    await made.drained();
    expect(log.slice(2)).toEqual(['a', ...(begun === undefined ? [] : [begun]), 'failed EIO']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no timer behind a witness that failed while the database was given what the one before it has', async () => {
    const { log, push, end, later, queue: made } = queue();
    push('a', 1);
    await end('witness 1 of a');
    await later();
    push('b', 2);
    await end('witness 2 of a b', new Error('EIO'));
    await end('a');
    await made.drained();
    expect(log.slice(2)).toEqual(['a', 'witness 2 of a b', 'failed EIO']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('says once that a witness failed, when its batch is not on its way any more', async () => {
    const { log, push, end, queue: made } = queue();
    push('a', 1, { valueBytes: longBytes });
    push('b', 2, { isWrite: false });
    await end('witness 1 of a', new Error('EIO'));
    expect(log).toEqual(['a', 'witness 1 of a']);
    await end('a');
    await made.drained();
    expect(log).toEqual(['a', 'witness 1 of a', 'failed EIO']);
  });
});

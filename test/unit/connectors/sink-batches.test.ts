import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../../../worker/connectors/connector.ts';
import { eachLetter, MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import type { OutgoingEvent } from '../../../worker/connectors/delivery/outgoing-event.ts';
import { SinkQueue, type SinkQueueOptions } from '../../../worker/connectors/delivery/sink-queue.ts';

const RETRIES = 1;
const THRESHOLD = 5;

/** What becomes of one request: taken, not taken now, refused for good. */
type Answer = 'ok' | 'busy' | 'refused';
type WholeFailure = 'nameless' | 'shared';

const outgoing = (id: number): OutgoingEvent => ({
  id: String(id),
  stream: 'S',
  type: 'S',
  time: 0,
  fieldsJson: `{"n":${id}}`,
  message: null,
  topic: null,
  format: 'envelope',
  omitNull: false,
});

/** A sink that takes batches, and answers each request for a message as its script says. */
class ScriptedSink implements Sink {
  readonly #scripts: readonly (readonly Answer[])[];
  /** Whether the next batch fails as a whole: for a reason that is that of each, or for one that names none. */
  readonly #wholeFailures: (WholeFailure | undefined)[];
  readonly #requests = new Map<string, number>();
  readonly taken: string[] = [];
  /** Ids in the order in which they were asked for first. */
  readonly first: string[] = [];
  readonly batches: number[] = [];
  readonly batching: Batching;
  hold: Promise<void> | undefined;

  constructor(scripts: readonly (readonly Answer[])[], wholeFailures: readonly (WholeFailure | undefined)[] = [], messages = 7) {
    this.#scripts = scripts;
    this.#wholeFailures = [...wholeFailures];
    this.batching = { messages, send: (batch) => this.#sendBatch(batch) };
  }

  async send(message: SinkMessage): Promise<void> {
    await this.hold;
    const outcome = this.#answer(message);
    if (outcome instanceof DeliveryFailure) throw outcome;
  }

  async #sendBatch(messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    this.batches.push(messages.length);
    await this.hold;
    const failure = this.#wholeFailures.shift();
    if (failure === 'nameless') return messages.map(() => 'alone');
    if (failure === 'shared') return messages.map(() => new DeliveryFailure('closed', 'the connection was lost'));
    return messages.map((message) => this.#answer(message));
  }

  #answer({ id }: SinkMessage): Outcome {
    const request = this.#requests.get(id) ?? 0;
    this.#requests.set(id, request + 1);
    if (request === 0) this.first.push(id);
    const answer = this.#scripts[Number(id)]?.[request] ?? 'ok';
    if (answer === 'busy') return new DeliveryFailure('http_503', 'busy');
    if (answer === 'refused') return new DeliveryFailure('http_400', 'refused', { isPermanent: true });
    this.taken.push(id);
    return 'taken';
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

type Letter = readonly [id: string, code: string, attempts: number];

/** What one event at a time comes to: the letters, and where the breaker opened, if it did. */
function naive(scripts: readonly (readonly Answer[])[]): { readonly letters: readonly Letter[]; readonly openedAt: number | undefined } {
  const letters: Letter[] = [];
  let failures = 0;
  let openedAt: number | undefined;
  for (const [id, script] of scripts.entries()) {
    if (failures === THRESHOLD) {
      letters.push([String(id), 'circuit_open', 0]);
      continue;
    }
    let attempts = 0;
    let answer: Answer = 'busy';
    while (answer === 'busy' && attempts <= RETRIES) answer = script[attempts++] ?? 'ok';
    if (answer === 'ok') failures = 0;
    else letters.push([String(id), answer === 'busy' ? 'http_503' : 'http_400', attempts]);
    if (answer === 'busy' && ++failures === THRESHOLD) openedAt = id;
  }
  return { letters, openedAt };
}

function newQueue(sink: Sink, options: Partial<SinkQueueOptions> = {}): { readonly queue: SinkQueue; readonly letters: MemoryDeadLetters } {
  const letters = new MemoryDeadLetters(10_000);
  const queue = new SinkQueue({
    pipelineId: 'p',
    name: 'Sink',
    sink,
    deadLetters: letters,
    retries: RETRIES,
    failureThreshold: THRESHOLD,
    resetTimeoutMs: 30_000,
    report: () => undefined,
    onChange: () => undefined,
    redact: (text) => text,
    now: () => 0,
    pause: async () => undefined,
    ...options,
  });
  return { queue, letters };
}

async function lettersOf(letters: MemoryDeadLetters): Promise<Letter[]> {
  const found: Letter[] = [];
  for await (const { id, code, attempts } of eachLetter(letters, 'p')) found.push([id, code, attempts]);
  return found;
}

const answers = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Answer[]>([]) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom<Answer>('ok', 'busy', 'refused'), { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant<Answer[]>(['busy', 'busy', 'busy']) },
);

const nameless = fc.constantFrom<(WholeFailure | undefined)[]>('nameless', undefined);
const wholeFailure = fc.constantFrom<(WholeFailure | undefined)[]>('nameless', 'shared', undefined);

describe('batches to a sink', () => {
  it('come to what one event at a time comes to, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answers, { maxLength: 80 }), fc.array(nameless, { maxLength: 10 }), async (scripts, wholeFailures) => {
        const sink = new ScriptedSink(scripts, wholeFailures);
        const { queue, letters } = newQueue(sink);
        for (const id of scripts.keys()) queue.push(outgoing(id));
        await queue.idle();
        const expected = naive(scripts);
        const found = await lettersOf(letters);
        const until = expected.openedAt ?? scripts.length;
        const upTo = (all: readonly Letter[]): readonly Letter[] => all.filter(([id]) => Number(id) <= until);
        expect(upTo(found)).toEqual(upTo(expected.letters));
        // Behind what opened the breaker: what was in the same batch and taken is delivered, all else given up.
        expect(found.slice(upTo(found).length).every(([, code]) => code === 'circuit_open')).toBe(true);
        expect(queue.tally.transitions.open).toBe(expected.openedAt === undefined ? 0 : 1);
        expect([...sink.taken, ...found.map(([id]) => id)].sort()).toEqual(Array.from(scripts.keys(), String).sort());
        expect([queue.tally.delivered, queue.tally.deadLetters, queue.pendingBytes]).toEqual([sink.taken.length, found.length, 0]);
        expect(sink.first).toEqual([...sink.first].sort((a, b) => Number(a) - Number(b)));
      }),
      { numRuns: 300 },
    );
  });

  it('are taken in the order of their events where the sink takes all of a batch or none, however often it fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(wholeFailure, { maxLength: 40 }), fc.integer({ min: 1, max: 60 }), async (failures, count) => {
        const sink = new ScriptedSink([], failures);
        const { queue, letters } = newQueue(sink, { failureThreshold: 1_000, retries: 3 });
        for (let id = 0; id < count; id++) queue.push(outgoing(id));
        await queue.idle();
        expect(sink.taken).toEqual([...sink.taken].sort((a, b) => Number(a) - Number(b)));
        const given = await lettersOf(letters);
        expect(given.every(([, code, attempts]) => code === 'closed' && attempts === 4)).toBe(true);
        expect(sink.taken.length + given.length).toBe(count);
      }),
      { numRuns: 200 },
    );
  });

  it('are batches again when they are sent again, of those that were not taken', async () => {
    const sink = new ScriptedSink([[], ...Array.from({ length: 40 }, (_, at): Answer[] => (at % 2 === 0 ? ['busy'] : []))], [], 40);
    const { queue } = newQueue(sink);
    for (let id = 0; id < 41; id++) queue.push(outgoing(id));
    await queue.idle();
    expect([sink.batches, queue.tally.delivered]).toEqual([[40, 20], 41]);
  });

  it('lets exactly one of fifty events that wait be the probe, and goes on in batches when that is taken', async () => {
    let now = 0;
    const failing = Array.from({ length: THRESHOLD }, (): Answer[] => ['busy', 'busy']);
    const sink = new ScriptedSink(failing, [], 100);
    const { queue, letters } = newQueue(sink, { now: () => now });
    for (const id of failing.keys()) queue.push(outgoing(id));
    await queue.idle();
    await queue.settled();
    expect(queue.state).toBe('open');
    now = 30_000;
    const batches = sink.batches.length;
    let release: () => void = () => undefined;
    sink.hold = new Promise((resolve) => {
      release = resolve;
    });
    for (let id = THRESHOLD; id < THRESHOLD + 50; id++) queue.push(outgoing(id));
    expect([queue.state, sink.batches.length, queue.pending.length]).toEqual(['half_open', batches, 50]);
    release();
    await queue.idle();
    expect(sink.batches.slice(batches)).toEqual([49]);
    expect([queue.state, queue.tally.delivered, (await lettersOf(letters)).length]).toEqual(['closed', 50, THRESHOLD]);
  });

  it('become smaller when one fails as a whole for a reason that names no event, and larger again while they are taken', async () => {
    const sink = new ScriptedSink([], ['nameless', 'nameless'], 8);
    const { queue } = newQueue(sink);
    for (let id = 0; id < 60; id++) queue.push(outgoing(id));
    await queue.idle();
    // The first event comes alone: nothing was behind it when it came.
    expect(sink.batches).toEqual([8, 4, 2, 4, 2, 8, 8, 8, 8, 8, 8, 3]);
    expect(queue.tally.delivered).toBe(60);
  });

  it('wait once before they are sent again, not one after the other', async () => {
    let clockMs = 0;
    const sink = new ScriptedSink([[], ...Array.from({ length: 40 }, (): Answer[] => ['busy'])], [], 40);
    const pause = async (ms: number): Promise<void> => {
      clockMs += ms;
    };
    const { queue } = newQueue(sink, { now: () => clockMs, pause, random: () => 1 });
    for (let id = 0; id < 41; id++) queue.push(outgoing(id));
    await queue.idle();
    expect([queue.tally.delivered, clockMs]).toEqual([41, 200]);
  });

  it('stay pending, all of them, when the queue is closed before the answer', async () => {
    const sink = new ScriptedSink([]);
    const { queue } = newQueue(sink);
    queue.push(outgoing(0));
    await queue.idle();
    sink.hold = new Promise(() => undefined);
    for (let id = 1; id <= 20; id++) queue.push(outgoing(id));
    await queue.close();
    expect(queue.pending.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, at) => String(at + 1)));
  });

  it('hold back what has no dead letter yet, and everything behind it that was not taken', async () => {
    const sink = new ScriptedSink([[], [], ['refused', 'refused'], []]);
    const { queue, letters } = newQueue(sink);
    const add = letters.add.bind(letters);
    let failures = 1;
    letters.add = async (letter) => {
      if (failures-- > 0) throw new Error('ENOSPC');
      await add(letter);
    };
    for (let id = 0; id < 4; id++) queue.push(outgoing(id));
    await queue.idle();
    expect(await lettersOf(letters)).toEqual([['2', 'http_400', 1]]);
    expect(sink.taken).toEqual(['0', '1', '3']);
  });

  it('count a failure once while its dead letter cannot be written, and ask the sink for nothing meanwhile', async () => {
    const sink = new ScriptedSink([[], Array<Answer>(4 * THRESHOLD).fill('busy'), ['busy', 'busy'], []]);
    const { queue, letters } = newQueue(sink);
    const add = letters.add.bind(letters);
    let failures = 2 * THRESHOLD;
    letters.add = async (letter) => {
      if (failures-- > 0) throw new Error('ENOSPC');
      await add(letter);
    };
    for (let id = 0; id < 4; id++) queue.push(outgoing(id));
    await queue.idle();
    expect([queue.tally.transitions.open, queue.tally.delivered, sink.batches.includes(0)]).toEqual([0, 4, false]);
    expect(await lettersOf(letters)).toEqual([]);
  });

  it('wait as long as they are told to for more', async () => {
    const sink = new ScriptedSink([]);
    const pauses: number[] = [];
    let release: () => void = () => undefined;
    const pause = (ms: number): Promise<unknown> => {
      pauses.push(ms);
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    const { queue } = newQueue(sink, { lingerMs: 50, pause });
    for (let id = 0; id < 3; id++) queue.push(outgoing(id));
    expect([pauses, sink.batches]).toEqual([[50], []]);
    release();
    await queue.idle();
    expect(sink.batches).toEqual([3]);
  });
});

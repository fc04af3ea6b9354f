import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { encodeValue } from '../../../shared/events/stored-value.ts';
import { Duration, type Value } from '../../../shared/events/value.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { type ConnectorEnvironment, DeliveryFailure, type Sink, type SinkMessage } from '../../../worker/connectors/connector.ts';
import { CircuitBreaker } from '../../../worker/connectors/delivery/circuit-breaker.ts';
import { DeadLetterFile } from '../../../worker/connectors/delivery/dead-letter-file.ts';
import { type DeadLetter, type DeadLetters, eachLetter, MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import type { OutgoingEvent } from '../../../worker/connectors/delivery/outgoing-event.ts';
import { payloadOf } from '../../../worker/connectors/delivery/payload.ts';
import { PipelineSinks } from '../../../worker/connectors/delivery/pipeline-sinks.ts';
import { SinkQueue, type SinkQueueOptions } from '../../../worker/connectors/delivery/sink-queue.ts';
import { openSink, settingsOf } from '../../../worker/connectors/registry.ts';

async function listed(letters: DeadLetters, pipeline = 'p'): Promise<DeadLetter[]> {
  const all: DeadLetter[] = [];
  for await (const letter of eachLetter(letters, pipeline)) all.push(letter);
  return all;
}

const outgoing = (id: number): OutgoingEvent => ({
  id: `id-${id}`,
  stream: 'S',
  type: 'S',
  time: 0,
  fieldsJson: `{"n":${id}}`,
  message: null,
  topic: null,
  format: 'envelope',
  omitNull: false,
});

const letterTo = (connector: string): DeadLetter => ({
  timestamp: '2026-01-01T00:00:00.000Z',
  connector,
  error: 'no answer',
  event: { event_type: 'S', timestamp: 0, data: {} },
  id: 'old',
  pipeline_id: 'p',
  stream: 'S',
  attempts: 1,
  code: 'timeout',
});

describe('the circuit breaker', () => {
  it('opens at the threshold of failures in a row, sends one probe after the reset time, and closes when that succeeds', () => {
    let now = 0;
    const states: string[] = [];
    const breaker = new CircuitBreaker({
      failureThreshold: 3,
      resetTimeoutMs: 1_000,
      now: () => now,
      onChange: (state) => states.push(state),
    });
    for (const succeeds of [false, false, true, false, false]) {
      expect(breaker.ask()).toBe('send');
      if (succeeds) breaker.succeeded();
      else breaker.failed();
    }
    expect(breaker.state).toBe('closed');
    breaker.failed();
    expect([breaker.state, breaker.ask()]).toEqual(['open', 'reject']);
    now = 999;
    expect(breaker.ask()).toBe('reject');
    now = 1_000;
    expect([breaker.ask(), breaker.state, breaker.ask(), breaker.ask()]).toEqual(['probe', 'half_open', 'reject', 'reject']);
    breaker.failed();
    expect([breaker.state, breaker.ask()]).toEqual(['open', 'reject']);
    now = 2_000;
    expect(breaker.ask()).toBe('probe');
    breaker.succeeded();
    expect([breaker.state, breaker.ask()]).toEqual(['closed', 'send']);
    expect(states).toEqual(['open', 'half_open', 'open', 'half_open', 'closed']);
  });

  it('probes again when the probe said nothing of the sink', () => {
    let now = 0;
    const breaker = new CircuitBreaker({ failureThreshold: 1, resetTimeoutMs: 10, now: () => now, onChange: () => undefined });
    breaker.failed();
    now = 10;
    expect(breaker.ask()).toBe('probe');
    breaker.undecided();
    expect(breaker.ask()).toBe('probe');
  });
});

/** A sink that does as it is told: takes, or fails in some way. */
class ScriptedSink implements Sink {
  readonly sent: SinkMessage[] = [];
  answers: (undefined | DeliveryFailure)[] = [];
  hold: Promise<void> | undefined;
  closing: Promise<void> = Promise.resolve();

  async send(message: SinkMessage): Promise<void> {
    this.sent.push(message);
    await this.hold;
    const failure = this.answers.shift();
    if (failure) throw failure;
  }

  close(): Promise<void> {
    return this.closing;
  }
}

describe('the queue of a sink', () => {
  const busy = (): DeliveryFailure => new DeliveryFailure('http_503', 'the answer was 503');
  const refused = (): DeliveryFailure => new DeliveryFailure('http_400', 'the answer was 400', { isPermanent: true });
  let sink: ScriptedSink;
  let letters: MemoryDeadLetters;
  let pauses: number[];
  let now: number;
  let reports: string[];

  beforeEach(() => {
    sink = new ScriptedSink();
    letters = new MemoryDeadLetters(1_000);
    pauses = [];
    now = 0;
    reports = [];
  });

  function newQueue(options: Partial<SinkQueueOptions> = {}): SinkQueue {
    return new SinkQueue({
      pipelineId: 'p',
      name: 'Hook',
      sink,
      deadLetters: letters,
      retries: 3,
      failureThreshold: 2,
      resetTimeoutMs: 1_000,
      report: ({ message }) => reports.push(message),
      onChange: () => undefined,
      redact: (text) => text.replaceAll('hidden', '[REDACTED]'),
      now: () => now,
      random: () => 1,
      pause: async (ms) => pauses.push(ms),
      ...options,
    });
  }

  async function deliver(queue: SinkQueue, ...events: OutgoingEvent[]): Promise<void> {
    for (const event of events) queue.push(event);
    await queue.idle();
  }

  const lettersOf = async (): Promise<unknown[]> => (await listed(letters)).map(({ id, code, attempts }) => [id, code, attempts]);

  it('shows no secret that the code of the sink tells', async () => {
    sink.answers = [new DeliveryFailure('refused', 'no answer: http://hidden@host', { isPermanent: true })];
    const queue = newQueue();
    queue.push(outgoing(1));
    await queue.idle();
    expect((await listed(letters)).map(({ error }) => error)).toEqual(['no answer: http://[REDACTED]@host']);
  });

  it('says why nothing is sent, without secrets, until the sink takes something', async () => {
    const gone = new DeliveryFailure('refused', 'no answer: http://hidden@host');
    sink.answers = [busy(), gone];
    const queue = newQueue({ retries: 0 });
    await deliver(queue, outgoing(1));
    expect(queue.problem).toBeNull();
    await deliver(queue, outgoing(2));
    expect([queue.state, queue.problem]).toEqual(['open', 'no answer: http://[REDACTED]@host']);
    now = 1_000;
    await deliver(queue, outgoing(3));
    expect([queue.state, queue.problem]).toEqual(['closed', null]);
  });

  it('delivers in order, one at a time, tries again with growing pauses, and keeps the id', async () => {
    sink.answers = [undefined, busy(), busy(), undefined, undefined];
    await deliver(newQueue(), outgoing(1), outgoing(2), outgoing(3));
    expect(sink.sent.map(({ id }) => id)).toEqual(['id-1', 'id-2', 'id-2', 'id-2', 'id-3']);
    expect(pauses).toEqual([200, 400]);
    expect(await lettersOf()).toEqual([]);
  });

  it('gives up after four requests, and that is one failure', async () => {
    sink.answers = [busy(), busy(), busy(), busy(), undefined];
    const queue = newQueue();
    await deliver(queue, outgoing(1), outgoing(2));
    expect(await lettersOf()).toEqual([['id-1', 'http_503', 4]]);
    expect(queue.state).toBe('closed');
    expect(reports).toEqual(['DLQ write']);
  });

  it('tells of the first dead letter of a kind, and how many followed, every ten seconds and when it closes', async () => {
    vi.useFakeTimers();
    try {
      const told: unknown[] = [];
      const queue = newQueue({ report: ({ fields }) => told.push(fields) });
      const refuse = async (first: number, last: number): Promise<void> => {
        sink.answers = Array.from({ length: last - first + 1 }, refused);
        await deliver(queue, ...Array.from({ length: last - first + 1 }, (_, at) => outgoing(first + at)));
      };
      const line = (events: number): unknown => ({
        connector: 'Hook',
        pipeline: 'p',
        code: 'http_400',
        error: 'the answer was 400',
        events,
      });
      await refuse(1, 30);
      expect(told.splice(0)).toEqual([line(1)]);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(told.splice(0)).toEqual([line(29)]);
      await refuse(31, 32);
      await vi.advanceTimersByTimeAsync(20_000);
      expect(told.splice(0)).toEqual([line(2)]);
      await refuse(33, 35);
      expect(told.splice(0)).toEqual([line(1)]);
      await queue.close();
      expect(told).toEqual([line(2)]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('waits as long as the other side says', async () => {
    sink.answers = [new DeliveryFailure('http_429', 'the answer was 429', { retryAfterMs: 3_000 })];
    await deliver(newQueue(), outgoing(1));
    expect(pauses).toEqual([3_000]);
  });

  it('makes a dead letter at once of what is refused for good, which the breaker does not count', async () => {
    sink.answers = [refused(), refused(), refused()];
    const queue = newQueue();
    await deliver(queue, outgoing(1), outgoing(2), outgoing(3));
    expect(await lettersOf()).toEqual([
      ['id-1', 'http_400', 1],
      ['id-2', 'http_400', 1],
      ['id-3', 'http_400', 1],
    ]);
    expect(queue.state).toBe('closed');
  });

  describe('behind an open circuit', () => {
    let release: () => void;

    /** A queue whose breaker has just let its probe out, which waits for `release`, with 99 events behind it. */
    async function probing(...answers: (undefined | DeliveryFailure)[]): Promise<SinkQueue> {
      const queue = newQueue({ retries: 0 });
      sink.answers = [busy(), busy()];
      await deliver(queue, outgoing(1), outgoing(2), outgoing(3));
      expect(sink.sent).toHaveLength(2);
      expect(reports).toEqual(['DLQ write', 'Circuit breaker opened', 'DLQ write']);
      now = 1_000;
      sink.answers = answers;
      sink.hold = new Promise((resolve) => {
        release = resolve;
      });
      for (let n = 4; n <= 103; n++) queue.push(outgoing(n));
      expect(sink.sent.slice(2).map(({ id }) => id)).toEqual(['id-4']);
      expect(queue.state).toBe('half_open');
      return queue;
    }
    const idsFrom = (first: number): string[] => Array.from({ length: 104 - first }, (_, at) => `id-${first + at}`);

    it('sends exactly one probe, and what waits for its result when it succeeds', async () => {
      const queue = await probing();
      release();
      await queue.idle();
      expect(queue.state).toBe('closed');
      expect(sink.sent.slice(2).map(({ id }) => id)).toEqual(idsFrom(4));
      expect(queue.tally.delivered).toBe(100);
      expect(await lettersOf()).toHaveLength(3);
    });

    it('makes dead letters of what waits for the probe when it fails, which is not tried again', async () => {
      const queue = await probing(busy());
      release();
      await queue.idle();
      expect(queue.state).toBe('open');
      expect(sink.sent.slice(2).map(({ id }) => id)).toEqual(['id-4']);
      expect((await lettersOf()).slice(3)).toEqual([['id-4', 'http_503', 1], ...idsFrom(5).map((id) => [id, 'circuit_open', 0])]);
    });

    it('sends the next as the probe when the sink refuses the first for good, which says nothing of the sink', async () => {
      const queue = await probing(refused(), undefined);
      release();
      await queue.idle();
      expect(queue.state).toBe('closed');
      expect((await lettersOf()).slice(3)).toEqual([['id-4', 'http_400', 1]]);
      expect(queue.tally.delivered).toBe(99);
    });
  });

  it('keeps as pending what is under way when it is closed, and waits for no answer and no pause', async () => {
    sink.hold = new Promise(() => undefined);
    const hanging = newQueue();
    hanging.push(outgoing(1));
    await hanging.close();
    expect(hanging.pending.map(({ id }) => id)).toEqual(['id-1']);
    sink.hold = undefined;
    sink.answers = [busy()];
    const pausing = newQueue({ pause: () => new Promise(() => undefined) });
    pausing.push(outgoing(2));
    await vi.waitUntil(() => sink.sent.length === 2);
    await pausing.close();
    expect(pausing.pending.map(({ id }) => id)).toEqual(['id-2']);
    expect(await lettersOf()).toEqual([]);
  });

  it('does not wait for a sink that does not close, as one that waits for its server, and makes dead letters meanwhile', async () => {
    sink.hold = new Promise(() => undefined);
    sink.closing = new Promise(() => undefined);
    const [closed, givenUp] = [newQueue(), newQueue()];
    for (const queue of [closed, givenUp]) queue.push(outgoing(1));
    const over = Promise.all([closed.close(), givenUp.giveUp()]);
    await vi.waitUntil(async () => (await lettersOf()).length > 0);
    expect(await Promise.race([over.then(() => 'over'), new Promise(setImmediate).then(() => 'closing')])).toBe('closing');
    await over;
    expect(await lettersOf()).toEqual([['id-1', 'given_up', 1]]);
    expect(closed.pending.map(({ id }) => id)).toEqual(['id-1']);
  });

  it('makes dead letters of everything when it is given up, with the number of requests really made', async () => {
    sink.hold = new Promise(() => undefined);
    const queue = newQueue();
    for (let n = 1; n <= 5; n++) queue.push(outgoing(n));
    await queue.giveUp();
    expect(await lettersOf()).toEqual([['id-1', 'given_up', 1], ...[2, 3, 4, 5].map((n) => [`id-${n}`, 'given_up', 0])]);
    expect([queue.pending, queue.pendingBytes, queue.tally.deadLetters]).toEqual([[], 0, 5]);
  });

  it('says how many dead letters it could not write when it is given up', async () => {
    sink.hold = new Promise(() => undefined);
    letters.add = () => Promise.reject(new Error('ENOSPC'));
    const queue = newQueue();
    for (let n = 1; n <= 3; n++) queue.push(outgoing(n));
    await queue.giveUp();
    expect(reports).toEqual(['DLQ cannot be written']);
  });

  it('holds an event whose dead letter cannot be written, and everything behind it', async () => {
    let failures = 2;
    const add = letters.add.bind(letters);
    letters.add = async (letter) => {
      if (failures-- > 0) throw new Error('ENOSPC');
      await add(letter);
    };
    sink.answers = [refused(), refused(), refused(), undefined];
    await deliver(newQueue(), outgoing(1), outgoing(2));
    expect(await lettersOf()).toEqual([['id-1', 'http_400', 1]]);
    expect(sink.sent.at(-1)?.id).toBe('id-2');
    expect(reports.filter((message) => message === 'DLQ cannot be written')).toHaveLength(2);
  });

  it('counts an event once whose dead letter cannot be written, however often it is sent again', async () => {
    let failures = 3;
    const add = letters.add.bind(letters);
    letters.add = async (letter) => {
      if (failures-- > 0) throw new Error('ENOSPC');
      await add(letter);
    };
    sink.answers = [busy(), busy(), busy(), busy(), undefined];
    const queue = newQueue({ retries: 0 });
    await deliver(queue, outgoing(1), outgoing(2));
    expect([await lettersOf(), queue.state, queue.tally.delivered]).toEqual([[['id-1', 'http_503', 1]], 'closed', 1]);
  });

  const old = letterTo('Hook');

  it('sends a dead letter again when the request before is through, and then what waits', async () => {
    let release: () => void = () => undefined;
    sink.hold = new Promise((resolve) => {
      release = resolve;
    });
    const queue = newQueue();
    for (const id of [1, 2]) queue.push(outgoing(id));
    const replayed = queue.replay(old);
    await new Promise(setImmediate);
    expect(sink.sent.map(({ id }) => id)).toEqual(['id-1']);
    release();
    expect(await replayed).toBe('taken');
    await queue.idle();
    expect(sink.sent.map(({ id }) => id)).toEqual(['id-1', 'old', 'id-2']);
  });

  it('is closed by a dead letter that is sent again, however long it is open, and opened anew by one that is not taken', async () => {
    sink.answers = [busy(), busy(), busy(), undefined];
    const queue = newQueue({ retries: 0, failureThreshold: 2 });
    await deliver(queue, outgoing(1), outgoing(2));
    now += 1_000_000;
    expect([await queue.replay(old), queue.state]).toEqual([expect.objectContaining({ code: 'http_503' }), 'open']);
    expect([await queue.replay(old), queue.state, queue.problem]).toEqual(['taken', 'closed', null]);
    expect(queue.tally.transitions).toEqual({ open: 2, half_open: 2, closed: 1 });
  });

  it('leaves the circuit as it is when a dead letter itself is refused', async () => {
    sink.answers = [busy(), refused(), undefined];
    const queue = newQueue({ retries: 0, failureThreshold: 1 });
    await deliver(queue, outgoing(1));
    now += 1_000_000;
    expect([await queue.replay(old), queue.state]).toEqual([expect.anything(), 'half_open']);
    expect([await queue.replay(old), queue.state]).toEqual(['taken', 'closed']);
  });

  it('sends no dead letter again that still waits for its turn when it is closed', async () => {
    sink.hold = new Promise(() => undefined);
    const queue = newQueue();
    queue.push(outgoing(1));
    const replayed = queue.replay(old);
    await queue.close();
    expect([await replayed, await queue.replay(old), sink.sent.length]).toEqual(['ended', 'ended', 1]);
  });

  it('loses none and doubles none: each ends delivered, as a letter, or pending', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('ok', 'busy', 'refused'), { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        async (script, count) => {
          sink = new ScriptedSink();
          letters = new MemoryDeadLetters(1_000);
          sink.answers = script.map((word) => ({ ok: undefined, busy: busy(), refused: refused() })[word]);
          const queue = newQueue({ retries: 1, now: () => (now += 400) });
          await deliver(queue, ...Array.from({ length: count }, (_, at) => outgoing(at)));
          const dead = (await listed(letters)).map(({ id }) => id);
          expect(queue.tally.delivered + dead.length).toBe(count);
          expect(new Set(dead).size).toBe(dead.length);
          expect(queue.pending).toEqual([]);
        },
      ),
    );
  });
});

describe('the payload', () => {
  const parts = { id: 'i', type: 'T', time: 1_767_225_600_250, fieldsJson: '{"a":null,"b":"x"}', message: null };

  it.each([
    ['envelope', false, '{"event_type":"T","timestamp":"2026-01-01T00:00:00.250Z","id":"i","data":{"a":null,"b":"x"}}'],
    ['envelope', true, '{"event_type":"T","timestamp":"2026-01-01T00:00:00.250Z","id":"i","data":{"b":"x"}}'],
    ['flat', false, '{"event_type":"T","timestamp":"2026-01-01T00:00:00.250Z","id":"i","a":null,"b":"x"}'],
  ] as const)('in form %s, without null: %s', (format, omitNull, text) => {
    expect(payloadOf(parts, { format, omitNull })).toBe(text);
  });

  it('has the text of an alert, and needs no fields', () => {
    expect(JSON.parse(payloadOf({ ...parts, fieldsJson: '{}', message: 'hot' }, { format: 'flat', omitNull: true }))).toEqual({
      event_type: 'T',
      timestamp: '2026-01-01T00:00:00.250Z',
      id: 'i',
      message: 'hot',
    });
  });
});

describe('the dead-letter file', () => {
  let folder: string;
  const letter = (id: number, pipeline = 'p'): DeadLetter => ({
    timestamp: '2026-01-01T00:00:00.000Z',
    connector: 'Hook',
    error: 'no answer',
    event: { event_type: 'S', timestamp: 0, data: { n: id } },
    id: String(id),
    pipeline_id: pipeline,
    stream: 'S',
    attempts: 4,
    code: 'timeout',
  });
  const open = (fileBytes = 1_000_000, onDropped: (letters: number) => void = () => undefined): Promise<DeadLetterFile> =>
    DeadLetterFile.open({ path: join(folder, 'dlq.jsonl'), fileBytes, onDropped });
  const ids = async (file: DeadLetterFile, pipeline = 'p'): Promise<string[]> => (await listed(file, pipeline)).map(({ id }) => id);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cep-dlq-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('has one JSON object per line, and cuts a line that a crash has torn', async () => {
    const first = await open();
    await first.add(letter(1));
    await first.close();
    appendFileSync(join(folder, 'dlq.jsonl'), '{"timestamp": "20');
    const second = await open();
    await second.add(letter(2));
    expect(await ids(second)).toEqual(['1', '2']);
    const lines = readFileSync(join(folder, 'dlq.jsonl'), 'utf8').split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[1] as string)).toEqual(letter(2));
    await second.close();
  });

  it('takes letters of one pipeline away without touching the others', async () => {
    const file = await open();
    await Promise.all([file.add(letter(1)), file.add(letter(2, 'q')), file.add(letter(3))]);
    expect(await file.remove('p', ({ id }) => id === '1')).toBe(1);
    await file.add(letter(4));
    expect([await ids(file), await ids(file, 'q')]).toEqual([['3', '4'], ['2']]);
    expect(await file.remove('p', () => true)).toBe(2);
    expect([await ids(file), await ids(file, 'q')]).toEqual([[], ['2']]);
    await file.close();
  });

  it('says of letters that have failed again what went wrong last, in their old turn, also when it is opened again', async () => {
    const file = await open(700);
    for (const id of [1, 2, 3, 4]) await file.add(letter(id));
    await file.update('p', ({ id }) =>
      id === '2' ? { attempts: 2, code: 'http_503', error: 'a longer text than there was before' } : undefined,
    );
    await file.add(letter(5));
    const expected = (await listed(file)).map(({ id, attempts, code }) => [id, attempts, code]);
    expect(expected[1]).toEqual(['2', 2, 'http_503']);
    expect(expected.map(([id]) => id)).toEqual(['1', '2', '3', '4', '5']);
    expect((await file.page('p', { limit: 9, offset: 0 }, { code: 'http_503' })).total).toBe(1);
    await file.close();
    const again = await open(700);
    expect((await listed(again)).map(({ id, attempts, code }) => [id, attempts, code])).toEqual(expected);
    await again.close();
  });

  it('has an event once that was given up again after a crash, and passes over lines that are no letters', async () => {
    const file = await open();
    for (const id of [1, 2, 1]) await file.add(letter(id));
    appendFileSync(join(folder, 'dlq.jsonl'), 'null\n7\n{"half\n');
    expect(await ids(file)).toEqual(['1', '2']);
    expect(await file.remove('p', ({ id }) => id === '1')).toBe(1);
    expect(await ids(file)).toEqual(['2']);
    await file.close();
  });

  it('reads of a page what is on it, and nothing else', async () => {
    const file = await open();
    for (let n = 1; n <= 5; n++) await file.add(letter(n));
    await file.add(letter(6, 'q'));
    expect(await file.page('p', { limit: 2, offset: 1 })).toEqual({
      total: 5,
      letters: [JSON.stringify(letter(2)), JSON.stringify(letter(3))],
    });
    const path = join(folder, 'dlq.jsonl');
    const before = readFileSync(path, 'utf8');
    const spoilt = before.split('\n').map((line, n) => (n === 3 ? line : line.replaceAll(/./g, '?')));
    writeFileSync(path, spoilt.join('\n'));
    expect(await file.page('p', { limit: 1, offset: 3 })).toEqual({ total: 5, letters: [JSON.stringify(letter(4))] });
    await file.close();
  });

  it('gives fewer of large letters at a time, and all of them in the end', async () => {
    const file = await open(100_000_000);
    const large = (id: number): DeadLetter => ({ ...letter(id), payload: 'x'.repeat(1_500_000) });
    const memory = new MemoryDeadLetters(100);
    for (const letters of [file, memory]) {
      for (let n = 1; n <= 5; n++) await letters.add(large(n));
      expect((await letters.page('p', { limit: 1_000, offset: 0 })).letters).toHaveLength(2);
      expect((await listed(letters)).map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    }
    await file.close();
  });

  it('is as it was when it is opened again, whatever was taken away and put aside before', async () => {
    const first = await open(800);
    for (let n = 1; n <= 9; n++) await first.add(letter(n, n % 2 === 0 ? 'q' : 'p'));
    await first.remove('p', ({ id }) => id === '7');
    await first.add(letter(10, 'q'));
    const kept = [await ids(first), await ids(first, 'q')];
    expect(kept[0]).not.toContain('7');
    await first.close();
    const second = await open(800);
    expect([await ids(second), await ids(second, 'q')]).toEqual(kept);
    await second.close();
  });

  it('says so when some letters cannot be taken away, keeps all of them, and leaves no half of a copy', async () => {
    const file = await open();
    for (const id of [1, 2, 3]) await file.add(letter(id));
    // What it is to be written to takes nothing, as on a full disk.
    symlinkSync('/dev/full', join(folder, 'dlq.jsonl.new'));
    const refused = { code: 'storage_unavailable', message: 'the dead letters cannot be changed: no space is left on the device' };
    await expect(file.remove('p', ({ id }) => id === '1')).rejects.toMatchObject(refused);
    expect(readdirSync(folder)).toEqual(['dlq.jsonl']);
    symlinkSync('/dev/full', join(folder, 'dlq.jsonl.new'));
    const again = { attempts: 5, code: 'timeout', error: 'no answer' };
    await expect(file.update('p', () => again)).rejects.toMatchObject(refused);
    expect(readdirSync(folder)).toEqual(['dlq.jsonl']);
    expect(await ids(file)).toEqual(['1', '2', '3']);
    await file.close();
  });

  it('says what is wrong with a file that cannot be read', async () => {
    const file = await open();
    await file.add(letter(1));
    mkdirSync(join(folder, 'dlq.1.jsonl'));
    await file.close();
    const refused = { code: 'storage_unavailable', message: 'the dead letters cannot be read: it is a directory' };
    const again = await open();
    await expect(again.page('p', { limit: 1, offset: 0 })).rejects.toMatchObject(refused);
    await again.close();
  });

  it('leaves no file where nothing was ever written, and none when it is destroyed', async () => {
    const file = new DeadLetterFile({ path: join(folder, 'deep', 't.jsonl'), fileBytes: 500, onDropped: () => undefined });
    expect([await file.page('p', { limit: 9, offset: 0 }), await file.remove('p', () => true)]).toEqual([{ total: 0, letters: [] }, 0]);
    await file.destroy();
    expect(readdirSync(folder)).toEqual([]);
    for (let n = 1; n <= 4; n++) await file.add(letter(n));
    expect(readdirSync(join(folder, 'deep')).length).toBeGreaterThan(1);
    await file.destroy();
    expect(readdirSync(join(folder, 'deep'))).toEqual([]);
  });

  it('puts full files aside and lets the oldest go, counted', async () => {
    const dropped: number[] = [];
    const file = await open(500, (count) => dropped.push(count));
    for (let n = 1; n <= 20; n++) await file.add(letter(n));
    const kept = await ids(file);
    expect(kept.at(-1)).toBe('20');
    expect(kept.length + dropped.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(file.dropped.total).toBeGreaterThan(0);
    expect([file.dropped.of('p', 'Hook'), file.dropped.of('p', 'other')]).toEqual([file.dropped.total, 0]);
    expect(readdirSync(folder)).toHaveLength(4);
    await file.close();
  });
});

describe('the sinks of a pipeline', () => {
  interface Received {
    readonly method: string | undefined;
    readonly url: string | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }
  let server: Server;
  let origin: string;
  let received: Received[];
  let statuses: number[];
  let letters: MemoryDeadLetters;
  let lines: string[];
  let reports: string[];

  beforeEach(async () => {
    received = [];
    statuses = [];
    lines = [];
    reports = [];
    letters = new MemoryDeadLetters(100);
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        received.push({ method: request.method, url: request.url, headers: request.headers, body });
        response.writeHead(statuses.shift() ?? 204, { location: '/elsewhere' }).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  function newSinks(more: Partial<ConnectorEnvironment> = {}): PipelineSinks {
    return new PipelineSinks({
      pipelineId: 'p',
      environment: { console: (line) => lines.push(line), door: new OutboundDoor(NetworkPolicy.everywhere), ...more },
      deadLetters: letters,
      report: ({ message }) => reports.push(message),
      onChange: () => undefined,
    });
  }

  const order = (id: string, connector: string | null, more: object = {}): Parameters<PipelineSinks['take']>[0] => ({
    id,
    connector,
    url: null,
    topic: null,
    stream: 'S',
    type: 'S',
    time: 0,
    fieldsJson: '{"a":1,"b":null}',
    message: null,
    parameters: new Map<string, Value>(),
    ...more,
  });

  it('send over http with method, headers, suffix and the id as idempotency key', async () => {
    const sinks = newSinks();
    const stored = [
      ['base_url', `${origin}/hook`],
      ['method', 'PUT'],
      ['headers', encodeValue(new Map([['x-team', 'blue']]))],
      ['omit_null', true],
    ] as const;
    sinks.configure([settingsOf('Hook', 'rest', stored)], ['Hook']);
    sinks.take(order('1', 'Hook', { topic: 'a b/c' }));
    sinks.take(order('2', 'Hook', { parameters: new Map<string, Value>([['format', 'flat']]) }));
    await sinks.idle(5_000);
    expect(
      received.map(({ method, url, headers }) => [method, url, headers['x-team'], headers['idempotency-key'], headers['content-type']]),
    ).toEqual([
      ['PUT', '/hook/a%20b/c', 'blue', '1', 'application/json'],
      ['PUT', '/hook', 'blue', '2', 'application/json'],
    ]);
    expect(received.map(({ body }) => JSON.parse(body))).toEqual([
      { event_type: 'S', timestamp: '1970-01-01T00:00:00Z', id: '1', data: { a: 1 } },
      { event_type: 'S', timestamp: '1970-01-01T00:00:00Z', id: '2', a: 1 },
    ]);
    await sinks.close();
  });

  it('that await checkpoints have them too when the program has changed or has no such connector any more', async () => {
    for (const next of ['other', undefined]) {
      const sinks = newSinks({ keepsState: true });
      const kafka = (topic: string) =>
        settingsOf('K', 'kafka', [
          ['brokers', '127.0.0.1:1'],
          ['topic', topic],
          ['exactly_once', true],
          ['retries', 1_000],
        ]);
      sinks.configure([kafka('one')], ['K']);
      sinks.take(order('1', 'K'));
      expect(sinks.awaitCheckpoint).toBe(true);
      if (next === undefined) sinks.configure([], []);
      else sinks.configure([kafka(next)], ['K']);
      if (next !== undefined) sinks.take(order('2', 'K'));
      const saved = sinks.save();
      sinks.checkpointed(saved);
      expect(sinks.awaitCheckpoint).toBe(false);
      const ledgers = (saved.ledgers ?? []).map(([name, { last }]) => [name, last]);
      expect(ledgers).toEqual(
        next === undefined
          ? [['K', 1]]
          : [
              ['K', 1],
              ['K', 1],
            ],
      );
      await sinks.close();

      // After a restart the number that was given last is that of the connector as it is now.
      const again = newSinks({ keepsState: true });
      again.configure([kafka('other')], ['K']);
      again.load(saved);
      expect([again.awaitCheckpoint, again.save().ledgers]).toEqual([false, saved.ledgers?.slice(-1)]);
      await again.close();
    }
  });

  it('write to the console under a label', async () => {
    const sinks = newSinks();
    sinks.configure([settingsOf('Out', 'console', [])], ['Out']);
    sinks.take(order('1', 'Out'));
    sinks.take(order('2', 'Out', { topic: 'label' }));
    await sinks.idle(5_000);
    expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual(['Out', 'label']);
    await sinks.close();
  });

  it.each([301, 400, 404])('do not try a status of %i again', async (status) => {
    statuses = [status];
    const sinks = newSinks();
    sinks.configure([settingsOf('Hook', 'http', [['url', origin]])], ['Hook']);
    sinks.take(order('1', 'Hook'));
    await sinks.idle(5_000);
    expect(received).toHaveLength(1);
    expect(await listed(letters)).toMatchObject([
      { id: '1', code: `http_${status}`, attempts: 1, connector: 'Hook', event: { data: { a: 1, b: null } } },
    ]);
    await sinks.close();
  });

  it('send dead letters again as they were, to the sink that failed only; the delivered ones are gone', async () => {
    statuses = [400, 400, 204, 400];
    const sinks = newSinks();
    sinks.configure([settingsOf('Hook', 'http', [['url', origin]]), settingsOf('Out', 'console', [])], ['Hook', 'Out']);
    sinks.take(order('1', 'Hook', { topic: 't', parameters: new Map<string, Value>([['format', 'flat']]) }));
    sinks.take(order('2', 'Hook'));
    await sinks.idle(5_000);
    expect(await sinks.replay()).toEqual({ replayed: 1, failed: 1 });
    expect([received[2]?.body, received[2]?.url, received[2]?.headers['idempotency-key']]).toEqual([received[0]?.body, '/t', '1']);
    expect((await listed(letters)).map(({ id }) => id)).toEqual(['2']);
    expect(lines).toEqual([]);
    await sinks.close();
  });

  it('try a sink whose circuit is open with one letter of a replay; when that fails what came meanwhile is given up, and the rest is not sent', async () => {
    statuses = [503];
    const sinks = newSinks();
    const parameters = [
      ['url', origin],
      ['retries', 0],
      ['failure_threshold', 1],
      ['timeout', encodeValue(new Duration(300))],
    ] as const;
    sinks.configure([settingsOf('Hook', 'http', parameters)], ['Hook']);
    for (const id of ['1', '2', '3']) sinks.take(order(id, 'Hook'));
    await sinks.idle(5_000);
    const answer = server.listeners('request')[0] as () => void;
    server.removeAllListeners('request');
    let asked = 0;
    server.on('request', () => asked++);
    const replay = sinks.replay();
    await vi.waitUntil(() => asked === 1);
    for (let id = 10; id < 60; id++) sinks.take(order(String(id), 'Hook'));
    expect(await replay).toEqual({ replayed: 0, failed: 3, unsent: 2 });
    expect([asked, sinks.pending, sinks.status()[0]?.state]).toEqual([1, 0, 'open']);
    const standing = (await listed(letters)).map(({ attempts, code }) => `${code} ${attempts}`);
    expect(standing).toEqual(['timeout 2', ...Array(52).fill('circuit_open 0')]);
    server.removeAllListeners('request');
    server.on('request', answer);
    expect(await sinks.replay()).toEqual({ replayed: 53, failed: 0 });
    expect(sinks.status()).toMatchObject([{ state: 'closed', delivered: 53 }]);
    await sinks.close();
  });

  it('send a dead letter again once, however many ask for that at the same time', async () => {
    statuses = [400, 400, 204, 400, 204];
    const sinks = newSinks();
    sinks.configure([settingsOf('Hook', 'http', [['url', origin]])], ['Hook']);
    for (const id of ['1', '2']) sinks.take(order(id, 'Hook'));
    await sinks.idle(5_000);
    const replays = await Promise.all([sinks.replay(), sinks.replay(), sinks.replay()]);
    expect(replays).toEqual([
      { replayed: 1, failed: 1 },
      { replayed: 1, failed: 0 },
      { replayed: 0, failed: 0 },
    ]);
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(['1', '2', '1', '2', '2']);
    await sinks.close();
  });

  it('replay on after a replay that could not go on', async () => {
    const sinks = newSinks();
    sinks.configure([settingsOf('Hook', 'http', [['url', origin]])], ['Hook']);
    const page = letters.page.bind(letters);
    letters.page = async () => {
      letters.page = page;
      throw new Error('EIO');
    };
    const replays = await Promise.allSettled([sinks.replay(), sinks.replay()]);
    expect(replays.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    await sinks.close();
  });

  it('take delivered dead letters away before all are sent, so that a crash repeats few of them', async () => {
    letters = new MemoryDeadLetters(1_000);
    const sinks = newSinks();
    sinks.configure([settingsOf('Out', 'console', [])], ['Out']);
    for (let id = 0; id < 250; id++) {
      const connector = id % 5 === 0 ? 'Gone' : 'Out';
      await letters.add({ ...letterTo(connector), id: String(id) });
    }
    const left: number[] = [];
    const remove = letters.remove.bind(letters);
    letters.remove = async (...which) => {
      const removed = await remove(...which);
      left.push((await listed(letters)).length);
      return removed;
    };
    expect(await sinks.replay()).toEqual({ replayed: 200, failed: 50 });
    expect(left).toEqual([170, 90, 50]);
    expect(lines).toHaveLength(200);
    await sinks.close();
  });

  it('send on what a full disk does not let go, and say in the end what was delivered and stays', async () => {
    letters = new MemoryDeadLetters(1_000);
    const sinks = newSinks();
    sinks.configure([settingsOf('Out', 'console', [])], ['Out']);
    for (let id = 0; id < 250; id++) await letters.add({ ...letterTo('Out'), id: String(id) });
    const remove = letters.remove.bind(letters);
    const full = new CepError('storage_unavailable', 'the dead letters cannot be changed: no space is left on the device');
    letters.remove = async () => Promise.reject(full);
    const message = `250 dead letters were delivered and stay all the same: ${full.message}`;
    await expect(sinks.replay()).rejects.toMatchObject({ code: 'storage_unavailable', message, retryAfterSeconds: undefined });
    expect([lines.length, (await listed(letters)).length]).toEqual([250, 250]);
    // Of what is all delivered nothing has to be written.
    letters.remove = async (pipelineId, isGone) => {
      if (!(await listed(letters)).every(isGone)) throw full;
      return remove(pipelineId, isGone);
    };
    expect(await sinks.replay()).toEqual({ replayed: 250, failed: 0 });
    expect(lines).toHaveLength(500);
    expect(await listed(letters)).toEqual([]);
    await sinks.close();
  });

  it('send all, though of what was to be taken away only some could be', async () => {
    letters = new MemoryDeadLetters(1_000);
    const sinks = newSinks();
    sinks.configure([settingsOf('Out', 'console', [])], ['Out']);
    for (let id = 0; id < 250; id++) await letters.add({ ...letterTo('Out'), id: String(id) });
    const remove = letters.remove.bind(letters);
    letters.remove = async (pipelineId) => {
      letters.remove = remove;
      // The first file of two.
      await remove(pipelineId, ({ id }) => Number(id) < 60);
      throw new CepError('storage_unavailable', 'the dead letters cannot be changed: no space is left on the device');
    };
    expect(await sinks.replay()).toEqual({ replayed: 250, failed: 0 });
    expect(lines).toHaveLength(250);
    expect(await listed(letters)).toEqual([]);
    await sinks.close();
  });

  it('leave dead letters as they are whose replay ends with the pipeline', async () => {
    statuses = [400, 400];
    const sinks = newSinks();
    sinks.configure([settingsOf('Hook', 'http', [['url', origin]])], ['Hook']);
    for (const id of ['1', '2']) sinks.take(order(id, 'Hook'));
    await sinks.idle(5_000);
    const before = await listed(letters);
    server.removeAllListeners('request');
    const asked = new Promise((resolve) => server.once('request', resolve));
    const replay = sinks.replay();
    await asked;
    await sinks.close();
    expect(await replay).toEqual({ replayed: 0, failed: 2 });
    expect(await listed(letters)).toEqual(before);
  });

  it('send nothing again that came in by a source of the same connector, and keep its bytes', async () => {
    const sinks = newSinks();
    sinks.configure([settingsOf('Both', 'http', [['url', origin]])], ['Both']);
    const event = { event_type: '', timestamp: 0, data: { raw_base64: '//79' } };
    sinks.takeDeadLetter({ id: 'm', connector: 'Both', stream: '', event, error: 'no text', code: 'unreadable_message' });
    await sinks.idle(5_000);
    expect(await sinks.replay()).toEqual({ replayed: 0, failed: 1 });
    expect(received).toEqual([]);
    expect(await listed(letters)).toMatchObject([{ id: 'm', event }]);
    await sinks.close();
  });

  it('come back from a checkpoint with what was pending, and nothing else', async () => {
    statuses = [204];
    const sinks = newSinks();
    const hook = [
      settingsOf('Hook', 'http', [
        ['url', 'http://127.0.0.1:1/'],
        ['retries', 1_000],
      ]),
    ];
    sinks.configure(hook, ['Hook']);
    sinks.take(order('1', 'Hook'));
    sinks.take(order('2', null, { url: `${origin}/alert`, message: 'hot' }));
    await vi.waitFor(() => expect(sinks.pending).toBe(1), { timeout: 10_000 });
    const saved = JSON.parse(JSON.stringify(sinks.save()));
    await sinks.close();
    const again = newSinks();
    again.configure([settingsOf('Hook', 'http', [['url', origin]])], ['Hook']);
    again.load(saved);
    await again.idle(5_000);
    expect(received.map(({ url, headers }) => [url, headers['idempotency-key']])).toEqual([
      ['/alert', '2'],
      ['/', '1'],
    ]);
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ message: 'hot', data: { a: 1 } });
    await again.close();
  });

  it('send alerts to any address, by one sink for each server, whose name holds nothing of the address but the server', async () => {
    const sinks = newSinks();
    for (const [id, path] of [
      ['1', '/hooks/secret-1?token=a%20b'],
      ['2', '/hooks/secret-2'],
      ['3', ''],
    ] as const)
      sinks.take(order(id, null, { url: `${origin}${path}` }));
    await sinks.idle(5_000);
    expect(received.map(({ url }) => url)).toEqual(['/hooks/secret-1?token=a%20b', '/hooks/secret-2', '/']);
    expect(sinks.status()).toMatchObject([{ connector: `alert ${origin}`, delivered: 3 }]);
    statuses = [400];
    sinks.take(order('4', null, { url: `${origin}/hooks/secret-4` }));
    sinks.take(order('5', null, { url: 'nowhere' }));
    await sinks.idle(5_000);
    expect(await sinks.replay()).toEqual({ replayed: 1, failed: 1 });
    expect(received.at(-1)?.url).toBe('/hooks/secret-4');
    expect(await listed(letters)).toMatchObject([{ id: '5', connector: 'alert' }]);
    await sinks.close();
  });

  it('send alerts to however many servers, and remember some of them', async () => {
    const sinks = newSinks();
    for (let n = 0; n < 150; n++) {
      sinks.take(order(String(n), null, { url: `http://127.0.0.1:1/${n}`.replace('127.0.0.1', `127.0.0.${n + 1}`) }));
      if (n === 49) await sinks.idle(10_000);
    }
    await sinks.idle(20_000);
    expect(await listed(letters)).toHaveLength(100);
    expect([sinks.dlqEvents, letters.dropped.total]).toEqual([150, 50]);
    expect(sinks.status().length).toBeLessThanOrEqual(100);
    await sinks.close();
  });

  it('count dead letters on from a checkpoint, also of a version that did not tell those of sources apart', async () => {
    const sinks = newSinks();
    sinks.countSourceLetter('In');
    sinks.takeDeadLetter({ id: '1', stream: 'S', event: { event_type: 'A', timestamp: 0, data: {} }, error: 'no number' });
    await sinks.idle(5_000);
    const saved = sinks.save();
    expect(saved.letterCounts).toMatchObject({ bySink: [], others: 2 });
    const after = newSinks();
    after.countOn(saved);
    after.countSourceLetter('In');
    expect([after.dlqEvents, Object.fromEntries(after.lettersByConnector)]).toEqual([3, { on_error: 1, In: 2 }]);
    const upgraded = newSinks();
    upgraded.countOn({ ...saved, letterCounts: { bySink: [['Hook', 1]], others: 2 } });
    upgraded.countSourceLetter('In');
    expect([upgraded.dlqEvents, upgraded.save().letterCounts?.others]).toEqual([4, 3]);
    for (const each of [sinks, after, upgraded]) await each.close();
  });

  it('count how often their breaker has become each state', async () => {
    statuses = [500, 500, 204];
    const sinks = newSinks();
    const parameters = [
      ['url', origin],
      ['retries', 0],
      ['failure_threshold', 2],
      ['reset_timeout', 0],
    ] as const;
    sinks.configure([settingsOf('Hook', 'http', parameters)], ['Hook']);
    for (const id of ['1', '2', '3']) sinks.take(order(id, 'Hook'));
    await sinks.idle(5_000);
    expect(sinks.status()).toMatchObject([{ transitions: { open: 1, half_open: 1, closed: 1 }, delivered: 1, dlqEvents: 2 }]);
    await sinks.close();
  });

  it('keep a breaker over a reload that does not change its connector', async () => {
    const sinks = newSinks();
    const hook = settingsOf('Hook', 'http', [
      ['url', 'http://127.0.0.1:1/'],
      ['retries', 0],
      ['failure_threshold', 1],
      ['reset_timeout', encodeValue(new Duration(60_000))],
    ]);
    expect(hook.parameters.get('reset_timeout')).toEqual(new Duration(60_000));
    sinks.configure([hook], ['Hook']);
    sinks.take(order('1', 'Hook'));
    await sinks.idle(5_000);
    expect(sinks.openCircuits).toEqual(['Hook']);
    sinks.configure([hook, settingsOf('Out', 'console', [])], ['Hook', 'Out']);
    expect(sinks.openCircuits).toEqual(['Hook']);
    sinks.configure([settingsOf('Hook', 'http', [['url', origin]])], ['Hook']);
    expect(sinks.openCircuits).toEqual([]);
    await sinks.close();
  });

  it('refuse a topic of a kind that the connector does not send to, when its profile is known', () => {
    const profiles = (...names: string[]) =>
      new Map([
        [
          'bus',
          {
            connectorType: 'redis',
            properties: new Map([['url', 'redis://127.0.0.1:1'], ...names.map((name) => [name, 'x'] as const)]),
            secrets: [],
          },
        ],
      ]);
    const configured = (known: ReturnType<typeof profiles>, parameter: string) => () => {
      const sinks = newSinks({ profiles: known });
      sinks.configure(
        [settingsOf('R', 'redis', [['profile', 'bus']])],
        ['R'],
        [{ stream: 'S', connector: 'R', topic: 't', parameters: [parameter] }],
      );
      return sinks.close();
    };
    const refusal = (found: string, kind: string) =>
      expect.objectContaining({
        code: 'validation_error',
        message: `connector 'R': found \`${found}\` at \`.to\` of 'S', and it sends to a ${kind}`,
      });
    expect(configured(profiles('channel'), 'stream')).toThrow(refusal('stream', 'channel'));
    expect(configured(profiles(), 'stream')).toThrow(refusal('stream', 'channel'));
    expect(configured(profiles('group'), 'channel')).toThrow(refusal('channel', 'stream'));
    expect(configured(profiles('group'), 'stream')).not.toThrow();
    expect(configured(profiles(), 'channel')).not.toThrow();
    expect(configured(profiles('group'), 'format')).not.toThrow();
  });

  it('refuse what they cannot open, and stay as they were', () => {
    const sinks = newSinks();
    sinks.configure([settingsOf('Out', 'console', [])], ['Out']);
    expect(() => sinks.configure([settingsOf('Bad', 'http', [['url', 'nonsense']])], ['Bad'])).toThrow(
      expect.objectContaining({ code: 'connector_error' }),
    );
    sinks.take(order('1', 'Out'));
    expect(sinks.status()).toMatchObject([{ connector: 'Out' }]);
    expect(() =>
      openSink(settingsOf('M', 'mysql', []), { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) }),
    ).toThrow(expect.objectContaining({ code: 'connector_error' }));
  });
});

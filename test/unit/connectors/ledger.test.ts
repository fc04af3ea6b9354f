import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../../../worker/connectors/connector.ts';
import { MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import type { SavedLedger } from '../../../worker/connectors/delivery/ledger.ts';
import type { OutgoingEvent } from '../../../worker/connectors/delivery/outgoing-event.ts';
import { SinkQueue } from '../../../worker/connectors/delivery/sink-queue.ts';

/** The other side: what is in it, and how far the ledger is, change together. It may not be heard. */
class Ledgers {
  readonly delivered: string[] = [];
  readonly #through = new Map<string, number>();
  /** Whether the answers that come next are lost. */
  losses: boolean[] = [];

  take(messages: readonly SinkMessage[]): void {
    for (const { id, place } of messages) {
      if (place === undefined) throw new Error('a message without its place');
      if (place.number <= (this.#through.get(place.ledger) ?? 0)) continue;
      this.delivered.push(id);
      this.#through.set(place.ledger, place.number);
    }
    if (this.losses.shift()) throw new DeliveryFailure('lost', 'the answer was lost');
  }
}

class LedgerSink implements Sink {
  readonly awaitsCheckpoint = true;
  readonly #other: Ledgers;
  readonly batching: Batching = { messages: 4, send: (messages) => this.#sendBatch(messages) };

  constructor(other: Ledgers) {
    this.#other = other;
  }

  async send(message: SinkMessage): Promise<void> {
    this.#other.take([message]);
  }

  async #sendBatch(messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    try {
      this.#other.take(messages);
      return messages.map(() => 'taken');
    } catch {
      return messages.map(() => 'alone');
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

interface Checkpoint {
  readonly ledger: SavedLedger | undefined;
  readonly pending: readonly OutgoingEvent[];
  /** What had been made by then. */
  readonly made: readonly string[];
}

/** A process that makes events, some of which a crash lets it make otherwise. */
class Life {
  readonly queue: SinkQueue;
  readonly made: string[];

  constructor(other: Ledgers, { ledger, pending, made }: Checkpoint) {
    this.made = [...made];
    this.queue = new SinkQueue({
      pipelineId: 'p',
      name: 'Sink',
      sink: new LedgerSink(other),
      deadLetters: new MemoryDeadLetters(1_000),
      retries: 50,
      failureThreshold: 5,
      resetTimeoutMs: 30_000,
      report: () => undefined,
      onChange: () => undefined,
      redact: (text) => text,
      pause: async () => undefined,
    });
    if (ledger !== undefined) this.queue.loadLedger(ledger);
    for (const event of pending) this.queue.push(event);
  }

  make(id: string): void {
    this.made.push(id);
    const common = { stream: 'S', type: 'S', time: 0, fieldsJson: '{}', message: null, topic: null } as const;
    this.queue.push({ ...common, id, format: 'envelope', omitNull: false });
  }

  checkpoint(): Checkpoint {
    return JSON.parse(JSON.stringify({ ledger: this.queue.saveLedger(), pending: this.queue.pending, made: this.made })) as Checkpoint;
  }
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant('make' as const) },
  { weight: 3, arbitrary: fc.constantFrom('save' as const, 'store' as const) },
  { weight: 2, arbitrary: fc.constantFrom('wait' as const, 'lose' as const) },
  { weight: 1, arbitrary: fc.constant('crash' as const) },
);

it('gives a sink that awaits checkpoints every event once, and none that a crash has unmade, whenever it comes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const other = new Ledgers();
      let stored: Checkpoint = { ledger: undefined, pending: [], made: [] };
      let [life, saved, ids] = [new Life(other, stored), stored, 0];
      const store = (): void => {
        if (saved.ledger === undefined) return;
        stored = saved;
        life.queue.checkpointed(saved.ledger);
      };
      for (const one of steps) {
        if (one === 'make') life.make(String(ids++));
        else if (one === 'save') saved = life.checkpoint();
        else if (one === 'store') store();
        else if (one === 'lose') other.losses.push(true);
        else if (one === 'wait') await new Promise(setImmediate);
        else {
          await life.queue.close();
          [life, saved] = [new Life(other, stored), stored];
        }
      }
      saved = life.checkpoint();
      store();
      await life.queue.idle();
      expect(other.delivered).toEqual(life.made);
    }),
    { numRuns: 300 },
  );
});

it('sends nothing before a checkpoint has it, and says that something waits for one', async () => {
  const other = new Ledgers();
  const life = new Life(other, { ledger: undefined, pending: [], made: [] });
  life.make('a');
  const { ledger } = life.checkpoint();
  life.make('b');
  await new Promise(setImmediate);
  expect([other.delivered, life.queue.awaitsCheckpoint]).toEqual([[], true]);
  life.queue.checkpointed(ledger as SavedLedger);
  await new Promise(setImmediate);
  expect([other.delivered, life.queue.awaitsCheckpoint, life.queue.pending.map(({ id }) => id)]).toEqual([['a'], true, ['b']]);
  life.queue.checkpointed(life.checkpoint().ledger as SavedLedger);
  await life.queue.idle();
  expect([other.delivered, life.queue.awaitsCheckpoint]).toEqual([['a', 'b'], false]);
});

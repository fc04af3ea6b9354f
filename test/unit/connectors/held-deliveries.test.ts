import { expect, it } from 'vitest';
import type { Sink } from '../../../worker/connectors/connector.ts';
import { MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import type { OutgoingEvent } from '../../../worker/connectors/delivery/outgoing-event.ts';
import { SinkQueue } from '../../../worker/connectors/delivery/sink-queue.ts';

const outgoing = (id: number): OutgoingEvent => ({
  ...{ id: String(id), stream: 'S', type: 'S', time: 0, fieldsJson: '{}', message: null, topic: null },
  ...{ format: 'envelope', omitNull: false },
});

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

it.each([
  ['one by one', undefined],
  ['in batches', 7],
])('what is held leaves, %s, as far as a checkpoint has it', async (_, messages) => {
  const taken: string[] = [];
  const sink: Sink = {
    send: async ({ id }) => void taken.push(id),
    close: async () => undefined,
    ...(messages !== undefined && {
      batching: {
        messages,
        send: async (batch) => {
          taken.push(...batch.map(({ id }) => id));
          return batch.map(() => 'taken' as const);
        },
      },
    }),
  };
  let isHeld = false;
  const queue = new SinkQueue({
    ...{
      pipelineId: 'p',
      name: 'Hook',
      sink,
      deadLetters: new MemoryDeadLetters(10),
      retries: 1,
      failureThreshold: 2,
      resetTimeoutMs: 1_000,
    },
    ...{ report: () => undefined, onChange: () => undefined, redact: (text: string) => text, isHeld: () => isHeld },
  });
  queue.push(outgoing(1));
  isHeld = true;
  for (const id of [2, 3]) queue.push(outgoing(id));
  const inCheckpoint = queue.pushed;
  for (const id of [4, 5]) queue.push(outgoing(id));
  await turns();
  expect(taken).toEqual(['1']);
  queue.kept(inCheckpoint);
  await turns();
  expect([taken, queue.pending.length]).toEqual([['1', '2', '3'], 2]);
  isHeld = false;
  queue.resume();
  await queue.idle();
  expect(taken).toEqual(['1', '2', '3', '4', '5']);
  await queue.close();
});

import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { SourceReading } from '../../../worker/connectors/connector.ts';
import { SourceRunner, type SourceRunnerOptions } from '../../../worker/connectors/sources/source-runner.ts';

/** No time passes: what is not there in the next turn comes too late. */
vi.mock('../../../worker/connectors/in-time.ts', () => ({
  inTime: (answer: Promise<unknown>) =>
    Promise.race([
      answer,
      setImmediate().then(() => {
        throw new Error('no answer');
      }),
    ]),
}));

it('leaves a source that does not close to itself, and takes nothing more of it', async () => {
  const said: string[] = [];
  const fed: unknown[] = [];
  let reading: SourceReading | undefined;
  const runner = new SourceRunner({
    pipelineId: 'p',
    id: 's',
    settings: { name: 'In', topic: 'a', parameters: new Map() },
    eventTypes: [],
    source: { start: (given: SourceReading) => (reading = given), close: () => new Promise(() => undefined) },
    feed: async (feed: unknown) => void fed.push(feed),
    position: () => null,
    onChange: () => undefined,
    report: ({ message }: { readonly message: string }) => said.push(message),
  } as unknown as SourceRunnerOptions);
  runner.start();
  await runner.close();
  expect(said).toEqual(['Source not closed']);
  expect(await reading?.take({ messages: [{ bytes: Buffer.from('{"event_type":"A"}') }], position: {} })).toBe(false);
  expect(fed).toEqual([]);
});

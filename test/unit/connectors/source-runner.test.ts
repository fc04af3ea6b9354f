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

it('says that a batch is safe once everything is and it is through itself, and never where it will not be', async () => {
  let reading: SourceReading | undefined;
  const waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const runner = new SourceRunner({
    pipelineId: 'p',
    id: 's',
    settings: { name: 'In', topic: 'a', parameters: new Map() },
    eventTypes: [],
    source: { start: (given: SourceReading) => (reading = given), close: async () => undefined },
    feed: async () => {
      return { through: new Promise<void>((resolve, reject) => waiting.push({ resolve, reject })) };
    },
    safe: async () => undefined,
    position: () => null,
    onChange: () => undefined,
    report: () => undefined,
  } as unknown as SourceRunnerOptions);
  runner.start();
  const safe: number[] = [];
  for (const at of [0, 1, 2]) {
    const messages = [{ bytes: Buffer.from('{"event_type":"A"}') }];
    expect(await reading?.take({ messages, position: { at }, onSafe: () => safe.push(at) })).toBe(true);
  }
  await setImmediate();
  expect(safe).toEqual([]);
  waiting[0]?.resolve();
  waiting[1]?.reject(new Error('the pipeline has ended'));
  await setImmediate();
  expect(safe).toEqual([0]);
  waiting[2]?.resolve();
  await setImmediate();
  expect(safe).toEqual([0, 2]);
});

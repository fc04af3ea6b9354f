import { expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import type { Source, SourceBatch, SourcePosition, SourceReading } from '../../../worker/connectors/connector.ts';
import { eachLetter, MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { settingsOf } from '../../../worker/connectors/registry.ts';
import { SourceRunner } from '../../../worker/connectors/sources/source-runner.ts';

const subscription = { subscription: 'p-s', topic: null, textFields: [] };

/** A source of which the pipeline takes some batches; over the one behind them the process ends. */
async function run(
  { letters, position }: { readonly letters: MemoryDeadLetters; readonly position: SourcePosition | null },
  batches: readonly SourceBatch[],
  taken: number,
): Promise<void> {
  let reading: SourceReading | undefined;
  const source: Source = {
    start: (started) => {
      reading = started;
    },
    close: async () => undefined,
  };
  let feeds = 0;
  const runner = new SourceRunner({
    pipelineId: 'p',
    id: 's',
    settings: { ...settingsOf('F', 'file', []), ...subscription },
    eventTypes: ['A'],
    source,
    feed: async () => {
      if (++feeds <= taken) return;
      void runner.close();
      throw new CepError('pipeline_not_running', 'it has ended');
    },
    safe: async () => undefined,
    position: () => position,
    deadLetters: letters,
    onLetter: () => undefined,
    report: () => undefined,
    onChange: () => undefined,
    redact: (text) => text,
  });
  runner.start();
  for (const [at, batch] of batches.entries()) expect(await reading?.take(batch)).toBe(at < taken);
  await runner.close();
}

/** A batch of messages by what stands in them, up to a place in the source. */
const batch = (texts: readonly string[], next: number | null): SourceBatch => ({
  messages: texts.map((text) => ({ bytes: Buffer.from(text) })),
  position: next === null ? null : { next },
});
const placed = (texts: readonly string[], next: number): SourceBatch => ({
  ...batch(texts, next),
  placeOf: (at) => String(next - texts.length + at),
});

const placeless = (texts: readonly string[]): SourceBatch => ({ ...batch(texts, 0), placeOf: () => undefined });

/** Letters with one id are one, wherever they are kept over a crash. */
async function idsOf(letters: MemoryDeadLetters): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { id } of eachLetter(letters, 'p')) ids.add(id);
  return ids;
}

const good = '{"event_type":"A"}';

it.each([
  ['in a larger batch', [placed([good, 'bad'], 2)], [placed([good, 'bad', good, 'worse'], 4)]],
  ['in smaller batches', [placed([good, 'bad', 'worse'], 3)], [placed([good], 1), placed(['bad', 'worse'], 3)]],
  ['in a larger batch, of a source that does not say where each stands', [batch([good, 'bad'], 2)], [batch([good, 'bad', 'worse'], 3)]],
])('what is unreadable and comes again %s is one dead letter', async (_, before, after) => {
  const letters = new MemoryDeadLetters(100);
  await run({ letters, position: null }, before, 0);
  await run({ letters, position: null }, after, after.length);
  expect((await idsOf(letters)).size).toBe(2);
});

it.each([
  ['one batch', [batch(['bad', 'bad'], 2)]],
  ['two batches', [batch(['bad'], 1), batch(['bad'], 2)]],
  ['two batches of a source that says where each stands', [placed(['bad'], 1), placed(['bad'], 2)]],
  ['two batches of a source of which none comes again', [placeless(['bad']), placeless(['bad'])]],
  ['two batches of a source that has no places', [batch(['bad'], null), batch(['bad'], null)]],
])('two unreadable messages that are alike, in %s, are two dead letters', async (_, batches) => {
  const letters = new MemoryDeadLetters(100);
  await run({ letters, position: null }, batches, batches.length);
  expect((await idsOf(letters)).size).toBe(2);
});

it('one behind the place where reading goes on is another than one in front of it', async () => {
  const letters = new MemoryDeadLetters(100);
  await run({ letters, position: null }, [batch(['bad'], 1)], 1);
  await run({ letters, position: { next: 1 } }, [batch(['bad'], 2)], 1);
  expect((await idsOf(letters)).size).toBe(2);
});

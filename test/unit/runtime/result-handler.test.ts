import { expect, it } from 'vitest';
import { OutputRing } from '../../../worker/runtime/pipelines/output-ring.ts';
import { deferred, newEntry } from '../../../worker/runtime/pipelines/pipeline-inputs.ts';
import { PipelineTally } from '../../../worker/runtime/pipelines/pipeline-tally.ts';
import { ResultHandler, type ResultParts } from '../../../worker/runtime/pipelines/result-handler.ts';
import type { InjectResult } from '../../../worker/runtime/service.ts';
import type { RecordResult } from '../../../worker/runtime/threads/messages.ts';

const nothing: RecordResult = {
  ...{ slot: 0, sequence: 1, length: 0, events: 0, processed: 0, problems: [], problemsOmitted: 0, unreadable: null, failure: null },
  outputs: { skipped: 0, skippedBy: [], time: [], stream: [], type: [], fields: [], event: [], ordinal: [], causes: undefined } as never,
  ...{ deliveries: [], deadLetters: [], log: [], notes: null, isUntimed: false, isLookedUp: false, durationUs: 0, restMs: 0 },
};

function handled(result: RecordResult) {
  const { promise, settle } = deferred<InjectResult>();
  const body = { body: Buffer.from('{}\n'), format: 'ndjson', outputs: true } as const;
  const entry = newEntry(body, { sequence: 1, time: 0, settle, idempotencyKey: null });
  const parts = { ring: new OutputRing(), tally: new PipelineTally() } as unknown as ResultParts;
  new ResultHandler('p_1', parts).handle(entry, result, []);
  return { entry, promise };
}

// Entries are kept until a state has them, and an answer may have a hundred thousand outputs.
it('an entry holds nothing of the answer that was given for it', async () => {
  const { entry, promise } = handled(nothing);
  expect(entry.settle).toBeNull();
  expect(await promise).toMatchObject({ accepted: 0, outputs: [] });
});

it('nor of a refusal', async () => {
  const { entry, promise } = handled({ ...nothing, unreadable: { code: 'validation_error', message: 'at all', field: '' } as never });
  expect(entry.settle).toBeNull();
  await expect(promise).rejects.toMatchObject({ code: 'validation_error' });
});

import { expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { type CheckpointDocument, documentText } from '../../../worker/runtime/programs/checkpoint-document.ts';
import { bytesOf, event, startRuntime, TENANT } from './runtime-under-test.ts';

const long = (n: number): string => `t${n}${'x'.repeat(limits.countedNameCharsMax)}`;
const source = 'event T:\n    a: int\nstream S = T.tap(counter: "seen", labels: [a]).emit(a: a)\n';

it('names of what is counted are short, whatever is sent', async () => {
  const { runtime, deploy, inject } = await startRuntime();
  const id = await deploy(source);
  const { notes } = await inject(id, [event(long(1)), event(long(2)), event('U'), event('T', { a: 1 })]);
  expect(notes).toMatchObject({ unread: 3, unreadTypes: [{ type: 'U' }] });
  const { eventsUnread, unreadTypes } = await runtime.pipelines.metrics(TENANT, id);
  expect({ eventsUnread, unreadTypes }).toMatchObject({ eventsUnread: 3, unreadTypes: [{ type: 'U' }] });
  expect(runtime.scrape().pipelines[0]?.eventsByType).toEqual({ T: 1, U: 1, other: 2 });
  await runtime.shutdown({ deadlineMs: 5_000 });
});

it('a checkpoint brings no others, with a checksum that fits', async () => {
  const { runtime, deploy, inject } = await startRuntime();
  const id = await deploy(source);
  await inject(id, event('T', { a: 1 }));
  const { checkpointJson } = await runtime.pipelines.checkpoint(TENANT, id);
  const { crc32: _, ...document } = JSON.parse(checkpointJson) as CheckpointDocument & { crc32: number };
  const names = Array.from({ length: 20_000 }, (_, at) => `t${at}`);
  const types = [...names.slice(0, limits.countedTypesMax), long(1)].map((name) => [name, 1] as const);
  const fields = names.map((name) => [name, 1] as const);
  const engine = { ...document.engine, event_counts: { types, incomplete: [['T', fields] as const, [long(1), fields] as const] } };
  await runtime.pipelines.restore(TENANT, id, bytesOf(documentText({ ...document, engine })));
  await runtime.pipelines.metrics(TENANT, id);
  const again = JSON.parse((await runtime.pipelines.checkpoint(TENANT, id)).checkpointJson) as CheckpointDocument;
  const { types: kept, incomplete } = again.engine.event_counts ?? {};
  expect([kept?.length, Math.max(...(kept ?? []).map(([name]) => name.length))]).toEqual([limits.countedTypesMax + 1, 5]);
  expect(incomplete?.map(([type, counts]) => [type, counts.length])).toEqual([['T', limits.streamFieldsMax]]);
  await runtime.shutdown({ deadlineMs: 5_000 });
});

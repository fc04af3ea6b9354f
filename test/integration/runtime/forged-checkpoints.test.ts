import { expect, it, vi } from 'vitest';
import { type CheckpointDocument, documentText } from '../../../worker/runtime/programs/checkpoint-document.ts';
import { bytesOf, startRuntime, TENANT } from './runtime-under-test.ts';

const source = 'connector In = mqtt(host: "127.0.0.1", port: 1)\nstream S = A.from(In, topic: "t").emit(n: n)\n';

it('a place of a source that is none is told, and places of other sources are not kept', async () => {
  const { runtime, deploy } = await startRuntime();
  const id = await deploy(source);
  const documentOf = async () => JSON.parse((await runtime.pipelines.checkpoint(TENANT, id)).checkpointJson) as CheckpointDocument;
  const restore = (document: CheckpointDocument) => runtime.pipelines.restore(TENANT, id, bytesOf(documentText(document)));
  const { crc32: _, ...document } = (await documentOf()) as CheckpointDocument & { crc32: number };
  const [own] = runtime.pipelines.sources(TENANT, id).map((status) => status.id);
  await restore({ ...document, sources: { [own as string]: { taken: 5 }, other: { taken: [] } } });
  const problem = (): string | null | undefined => runtime.pipelines.sources(TENANT, id)[0]?.problem;
  await vi.waitFor(() => expect(problem()).toMatch('cannot read on from the place in the checkpoint'));
  expect(Object.keys((await documentOf()).sources)).toEqual([own]);
  await expect(restore({ ...document, sources: { [own as string]: 7 } })).rejects.toMatchObject({ code: 'checkpoint_corrupt' });
  await runtime.shutdown({ deadlineMs: 5_000 });
});

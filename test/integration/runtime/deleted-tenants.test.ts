import { expect, it } from 'vitest';
import { startRuntime } from './runtime-under-test.ts';

it.each([{ ephemeral: false }, { ephemeral: true }])(
  'a program that is being deployed goes with its tenant (%j)',
  async ({ ephemeral }) => {
    const { runtime } = await startRuntime({ apiKey: 'the-key-of-the-server' });
    const { id } = await runtime.tenants.create({ name: 'acme' });
    const deploying = runtime.pipelines.deploy(id, { name: 'p', source: 'stream S = timer(1s).emit(n: 1)\n', ephemeral });
    const refusal = expect(deploying).rejects.toMatchObject({ code: 'tenant_not_found' });
    await runtime.tenants.delete(id);
    await refusal;
    expect(runtime.pipelines.all()).toEqual([]);
    expect(runtime.scrape().pipelines).toEqual([]);
    await runtime.shutdown({ deadlineMs: 5_000 });
  },
);

it('a pipeline that is deleted meanwhile keeps none of the others', async () => {
  const { runtime } = await startRuntime({ apiKey: 'the-key-of-the-server' });
  const { id } = await runtime.tenants.create({ name: 'acme' });
  const source = 'stream S = A.emit(n: n)\n';
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) ids.push((await runtime.pipelines.deploy(id, { name, source })).pipeline.id);
  const deleting = runtime.tenants.delete(id);
  await Promise.all([deleting, runtime.pipelines.delete(id, ids[1] as string)]);
  expect(runtime.pipelines.all()).toEqual([]);
  await runtime.shutdown({ deadlineMs: 5_000 });
});

import { afterEach, expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { closeServers, fakeServer } from './fake-server.ts';

afterEach(closeServers);

it('a list of pipelines with very much text goes on behind those that it holds', async () => {
  const { api, runtime } = await fakeServer();
  const labels = { text: 'x'.repeat(limits.pipelinePageCharsMax / 4 - 1_000) };
  for (let n = 1; n <= 6; n++) await runtime.pipelines.deploy('default', { name: `p${n}`, source: 'stream Hot = Reading > 30', labels });
  const page = async (offset: number) => {
    const { pipelines, total, pagination } = (await api.inject(`/api/v1/pipelines?limit=1000&offset=${offset}`)).json();
    return [pipelines.map(({ name }: { name: string }) => name), total, pagination.has_more];
  };
  expect([await page(0), await page(4)]).toEqual([
    [['p1', 'p2', 'p3', 'p4'], 6, true],
    [['p5', 'p6'], 6, false],
  ]);
});

it('a page of dead letters that is shorter than asked for says that there are more', async () => {
  const { api, runtime } = await fakeServer();
  const { pipeline } = await runtime.pipelines.deploy('default', { name: 'rules', source: 'stream Hot = Reading > 30' });
  runtime.pipelines.deadLetters = async (_tenant, _id, { offset }) => ({ entries: ['{}', '{}', '{}'].slice(offset, offset + 2), total: 3 });
  const page = async (offset: number) => {
    const { entries, pagination } = (await api.inject(`/api/v1/pipelines/${pipeline.id}/dlq?limit=10&offset=${offset}`)).json();
    return [entries.length, pagination.has_more];
  };
  expect([await page(0), await page(2)]).toEqual([
    [2, true],
    [1, false],
  ]);
});

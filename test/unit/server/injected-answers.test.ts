import { afterEach, expect, it } from 'vitest';
import { closeServers, fakeServer } from './fake-server.ts';

afterEach(closeServers);

it('an answer to an injection says how many outputs it is too small for, where it is', async () => {
  const { api, runtime } = await fakeServer();
  const { pipeline } = await runtime.pipelines.deploy('default', { name: 'rules', source: 'stream Hot = Reading > 30' });
  const event = { event_type: 'Reading', fields: { value: 40 } };
  const omitted = async (path: string, payload: object) => {
    const answer = await api.inject({ method: 'POST', url: `/api/v1/pipelines/${pipeline.id}/${path}`, payload });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json().outputs_omitted;
  };
  const answers = async () => [
    await omitted('events', event),
    await omitted('events-batch', { events: [event] }),
    await omitted('events-batch?outputs=false', { events: [event] }),
  ];
  expect(await answers()).toEqual([undefined, undefined, undefined]);
  runtime.pipelines.outputsOmitted = 7;
  expect(await answers()).toEqual([7, 7, undefined]);
});

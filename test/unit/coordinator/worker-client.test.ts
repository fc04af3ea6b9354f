import { expect, it } from 'vitest';
import { WorkerClient } from '../../../coordinator/workers-client/worker-client.ts';
import type { WebDoor } from '../../../shared/outbound/web-door.ts';

it('hands a delivery on with what is said of it, and without when nothing is', async () => {
  const sent: unknown[] = [];
  const request = async (_target: URL, { headers, body }: { readonly headers: object; readonly body: unknown }) => {
    sent.push({ headers, body });
    return { statusCode: 200, headers: {}, body: new Response('{"received":1,"durable":0,"results":[]}') };
  };
  const client = new WorkerClient({ request } as unknown as WebDoor, 'k');
  const json = Buffer.from('{}');
  const at = { address: 'http://w1', placementId: 'g:p:0' };
  expect(await client.deliver(at, { json, lists: '5-9' })).toMatchObject({ received: 1 });
  await client.deliver(at, { json, lists: undefined });
  const headers = { 'x-api-key': 'k', 'content-type': 'application/json' };
  expect(sent).toEqual([
    { headers: { ...headers, 'x-cep-lists': '5-9' }, body: json },
    { headers, body: json },
  ]);
});

it('gives the lists of outputs as the worker wrote them, whether it says where they stand or not', async () => {
  const lists = ['[{"event_type":"Hot","timestamp":1,"fields":{"t":"ä]","n":-0.0}}]', '[]'];
  const pieces = lists.map(
    (list, at) => `{"sequence":${at + 1},"is_repeat":false,"errors":[],"output_events":${list},"processing_time_us":1}`,
  );
  const text = `{"received":2,"durable":0,"results":[${pieces.join(',')}]}`;
  const said = lists.map((list, at) => {
    const start = Buffer.byteLength(text.slice(0, text.indexOf(list, text.indexOf(`"sequence":${at + 1}`))));
    return `${start}-${start + Buffer.byteLength(list)}`;
  });
  const answerWith = async (headers: Readonly<Record<string, string>>) => {
    const request = async () => ({ statusCode: 200, headers, body: new Response(text) });
    const client = new WorkerClient({ request } as unknown as WebDoor, 'k');
    const { results } = await client.deliver({ address: 'http://w1', placementId: 'g:p:0' }, { json: Buffer.from('{}'), lists: undefined });
    return results.map(({ outputs }) => outputs);
  };
  expect(await answerWith({ 'x-cep-lists': said.join(',') })).toEqual(lists);
  // A worker of the version before, and one that says what is not so.
  const read = [JSON.stringify(JSON.parse(lists[0] as string)), '[]'];
  expect([await answerWith({}), await answerWith({ 'x-cep-lists': '1-5' })]).toEqual([read, read]);
});

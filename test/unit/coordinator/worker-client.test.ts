import { expect, it } from 'vitest';
import { WorkerClient } from '../../../coordinator/workers-client/worker-client.ts';
import type { WebDoor } from '../../../shared/outbound/web-door.ts';

it('hands a delivery on with what is said of it, and without when nothing is', async () => {
  const sent: unknown[] = [];
  const request = async (_target: URL, { headers, body }: { readonly headers: object; readonly body: unknown }) => {
    sent.push({ headers, body });
    return { statusCode: 200, body: { text: async () => '{"received":1,"durable":0,"results":[]}' } };
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

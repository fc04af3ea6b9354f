import { expect, it } from 'vitest';
import type { WebDoor } from '../../../shared/outbound/web-door.ts';
import { CoordinatorClient } from '../../../worker/membership/coordinator-client.ts';

/** What stands at each address: a status and a body. */
function clientOf(members: Readonly<Record<string, readonly [number, string]>>): CoordinatorClient {
  const request = async (url: URL): Promise<object> => {
    const [statusCode, text] = members[url.origin] as readonly [number, string];
    return { statusCode, body: { arrayBuffer: async () => Buffer.from(text) } };
  };
  return new CoordinatorClient({ urls: Object.keys(members), apiKey: undefined, web: { request } as unknown as WebDoor });
}

const request = { method: 'POST', path: '/workers/register', isAnswer: (bytes: Buffer) => bytes.toString().startsWith('{') } as const;

it('an answer that says nothing is none: the next member is asked, and first from then on', async () => {
  const client = clientOf({ 'http://c1': [200, '<html>'], 'http://c2': [201, '{}'] });
  expect((await client.ask(request)).status).toBe(201);
  expect(client.url).toBe('http://c2');
});

it('an answer that says nothing is told of when there is no other; a refusal is one, whatever it says', async () => {
  await expect(clientOf({ 'http://c1': [200, '<html>'] }).ask(request)).rejects.toMatchObject({
    name: 'NoCoordinator',
    message: 'http://c1: 200 with what no coordinator says',
  });
  expect((await clientOf({ 'http://c1': [401, 'no'] }).ask(request)).status).toBe(401);
});

it('a body that says how things are is made for each member, and a failure names what each of them did', async () => {
  let made = 0;
  const client = clientOf({
    'http://c1': [503, '{"error":"no leader","code":"no_leader"}'],
    'http://c2': [500, '{"error":"broken","code":"internal_error"}'],
  });
  const body = (): object => ({ clock_ms: ++made });
  await expect(client.ask({ ...request, body })).rejects.toThrow('http://c1: 503 no leader; http://c2: 500 broken');
  expect(made).toBe(2);
});

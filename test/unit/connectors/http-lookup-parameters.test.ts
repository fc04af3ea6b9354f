import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { ConnectorSettings, Lookup } from '../../../worker/connectors/connector.ts';
import { openHttpLookup } from '../../../worker/connectors/http-lookup.ts';

let server: Server;
let lookup: Lookup | undefined;
const asked: string[] = [];

/** Of keys that begin with an `s` it never says anything. */
beforeEach(async () => {
  asked.length = 0;
  server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? ''}`.trim());
    if (!request.url?.includes('/s')) response.end('{"a":1}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await lookup?.close();
  server.closeAllConnections();
  server.close();
});

function open(path: string, parameters: Record<string, unknown>, login = ''): Lookup {
  const url = `http://${login}127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const settings = {
    name: 'Api',
    type: 'http',
    parameters: new Map(Object.entries({ url, ...parameters })),
  } as unknown as ConnectorSettings;
  lookup = openHttpLookup(settings, { door: new OutboundDoor(NetworkPolicy.everywhere), console: () => undefined });
  return lookup;
}

it.each([
  ['/v', {}, '/v/k'],
  ['/v?x=1', { topic: 'tariffs' }, '/v/tariffs/k?x=1'],
  ['/v/{key}?x=1', { topic: 'tariffs/now' }, '/v/k/tariffs/now?x=1'],
  ['/v?id={key}', { topic: 'tariffs' }, '/v/tariffs?id=k'],
  ['', { topic: 'a b' }, '/a%20b/k'],
])('a look-up at %s with %j asks for %s', async (path, parameters, expected) => {
  await open(path, parameters).find('k', new AbortController().signal);
  expect(asked).toEqual([expected]);
});

it('a look-up with a topic logs in as the url says', async () => {
  await open('/v', { topic: 't' }, 'ann:pw@').find('k', new AbortController().signal);
  expect(asked).toEqual([`/v/t/k Basic ${Buffer.from('ann:pw').toString('base64')}`]);
});

it('a topic that is no path at the server fails each look-up', async () => {
  await expect(open('/v', { topic: '../x' }).find('k', new AbortController().signal)).rejects.toThrow('no path at the server');
  expect(asked).toEqual([]);
});

it('a look-up ends when the answer takes longer than the connector gives it', async () => {
  const { signal } = new AbortController();
  await expect(open('/v', { timeout: 0.05 }).find('silent', signal)).rejects.toThrow('not done within 0.05 s');
  expect(asked).toEqual(['/v/silent']);
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { openLookup, settingsOf } from '../../../worker/connectors/registry.ts';
import { reasonOf } from './hostile-trial.ts';

const MIB = 1_048_576;
const door = new OutboundDoor(NetworkPolicy.everywhere);

it.each<[string, number, Readonly<Record<string, string>>, string | Buffer, RegExp]>([
  [
    'that unpacks to a thousand times its size',
    200,
    { 'content-encoding': 'gzip' },
    gzipSync(Buffer.alloc(64 * MIB)),
    /'gzip', expected none/,
  ],
  ['of 100 MiB', 200, {}, Buffer.alloc(100 * MIB, 'a'), /more than 1048576 bytes/],
  ['of bytes that are no text', 200, {}, Buffer.from('{"role":"\xff"}', 'latin1'), /no UTF-8 text/],
  ['that is a page', 200, {}, '<html>', /no JSON/],
  ['that leads elsewhere', 302, { location: 'http://169.254.169.254/' }, '{}', /^the answer was 302$/],
])('an answer %s is none to a look-up, and the reason is said', async (_, status, headers, body, reason) => {
  const server = createServer((_request, answer) => answer.writeHead(status, headers).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/users`;
  const lookup = openLookup(settingsOf('Users', 'http', [['url', url]]), { console: () => undefined, door });
  expect(await reasonOf(lookup, 20_000)).toMatch(reason);
  await lookup.close();
  server.closeAllConnections();
  server.close();
});

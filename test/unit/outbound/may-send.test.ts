import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

it('what loses the right to send while a connection is made sends nothing over it', async () => {
  let received = 0;
  const server = createServer((_request, response) => {
    received++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  let maySend = false;
  const web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 1_000, silenceMs: 0, maySend: () => maySend });
  ends.push(() => web.close());
  const target = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const send = (): Promise<unknown> => web.request(target, { method: 'POST', headers: {}, body: 'x' });
  await expect(send()).rejects.toThrow(/nothing is to be sent/);
  expect(received).toBe(0);
  maySend = true;
  await send();
  expect(received).toBe(1);
});

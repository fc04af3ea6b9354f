import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

it('an answer may begin later than others where its request says so', async () => {
  let patient: ServerResponse | undefined;
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const server = createServer((request, response) => {
    if (request.url !== '/patient') return;
    patient = response;
    isAsked();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  const web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 10_000, silenceMs: 1 });
  ends.push(() => web.close());
  const ask = (path: string, more: { readonly headersMs?: number } = {}) => {
    const target = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    return web.request(target, { method: 'GET', headers: {}, body: null, silenceMs: 60_000, ...more });
  };
  const waiting = ask('/patient', { headersMs: 60_000 });
  await asked;
  await expect(ask('/others')).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
  patient?.end('at last');
  expect(await (await waiting).body.text()).toBe('at last');
});

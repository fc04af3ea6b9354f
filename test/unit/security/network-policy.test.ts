import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { ForbiddenAddress, isPublicAddress, NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure } from '../../../worker/connectors/connector.ts';
import { openWebhook } from '../../../worker/connectors/http.ts';

let requests = 0;
const server = createServer((_request, response) => {
  requests++;
  response.writeHead(204).end();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
afterAll(() => void server.close());

const environment = (network: NetworkPolicy) => ({ console: () => undefined, network });
const message = { id: '1', topic: null, payload: '{}' };

describe('an address', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '2606:4700::1111',
    '2a00::1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.19.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'ff02::1',
    'no address',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('who may reach public addresses only', () => {
  const tenant = NetworkPolicy.publicAnd([]);

  it.each([
    '127.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '[::]',
    '[::1]',
    '[::ffff:169.254.169.254]',
    '169.254.169.254',
    '10.0.0.1',
  ])('opens no sink at %s', (host) => {
    expect(() => openWebhook(`http://${host}:${port}/`, environment(tenant))).toThrow(
      expect.objectContaining({ code: 'connector_error', message: expect.stringContaining('not a public one') }),
    );
  });

  it('reaches nothing by a name that means such an address, and learns nothing of it', async () => {
    const sink = openWebhook(`http://localhost:${port}/`, environment(tenant));
    const failure = await sink.send(message).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DeliveryFailure);
    expect(failure).toMatchObject({ code: 'forbidden_address', isPermanent: true });
    expect(String(failure)).not.toMatch(/127\.0\.0\.1|::1/);
    expect(requests).toBe(0);
    await sink.close();
  });

  it('reaches the networks that are named for them, and no others', async () => {
    const some = NetworkPolicy.publicAnd(['127.0.0.0/8', '::1', 'fd00::/8']);
    expect(['127.9.9.9', '::1', '::ffff:127.0.0.1', 'fd00::5', '1.1.1.1'].map((address) => some.permits(address))).toEqual(
      Array(5).fill(true),
    );
    expect(['10.0.0.1', '::2', 'fc00::1'].map((address) => some.permits(address))).toEqual([false, false, false]);
    const sink = openWebhook(`http://127.0.0.1:${port}/`, environment(some));
    await sink.send(message);
    expect(requests).toBe(1);
    await sink.close();
  });

  it('gets no connection when one of several addresses of a name may not be reached', async () => {
    const half = NetworkPolicy.publicAnd(['127.0.0.1']);
    const found = await new Promise((resolve) =>
      half.lookup('ip6-localhost', { all: true }, (error, addresses) => resolve(error ?? addresses)),
    );
    expect(found).toBeInstanceOf(Error);
    await expect(new Promise((resolve) => half.lookup('127.0.0.1', { all: true }, (_error, all) => resolve(all)))).resolves.toEqual([
      { address: '127.0.0.1', family: 4 },
    ]);
    expect(() => half.requireHost('[::1]')).toThrow(ForbiddenAddress);
  });
});

describe('who may reach everything', () => {
  it('is told by nobody where to send', async () => {
    const sink = openWebhook(`http://localhost:${port}/`, environment(NetworkPolicy.everywhere));
    const before = requests;
    await sink.send(message);
    expect(requests).toBe(before + 1);
    await sink.close();
  });
});

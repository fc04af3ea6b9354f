import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, NetworkPolicy } from '../../../shared/security/network-policy.ts';

describe('an address', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '168.63.129.15',
    '168.63.129.17',
    '2606:4700::1111',
    '2a00::1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '::ffff:0808:0808',
    '0:0:0:0:0:ffff:8.8.8.8',
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
    'fec0::1',
    '::127.0.0.1',
    '::7f00:1',
    '64:ff9b:1::1',
    '4000::1',
    '3fff::1',
    '5f00::1',
    '192.0.0.1',
    '192.88.99.1',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '203.0.113.9',
    '255.255.255.254',
    'fe80::1%eth0',
    '0:0:0:0:0:0:0:1',
    '127.1',
    '0x7f.0.0.1',
    '017700000001',
    '2130706433',
    'no address',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('of a network that no public server has is never public, wherever in it the address lies', () => {
    const address = fc.constantFrom(...reserved).chain(([network, bits]) => inside(network, bits));
    const law = fc.property(address, (text) => isIP(text) !== 0 && !isPublicAddress(text));
    fc.assert(law, { seed: 11, numRuns: 2_000 });
  });
});

/** RFC 6890 and its like. */
const reserved: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['4000::', 2],
  ['8000::', 1],
];

/** Any address of the network: what is behind its bits is any. */
function inside(network: string, bits: number): fc.Arbitrary<string> {
  const size = isIP(network) === 6 ? 16 : 4;
  return fc.uint8Array({ minLength: size, maxLength: size }).map((noise) => {
    const base = bytesOf(network, size);
    const bytes = noise.map((byte, at) => {
      const mask = (0xff << Math.max(0, Math.min(8, 8 * (at + 1) - bits))) & 0xff;
      return ((base[at] ?? 0) & mask) | (byte & ~mask & 0xff);
    });
    if (size === 4) return bytes.join('.');
    return Array.from({ length: 8 }, (_, at) => (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16)).join(':');
  });
}

function bytesOf(network: string, size: number): readonly number[] {
  if (size === 4) return network.split('.').map(Number);
  const groups = network
    .replace(/::$/, '')
    .split(':')
    .filter((group) => group !== '');
  return Array.from({ length: 8 }, (_, at) => Number.parseInt(groups[at] ?? '0', 16)).flatMap((group) => [group >> 8, group & 0xff]);
}

describe('who may reach public addresses only', () => {
  it('reaches the networks that are named for them besides, and no others', () => {
    const some = NetworkPolicy.publicAnd(['127.0.0.0/8', '::1', 'fd00::/8']);
    expect(['127.9.9.9', '::1', '::ffff:127.0.0.1', 'fd00::5', '1.1.1.1'].map((address) => some.permits(address))).toEqual(
      Array(5).fill(true),
    );
    expect(['10.0.0.1', '::2', 'fc00::1'].map((address) => some.permits(address))).toEqual([false, false, false]);
  });
});

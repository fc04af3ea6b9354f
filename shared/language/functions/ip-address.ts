import { BoundedCache } from './bounded-cache.ts';

/** An address as groups of 16 bits: two for IPv4, eight for IPv6. */
export type IpAddress = readonly number[];

export interface IpNetwork {
  readonly address: IpAddress;
  readonly prefixBits: number;
}

const MAPPED_PREFIX: IpAddress = [0, 0, 0, 0, 0, 0xffff];

/**
 * Reads an IPv4 address (four decimals without leading zeros) or an IPv6 address (RFC 4291). An IPv4 address written as
 * IPv6 (`::ffff:10.0.0.1`) is IPv4. Undefined when the text is neither.
 */
export function readAddress(text: string): IpAddress | undefined {
  const groups = text.includes(':') ? readIpv6(text) : readIpv4(text);
  return groups && isMapped(groups) ? groups.slice(6) : groups;
}

function isMapped(groups: IpAddress): boolean {
  return groups.length === 8 && MAPPED_PREFIX.every((group, at) => groups[at] === group);
}

function readIpv4(text: string): IpAddress | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  const bytes = match?.slice(1) ?? [];
  if (bytes.length !== 4 || bytes.some((byte) => Number(byte) > 255 || String(Number(byte)) !== byte)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
  return [a * 256 + b, c * 256 + d];
}

function readIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(readGroups);
  if (!head) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (!tail || missing < 1) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail];
}

/** The groups on one side of `::`; the last may be an IPv4 address. */
function readGroups(text: string): IpAddress | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [at, part] of parts.entries()) {
    const read = part.includes('.') && at === parts.length - 1 ? readIpv4(part) : readGroup(part);
    if (!read) return undefined;
    groups.push(...read);
  }
  return groups;
}

function readGroup(text: string): IpAddress | undefined {
  return /^[0-9a-f]{1,4}$/i.test(text) ? [Number.parseInt(text, 16)] : undefined;
}

type Network = IpNetwork | { readonly problem: string };

const networks = new BoundedCache<Network>(1024, (text) => readNetwork(text) ?? { problem: text });

/** A network in CIDR notation, or a single address; undefined when the text is neither. Bits behind the prefix do not count. */
export function networkOf(text: string): IpNetwork | undefined {
  const network = networks.get(text);
  return 'problem' in network ? undefined : network;
}

function readNetwork(text: string): IpNetwork | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const written = match?.[1] ?? '';
  const address = readAddress(written);
  if (!address) return undefined;
  const bits = address.length * 16;
  const mappedBits = written.includes(':') && bits === 32 ? 96 : 0;
  const prefixBits = match?.[2] === undefined ? bits : Number(match[2]) - mappedBits;
  return prefixBits >= 0 && prefixBits <= bits ? { address, prefixBits } : undefined;
}

/** Whether the address lies in the network; addresses of the other family never do. */
export function isInNetwork(address: IpAddress, network: IpNetwork): boolean {
  if (address.length !== network.address.length) return false;
  return address.every((group, at) => {
    const counted = Math.min(16, Math.max(0, network.prefixBits - at * 16));
    const ignored = 16 - counted;
    return group >> ignored === (network.address[at] ?? 0) >> ignored;
  });
}

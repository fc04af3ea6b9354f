import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IPv4 networks that no public server has (RFC 6890 and its like). */
const privateNetworks4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
] as const;

/** IPv6: what is not global unicast, and of that what is for documentation or carries an IPv4 address inside. */
const privateNetworks6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'] as const;

/** Networks by family: one list of both would take an IPv4 address for the IPv6 address that it is mapped to. */
class Networks {
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  /** Each as `<address>/<bits>` or `<address>`. */
  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const [address = '', bits] = text.split('/');
      const family = familyOf(address);
      const whole = family === 'ipv6' ? 128 : 32;
      this.#lists[family].addSubnet(address, bits === undefined ? whole : Number(bits), family);
    }
  }

  has(address: string): boolean {
    const family = familyOf(address);
    return this.#lists[family].check(address, family);
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

const privateNetworks = new Networks([...privateNetworks4, ...privateNetworks6]);
const mapped = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;

/** Whether an address is one of a public server. An IPv4 address that is written as IPv6 counts as what it is. */
export function isPublicAddress(address: string): boolean {
  const plain = plainAddress(address);
  return isIP(plain) !== 0 && !privateNetworks.has(plain);
}

function plainAddress(address: string): string {
  const [, dotted, high, low] = mapped.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return address;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

/** An address that may not be reached. The message names no address: who asks must not learn what stands behind a name. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
  readonly code = 'forbidden_address';

  constructor() {
    super('the address is not a public one, and this tenant may reach no other');
  }
}

/** Which machines may be reached on behalf of somebody. */
export class NetworkPolicy {
  /** Every machine that this one reaches. */
  static readonly everywhere = new NetworkPolicy(undefined);
  readonly #networks: Networks | undefined;

  private constructor(networks: Networks | undefined) {
    this.#networks = networks;
  }

  /** Public addresses, and those of the networks named, as `10.1.0.0/16`. */
  static publicAnd(networks: readonly string[]): NetworkPolicy {
    return new NetworkPolicy(new Networks(networks));
  }

  permits(address: string): boolean {
    const networks = this.#networks;
    return networks === undefined || isPublicAddress(address) || networks.has(plainAddress(address));
  }

  /** For a host that is written as an address, which no one looks up. @throws ForbiddenAddress */
  requireHost(hostname: string): void {
    const address = hostname.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0 && !this.permits(address)) throw new ForbiddenAddress();
  }

  /**
   * Looks a name up for a connection. It is the address that was looked at that is connected to, so a name that means something else
   * a moment later leads nowhere; one address that may not be reached refuses them all.
   */
  readonly lookup: LookupFunction = (hostname, options, done) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) done(error, []);
      else if (!addresses.every(({ address }) => this.permits(address))) done(new ForbiddenAddress(), []);
      else if (options.all) done(null, addresses);
      else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}

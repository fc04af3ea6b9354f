import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [base: Address, bits: number];

/** All IPv6 addresses that are given to public servers are in here; ipaddr.js takes everything without a name of its own for unicast. */
const globalUnicast6: Network = ipaddr.parseCIDR('2000::/3');
/** Networks inside it that are for protocols and for documentation. */
const notPublic6: readonly Network[] = ['2001::/23', '3fff::/20'].map((text) => ipaddr.parseCIDR(text));
/** What a cloud has put on an address of the public range and gives to its own machines alone: the host of a machine in Azure, which hands out its settings. */
const notPublic4: readonly Network[] = ['168.63.129.16/32'].map((text) => ipaddr.parseCIDR(text));

/** Whether an address is one of a public server. An IPv4 address that is written as IPv6 counts as what it is. */
export function isPublicAddress(text: string): boolean {
  const address = addressOf(text);
  if (address === undefined || address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !notPublic4.some((network) => isIn(address, network));
  return isIn(address, globalUnicast6) && !notPublic6.some((network) => isIn(address, network));
}

/** Only what the system connects to as an address is one: the further spellings that ipaddr.js reads are names to the system. */
function addressOf(text: string): Address | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.process(text);
}

function isIn(address: Address, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

/** An address that may not be reached. The message names no address: callers must not learn what a name resolves to. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
  readonly code = 'forbidden_address';

  constructor(policy: NetworkPolicy) {
    const others = policy.hasPublic ? 'is not a public one' : 'is in none of the networks that the operator has named';
    super(`the address ${others}, and this tenant may reach no other`);
  }
}

/** Which machines may be reached on behalf of somebody. */
export class NetworkPolicy {
  /** Every machine that this one reaches. */
  static readonly everywhere = new NetworkPolicy(undefined);
  readonly #networks: readonly Network[] | undefined;
  readonly hasPublic: boolean;

  private constructor(networks: readonly Network[] | undefined, hasPublic = true) {
    this.#networks = networks;
    this.hasPublic = hasPublic;
  }

  /** Public addresses, and those of the networks named: each as `<address>/<bits>` or `<address>`. */
  static publicAnd(networks: readonly string[]): NetworkPolicy {
    return new NetworkPolicy(networks.map(networkOf));
  }

  /** The same without public addresses: of who is held to some networks, those that were named. */
  withoutPublic(): NetworkPolicy {
    return this.#networks === undefined ? this : new NetworkPolicy(this.#networks, false);
  }

  permits(text: string): boolean {
    if (this.#networks === undefined || (this.hasPublic && isPublicAddress(text))) return true;
    const address = addressOf(text);
    return address !== undefined && this.#networks.some((network) => isIn(address, network));
  }
}

function networkOf(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

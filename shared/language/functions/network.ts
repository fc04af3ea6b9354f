import { BOOL } from '../plan/types.ts';
import { always, defineFunction, str } from './define.ts';
import { EvaluationError, type FunctionDescriptor } from './descriptor.ts';
import { isInNetwork, networkOf, readAddress } from './ip-address.ts';

function notANetwork(text: string): string {
  return `${JSON.stringify(text.slice(0, 64))} is no network: write an address and a number of bits, such as "10.0.0.0/8" or "2001:db8::/32"`;
}

const cidrMatch = defineFunction({
  name: 'cidr_match',
  category: 'network',
  parameters: [str('ip'), str('network')],
  result: always(BOOL),
  summary:
    'Whether an IPv4 or IPv6 address lies in a network; null when the text is no address. IPv4 written as IPv6 (`::ffff:10.0.0.1`) counts as IPv4.',
  examples: [
    { code: 'cidr_match("10.1.2.3", "10.0.0.0/8")', result: 'true' },
    { code: 'cidr_match("2001:db8::1", "2001:db8::/32")', result: 'true' },
    { code: 'cidr_match("10.1.2.3", "::/0")', result: 'false' },
    { code: 'cidr_match("localhost", "10.0.0.0/8")', result: 'null' },
  ],
  checkConstants: ([, network]) =>
    typeof network === 'string' && !networkOf(network) ? { code: 'E051', message: notANetwork(network) } : undefined,
  evaluate: (ip, network) => {
    const found = networkOf(network);
    if (!found) throw new EvaluationError(`cidr_match: ${notANetwork(network)}`);
    const address = readAddress(ip);
    return address ? isInNetwork(address, found) : null;
  },
});

export const networkFunctions: readonly FunctionDescriptor[] = [cidrMatch];

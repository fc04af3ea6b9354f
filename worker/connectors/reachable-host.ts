import { CepError } from '../../shared/errors/error.ts';
import type { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import { ForbiddenAddress } from '../../shared/security/network-policy.ts';

/** For hosts that are written as addresses, so that a program hears of it before it runs. @throws CepError `connector_error` */
export function requireReachable(connector: string, door: OutboundDoor, hosts: readonly string[]): void {
  try {
    for (const host of hosts) door.requireHost(host);
  } catch (cause) {
    if (!(cause instanceof ForbiddenAddress)) throw cause;
    const hint = 'whoever runs the server can allow a network with --tenant-networks';
    throw new CepError('connector_error', `connector '${connector}': ${cause.message}`, { hint, cause });
  }
}

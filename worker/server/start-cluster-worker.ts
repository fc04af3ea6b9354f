import manifest from '../../package.json' with { type: 'json' };
import { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../shared/security/network-policy.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { ClusterWorker } from '../placements/cluster-worker.ts';
import type { HostRuntime } from '../runtime/placed/placement-host.ts';

/** How a server is a worker of a cluster. */
export interface ClusterOptions {
  /** URLs of coordinators; any member of their group, or several. */
  readonly coordinators: readonly string[];
  readonly workerId: string;
  /** Of this process: no other one ever has it. */
  readonly incarnation: string;
  /** Where coordinators and other workers reach the server. */
  readonly address: string;
  /** PEM of the authorities of coordinators and other workers. @default those that this machine trusts */
  readonly ca?: string | undefined;
}

const CONNECT_MS = 3_000;

/** Makes what a server is for its cluster; it is no member yet. What it connects with is closed by the function beside it. */
export function newClusterWorker(
  options: ClusterOptions,
  { apiKey, runtime, telemetry }: { readonly apiKey: string | undefined; readonly runtime: HostRuntime; readonly telemetry: Telemetry },
): { readonly worker: ClusterWorker; readonly close: () => Promise<void> } {
  // Who may be asked is said by the operator, and by coordinators that know the cluster's key.
  const web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: CONNECT_MS, silenceMs: 0, ca: options.ca });
  const worker = new ClusterWorker({
    ...{ ...options, version: manifest.version, apiKey, web, telemetry },
    host: runtime.placements,
    scrape: () => runtime.scrape(),
  });
  const close = async (): Promise<void> => {
    await worker.close();
    await web.close();
  };
  return { worker, close };
}

import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import { type DeadLetter, MemoryDeadLetters } from '../../../../worker/connectors/delivery/dead-letters.ts';
import { type DeliveryOrder, PipelineSinks } from '../../../../worker/connectors/delivery/pipeline-sinks.ts';
import { settingsOf } from '../../../../worker/connectors/registry.ts';

const environment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere), isSmtpUnverified: true };

/** A sink that is tried for long. */
export function sinkTo(
  type: string,
  parameters: readonly (readonly [string, unknown])[],
): { readonly sinks: PipelineSinks; send(n: number, more?: Partial<DeliveryOrder>): void; letters(): Promise<readonly DeadLetter[]> } {
  const deadLetters = new MemoryDeadLetters(100);
  const sinks = new PipelineSinks({ pipelineId: 'p', environment, deadLetters, report: () => undefined, onChange: () => undefined });
  sinks.configure([settingsOf('Out', type, [['retries', 1_000], ...parameters])], ['Out']);
  const common = { connector: 'Out', url: null, topic: null, stream: 'S', type: 'S', time: 0, message: null };
  const take: ReturnType<typeof sinkTo>['send'] = (n, more) =>
    sinks.take({ ...common, id: String(n), fieldsJson: `{"n":${n}}`, parameters: new Map(), ...more });
  return {
    sinks,
    send: take,
    letters: async () => (await deadLetters.page('p', { limit: 100, offset: 0 })).letters.map((line) => JSON.parse(line) as DeadLetter),
  };
}

export function delivered(sinks: PipelineSinks): number {
  return sinks.status()[0]?.delivered ?? 0;
}

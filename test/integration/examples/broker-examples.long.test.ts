import { describe, expect, it } from 'vitest';
import { skipsTerminal } from '../../docs/terminal.ts';
import { hasBroker } from '../connectors/brokers/containers.ts';
import { type BrokerExampleOptions, playBrokerExample } from './broker-example.ts';

const examples: readonly BrokerExampleOptions[] = [
  { folder: 'kafka', broker: 'kafka', port: 9092 },
  { folder: 'nats', broker: 'nats', port: 4222 },
  { folder: 'mqtt', broker: 'mosquitto', port: 1883 },
  { folder: 'redis', broker: 'redis', port: 6379 },
  { folder: 'postgres', broker: 'postgresql', service: 'postgres', port: 5432 },
  { folder: 'mysql', broker: 'mariadb', port: 3306 },
];
const isSkipped = skipsTerminal('the examples with brokers');

for (const example of examples) {
  const has = !isSkipped && (await hasBroker(example.broker));
  describe.skipIf(!has)(`examples/brokers/${example.folder}`, () => {
    it('leads from the compose file to alerts as it is written', { timeout: 240_000 }, async () => {
      expect(await playBrokerExample(example)).toBeGreaterThanOrEqual(5);
    });
  });
}

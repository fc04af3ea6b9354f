import { connectAsync } from 'mqtt';
import { AT_A_TIME, type BrokerBench, inGroups, payloadOf, rate, read, sent, sourceOf } from './broker-bench.ts';

const config = `listener 1883 0.0.0.0
allow_anonymous true
max_queued_messages 0
max_inflight_messages ${AT_A_TIME}
user root
`;

export const mqttBench: BrokerBench = {
  name: 'mqtt',
  broker: 'mosquitto',
  start: { broker: 'mosquitto', port: 1883, command: ['mosquitto', '-c', '/tmp/m.conf'], files: { '/tmp/m.conf': config } },
  open: async (port, count) => {
    const client = await connectAsync({ port, host: '127.0.0.1' });
    const parameters = { host: '127.0.0.1', port };
    const publish = (topic: string): Promise<void> =>
      inGroups(count, (numbers) => Promise.all(numbers.map((n) => client.publishAsync(topic, payloadOf(n), { qos: 1 }))));
    return {
      close: () => client.endAsync(true),
      pairs: [
        {
          what: 'sink with qos 1',
          bare: () => rate(count, () => publish('alerts')),
          connector: () => sent('mqtt', { ...parameters, topic: 'alerts' }, count),
        },
        {
          what: 'topic with qos 1',
          bare: async () => {
            const reader = await connectAsync({ port, host: '127.0.0.1' });
            let left = count;
            const all = new Promise<void>((resolve) => reader.on('message', () => void (--left === 0 && resolve())));
            await reader.subscribeAsync('read', { qos: 1 });
            const found = await rate(count, () => Promise.all([publish('read'), all]));
            await reader.endAsync(true);
            return found;
          },
          connector: async () => {
            const source = sourceOf('mqtt', { ...parameters, client_id: `r${performance.now()}` }, 'read');
            let started = 0;
            await read(source, count, {
              connected: () => {
                started = performance.now();
                void publish('read');
              },
            });
            return (1000 * count) / (performance.now() - started);
          },
        },
      ],
    };
  },
};

/**
 * `npm run bench:nats -- [messages]`: the NATS connector beside its bare client library, one after the other in each of
 * several rounds, against one server in a container. Writes the medians and the share of the library's throughput that the connector reaches.
 */
import { connect, type NatsConnection } from 'nats';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { ConnectorEnvironment, Source } from '../../../worker/connectors/connector.ts';
import { natsConnector } from '../../../worker/connectors/nats.ts';
import { hasBroker, RunningBroker } from '../../integration/connectors/brokers/containers.ts';
import { ratiosOf, spreadOf } from '../statistics.ts';

const ROUNDS = 5;
const MESSAGES_DEFAULT = 50_000;
const payload = JSON.stringify({ event_type: 'Reading', sensor: 'boiler-7', value: 21.5, unit: 'C' });

type Round = () => Promise<number>;
interface Pair {
  readonly name: string;
  /** Messages a second. */
  readonly bare: Round;
  readonly connector: Round;
}

const environment: ConnectorEnvironment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) };

async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (1000 * count) / (performance.now() - started);
}

function parameters(port: number, more: Readonly<Record<string, string | boolean>>): ReadonlyMap<string, string | boolean> {
  return new Map(Object.entries({ servers: `127.0.0.1:${port}`, ...more }));
}

/** Until so many messages were taken; `connected` when it listens. */
function read(source: Source, count: number, connected: () => void = () => undefined): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    let taken = 0;
    source.start({
      position: null,
      take: async ({ messages }) => {
        taken += messages.length;
        if (taken >= count) resolve();
        return true;
      },
      connected,
      disconnected: (reason) => reject(new Error(reason)),
      ended: () => undefined,
    });
  }).then(() => source.close());
}

function sourceOf(port: number, more: Readonly<Record<string, string | boolean>>): Source {
  const settings = { name: 'Bus', type: 'nats', writtenType: 'nats', parameters: parameters(port, more), secrets: [] };
  const opened = natsConnector.openSource?.(
    { ...settings, topic: String(more['subject']), subscription: 'bench', textFields: [] },
    environment,
  );
  if (opened === undefined) throw new Error('the connector has no source');
  return opened;
}

async function publish(client: NatsConnection, subject: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    client.publish(subject, payload);
    if (n % 5_000 === 4_999) await client.flush();
  }
  await client.flush();
}

function pairs(client: NatsConnection, port: number, count: number): readonly Pair[] {
  const stream = client.jetstream();
  const sent = Math.ceil(count / 25);
  const subject = { subject: 'core.readings' };
  return [
    {
      name: 'stream, read by place',
      bare: async () => {
        const consumer = await stream.consumers.get('readings');
        return rate(count, async () => {
          let left = count;
          const messages = await consumer.consume({ max_messages: 1_000 });
          for await (const _ of messages) if (--left === 0) break;
        });
      },
      connector: () => rate(count, () => read(sourceOf(port, { subject: 'readings.>', stream: 'readings' }), count)),
    },
    {
      name: 'subject of core NATS',
      bare: () =>
        rate(count, async () => {
          let left = count;
          const subscription = client.subscribe(subject.subject);
          await client.flush();
          const sending = connect({ servers: `127.0.0.1:${port}` }).then(async (sender) => {
            await publish(sender, subject.subject, count);
            await sender.close();
          });
          for await (const _ of subscription) if (--left === 0) break;
          await sending;
        }),
      connector: () =>
        rate(count, async () => {
          const sender = await connect({ servers: `127.0.0.1:${port}` });
          await read(sourceOf(port, subject), count, () => void publish(sender, subject.subject, count));
          await sender.close();
        }),
    },
    {
      name: 'sink to a stream, each awaited',
      bare: () =>
        rate(sent, async () => {
          for (let n = 0; n < sent; n++) await stream.publish('alerts.bare', payload, { msgID: `bare-${performance.now()}-${n}` });
        }),
      connector: async () => {
        const settings = { name: 'Bus', type: 'nats', writtenType: 'nats', parameters: parameters(port, { jetstream: true }), secrets: [] };
        const sink = natsConnector.openSink?.(settings, environment);
        if (sink === undefined) throw new Error('the connector has no sink');
        const send = (id: string): Promise<void> => sink.send({ id, topic: 'alerts.connector', payload });
        await send(`first-${performance.now()}`);
        const found = await rate(sent, async () => {
          for (let n = 0; n < sent; n++) await send(`${performance.now()}-${n}`);
        });
        await sink.close();
        return found;
      },
    },
  ];
}

async function main(): Promise<void> {
  if (!(await hasBroker('nats'))) throw new Error('it needs the image of the server');
  const count = Number(process.argv[2] ?? MESSAGES_DEFAULT);
  const broker = await RunningBroker.start({ broker: 'nats', port: 4222 });
  const client = await connect({ servers: `127.0.0.1:${broker.port}` });
  try {
    const { streams } = await client.jetstreamManager();
    await streams.add({ name: 'readings', subjects: ['readings.>'], storage: 'memory' as never });
    await streams.add({ name: 'alerts', subjects: ['alerts.>'], storage: 'memory' as never });
    await publish(client, 'readings.a', count);
    for (const { name, bare, connector } of pairs(client, broker.port, count)) {
      const [ours, theirs]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        theirs.push(await bare());
        ours.push(await connector());
      }
      const share = spreadOf(ratiosOf(ours, theirs)).median;
      const shown = (rates: readonly number[]): string => `${Math.round(spreadOf(rates).median).toLocaleString('en')}/s`.padStart(12);
      process.stdout.write(`${name.padEnd(34)} ${shown(ours)} of ${shown(theirs)}  ${share.toFixed(2)}\n`);
    }
  } finally {
    await client.close();
    await broker.stop();
  }
}

await main();

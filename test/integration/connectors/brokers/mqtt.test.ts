import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import type { SourcePosition } from '../../../../worker/connectors/connector.ts';
import { MqttSource } from '../../../../worker/connectors/mqtt/mqtt-source.ts';
import { ReadingSource } from '../../../unit/connectors/reading-source.ts';
import { audit, type Delivered } from '../audit.ts';
import { auditedRun } from './audited-run.ts';
import { hasBroker, type RunningBroker } from './containers.ts';
import { Link } from './link.ts';
import { MqttPublisher, startMosquitto } from './mqtt-publisher.ts';
import { ProgramRun } from './program-run.ts';
import { shortTrouble, troubleFor } from './trouble.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 90_000 });

describe.skipIf(!(await hasBroker('mosquitto')))('mqtt', () => {
  let broker: RunningBroker;
  let link: Link;
  const runs: ProgramRun[] = [];
  beforeAll(async () => {
    broker = await startMosquitto();
    link = await Link.to(broker.port);
  });
  afterAll(async () => {
    for (const run of runs) await run.remove();
    await link?.close();
    await broker?.stop();
  });

  const begin = (program: (folder: string) => string): ProgramRun => {
    const run = new ProgramRun(program);
    runs.push(run);
    return run;
  };
  const connector = (more = ''): string =>
    `connector Broker = mqtt (host: "127.0.0.1", port: ${link.port}, username: "cep", password: "secret"${more})`;
  const reading = (folder: string): string => `
event Reading:
    n: int

${connector()}
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Broker, topic: "plant/+")
    .emit(n)
    .to(Out)
`;
  const writing =
    (topic: string) =>
    (folder: string): string =>
      `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
${connector(', retries: 100')}

stream Each = Reading.from(In)
    .emit(n)
    .to(Broker, topic: "${topic}")
`;

  it('gives every message, once, over kills of cep, a pause of the broker, and a cut', async () => {
    const run = begin(reading);
    const trouble = troubleFor({ run, broker, link }, { ...shortTrouble, brokerKills: 0 });
    const found = await auditedRun(run, new MqttPublisher(broker.port), trouble);
    expect(found).toEqual({ lost: [], repeated: [], repeatedIds: [] });
  });

  // One that is killed loses what it has acknowledged and not yet written: this one writes when it ends.
  it('loses nothing when the broker is started again', async () => {
    const run = begin(reading);
    const trouble = troubleFor({ run, broker, link }, { brokerKills: 1, brokerSignal: 'SIGTERM' });
    const { lost, repeatedIds } = await auditedRun(run, new MqttPublisher(broker.port), trouble);
    expect({ lost, repeatedIds }).toEqual({ lost: [], repeatedIds: [] });
  });

  it('delivers every output, over kills of the broker and of cep', async () => {
    const topic = 'plant/alerts';
    const run = begin(writing(topic));
    const received: Delivered[] = [];
    const login = { port: broker.port, host: '127.0.0.1', username: 'cep', password: 'secret' };
    const subscriber = await connectAsync({ ...login, clientId: 'auditor', clean: false, reconnectPeriod: 100 });
    subscriber.on('error', () => undefined);
    subscriber.on('message', (_topic, payload) => received.push(JSON.parse(payload.toString()) as Delivered));
    await subscriber.subscribeAsync(topic, { qos: 1 });
    const count = 3_000;
    writeFileSync(run.path('in.jsonl'), Array.from({ length: count }, (_, n) => `{"event_type":"Reading","n":${n}}\n`).join(''));
    const until = (part: number): Promise<void> =>
      vi.waitFor(() => expect(new Set(received.map(({ data }) => data['n'])).size).toBeGreaterThanOrEqual(part), {
        timeout: 60_000,
        interval: 20,
      });

    await run.startReading();
    await until(count / 4);
    await run.end('SIGKILL');
    await run.startReading();
    await until(count / 2);
    await broker.kill('SIGTERM');
    await sleep(300);
    await broker.startAgain();
    await until(count);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await subscriber.endAsync(true);

    const { lost } = audit(received, count);
    expect(lost).toEqual([]);
    // What comes again has the id that it had.
    expect(new Set(received.map(({ id }) => id)).size).toBe(count);
  });

  it('takes nothing that a session brings of an earlier topic, also after it was started again', async () => {
    const login = { port: broker.port, host: '127.0.0.1', username: 'cep', password: 'secret' };
    const earlier = await connectAsync({ ...login, clientId: 'changed', clean: false });
    await earlier.subscribeAsync(['earlier', 'old/#'], { qos: 1 });
    await earlier.endAsync();
    const publisher = await connectAsync(login);
    const say = async (text: string): Promise<void> => {
      for (const topic of ['earlier', `old/${text}`, 'new/a']) await publisher.publishAsync(topic, `${topic} ${text}`, { qos: 1 });
    };
    const read = (position: SourcePosition | null): ReadingSource => {
      const door = new OutboundDoor(NetworkPolicy.everywhere);
      const address = { host: login.host, port: login.port, tls: false, username: login.username, password: login.password, door };
      return new ReadingSource(new MqttSource({ address, clientId: 'changed', topic: 'new/+', qos: 1, isDurable: true }), position);
    };
    await say('queued');
    const first = read(null);
    await first.until(() => first.isConnected);
    await say('one');
    await first.until(() => first.texts.length > 0);
    await first.close();
    await say('two');
    const again = read(first.position);
    await again.until(() => again.isConnected);
    await say('three');
    await again.until(() => again.texts.includes('new/a three'));
    await again.close();
    expect([...first.texts, ...again.texts]).toEqual(['new/a one', 'new/a two', 'new/a three']);
    await publisher.endAsync();
  });

  it('says at the start that the broker cannot be reached, or refuses the login', async () => {
    const refused = begin((folder) => reading(folder).replace('"secret"', '"wrong"'));
    const absent = begin((folder) => reading(folder).replace(`port: ${link.port}`, 'port: 1'));
    const [ended, other] = await Promise.all([refused.start().ended, absent.start().ended]);
    expect(ended.code).toBe(4);
    expect(ended.stderr).toMatch(/cannot read from Broker\/plant\/\+: Connection refused: Not authorized/);
    expect(other.code).toBe(4);
    expect(other.stderr).toMatch(/cannot read from Broker\/plant\/\+: connect ECONNREFUSED 127\.0\.0\.1:1/);
  });
});

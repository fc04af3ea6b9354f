import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { audit } from '../audit.ts';
import { NumberedLog } from '../numbered-log.ts';
import { ClusterOfTwo } from './cluster-of-two.ts';
import { committedIn } from './committed-topic.ts';
import { hasBroker, type RunningBroker } from './containers.ts';
import { clientOf, KafkaPublisher, makeTopics, startKafka } from './kafka-publisher.ts';
import { ProgramRun } from './program-run.ts';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 300_000 });

const nothing = { lost: [], repeated: [], repeatedIds: [] };
const PARTITIONS = 3;
const KILLS = 3;
/** So much has to come between two kills. */
const MORE = 200;
const DOWN_MS = 300;

describe.skipIf(!(await hasBroker('kafka')))('outputs that are written in transactions', () => {
  let broker: RunningBroker;
  beforeAll(async () => {
    broker = await startKafka();
    await makeTopics(broker.port, ['alone', 'readings', 'moved'], PARTITIONS);
  });
  afterAll(() => broker?.stop());

  const connector = (more: string): string =>
    `connector Broker = kafka (brokers: "127.0.0.1:${broker.port}", sasl_username: "cep", sasl_password: "secret", ${more})`;
  const killBroker = async (): Promise<void> => {
    await broker.kill('SIGKILL');
    await sleep(DOWN_MS);
    await broker.startAgain();
  };
  const committed = (topic: string) => committedIn(clientOf(broker.port, 20), topic, PARTITIONS);
  /** Resolves when the topic has so many different numbers. */
  const until = (topic: string, count: number): Promise<void> =>
    vi.waitFor(async () => expect(new Set((await committed(topic)).map(({ data }) => data['n'])).size).toBeGreaterThanOrEqual(count), {
      timeout: 240_000,
      interval: 500,
    });

  it('are there once, over kills of the broker and of cep', async () => {
    const run = new ProgramRun(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
${connector('retries: 1000, exactly_once: true')}

stream Each = Reading.from(In)
    .emit(n)
    .to(Broker, topic: "alone")
`,
    );
    try {
      const log = new NumberedLog(run.path('in.jsonl'), Number.POSITIVE_INFINITY);
      await log.write(MORE);
      await run.startReading();
      for (let kill = 0; kill < KILLS; kill++) {
        await log.write(MORE);
        await until('alone', log.written - MORE / 2);
        await log.write(MORE);
        await killBroker();
        await until('alone', log.written - MORE / 2);
        await log.write(MORE);
        await run.end('SIGKILL');
        await run.startReading();
      }
      await until('alone', log.written);
      await log.close();
      expect((await run.end('SIGINT'))?.code).toBe(0);
      expect(audit(await committed('alone'), log.written)).toEqual(nothing);
      expect(run.letters()).toEqual([]);
    } finally {
      await run.remove();
    }
  });

  it('are there once, over kills of whichever worker of a cluster has the pipeline', async () => {
    const cluster = await ClusterOfTwo.start({ checkpointInterval: 1 });
    const publisher = new KafkaPublisher(broker.port, 'readings');
    try {
      const source = `
event Reading:
    n: int

${connector('group_id: "once", session_timeout: 3s, retries: 1000, exactly_once: true')}

stream Each = Reading.from(Broker, topic: "readings")
    .emit(n)
    .to(Broker, topic: "moved")
`;
      const made = await cluster.ask('POST', '/pipeline-groups', { name: 'once', pipelines: [{ name: 'p', source }] });
      expect([made.status, made.body.status]).toEqual([201, 'running']);
      const killed: string[] = [];
      for (let kill = 0; kill < KILLS; kill++) {
        await publisher.publish(MORE);
        await until('moved', publisher.published - MORE / 2);
        // Some are read, some are in a transaction, and some are committed.
        await publisher.publish(MORE / 2);
        killed.push(await cluster.killHolder('once'));
        await publisher.publish(MORE / 2);
        await until('moved', publisher.published);
        cluster.startWorker(killed.at(-1) ?? '');
        await cluster.ready();
      }
      // Each time it was with the other one.
      expect(new Set(killed).size).toBe(2);
      const found = audit(await committed('moved'), publisher.published);
      expect({ ...found, repeated: found.repeated.filter((number) => !publisher.unsure.has(number)) }).toEqual(nothing);
    } finally {
      await publisher.leave();
      await cluster.close();
    }
  });
});

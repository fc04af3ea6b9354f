import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { audit } from '../audit.ts';
import { NumberedLog } from '../numbered-log.ts';
import { committedIn } from './committed-topic.ts';
import { hasBroker, type RunningBroker } from './containers.ts';
import { clientOf, makeTopics, startKafka } from './kafka-publisher.ts';
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
    await makeTopics(broker.port, ['alone'], PARTITIONS);
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
});

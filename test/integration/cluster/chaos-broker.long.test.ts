import { afterEach, expect, it } from 'vitest';
import { reportLines } from '../../../chaos/process/cluster/report-lines.ts';
import { isClean, runChaos } from '../../../chaos/process/cluster/run.ts';
import { hasBroker, type RunningBroker } from '../connectors/brokers/containers.ts';
import { startNats } from '../connectors/brokers/nats-publisher.ts';

let broker: RunningBroker | undefined;
afterEach(() => broker?.stop());

it.skipIf(!(await hasBroker('nats')))(
  'what a broker has acknowledged is lost by no kill or move of the workers that read it, and said under one id',
  async () => {
    broker = await startNats([]);
    const script = ['kill a worker', 'drain a worker', 'kill half of the workers'];
    const nats = `nats://cep:secret@127.0.0.1:${broker.port}`;
    const options = { seed: 21, minutes: 1, coordinators: 3, workers: 3, producers: 2, usesNamespaces: false, script, nats };
    const report = await runChaos(options);
    expect(isClean(report), reportLines(report).join('\n')).toBe(true);
    expect(report.done.map(({ fault }) => fault.name)).toEqual(script);
  },
  600_000,
);

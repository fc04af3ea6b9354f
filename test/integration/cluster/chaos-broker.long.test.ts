import { afterEach, expect, it, vi } from 'vitest';
import { reportLines } from '../../../chaos/process/cluster/report-lines.ts';
import { isClean, runChaos } from '../../../chaos/process/cluster/run.ts';
import { hasBroker, type RunningBroker } from '../connectors/brokers/containers.ts';
import { startNats } from '../connectors/brokers/nats-publisher.ts';

vi.setConfig({ testTimeout: 600_000 });

let broker: RunningBroker | undefined;
afterEach(() => broker?.stop());

const ways = [
  { name: 'by positions', isDurable: false, script: ['kill a worker', 'drain a worker', 'kill half of the workers'] },
  // One that stands still has asked for events, and is given them while another reads in its place.
  { name: 'as durable consumers', isDurable: true, script: ['stop a worker past its lease', 'kill a worker', 'drain a worker'] },
];

it.skipIf(!(await hasBroker('nats'))).for(ways)(
  'what a broker has acknowledged is lost by no kill, halt or move of the workers that read it $name, nor put in another order, and said under one id',
  async ({ isDurable, script }) => {
    broker = await startNats([]);
    const nats = `nats://cep:secret@127.0.0.1:${broker.port}`;
    const ground = { coordinators: 3, workers: 3, producers: 2, usesNamespaces: false };
    const report = await runChaos({ ...ground, seed: 21, minutes: 1, script, nats, isDurable });
    expect(isClean(report), reportLines(report).join('\n')).toBe(true);
    expect(report.done.map(({ fault }) => fault.name)).toEqual(script);
  },
);

/**
 * `npm run bench:connectors -- [broker ..] [--messages=N]`: sinks as pipelines use them (queue, breaker, batches) and sources beside their
 * bare client libraries, one after the other in each of several rounds, against brokers in containers. Writes the medians and the share of
 * the library's throughput that the connector reaches.
 */
import { hasBroker, RunningBroker } from '../../integration/connectors/brokers/containers.ts';
import { ratiosOf, spreadOf } from '../statistics.ts';
import type { BrokerBench } from './broker-bench.ts';
import { brokerBenches } from './broker-benches.ts';

const ROUNDS = 5;
const WARM_UP_ROUNDS = 5;
const MESSAGES_DEFAULT = 20_000;

async function measure({ name, broker, start, open }: BrokerBench, count: number): Promise<void> {
  if (!(await hasBroker(broker))) throw new Error(`it needs the image of ${broker}`);
  const running = await RunningBroker.start(start);
  try {
    const { pairs, close } = await open(running.port, count);
    for (const { what, bare, connector } of pairs) {
      const [ours, theirs]: [number[], number[]] = [[], []];
      // Until both are compiled.
      for (let round = 0; round < WARM_UP_ROUNDS; round++) {
        await bare();
        await connector();
      }
      for (let round = 0; round < ROUNDS; round++) {
        theirs.push(await bare());
        ours.push(await connector());
      }
      const shown = (rates: readonly number[]): string => `${Math.round(spreadOf(rates).median).toLocaleString('en')}/s`.padStart(12);
      const share = spreadOf(ratiosOf(ours, theirs)).median.toFixed(2);
      process.stdout.write(`${`${name}, ${what}`.padEnd(36)} ${shown(ours)} of ${shown(theirs)}  ${share}\n`);
    }
    await close();
  } finally {
    await running.stop();
  }
}

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const count = Number(process.argv.find((word) => word.startsWith('--messages='))?.slice(11) ?? MESSAGES_DEFAULT);
for (const bench of brokerBenches) if (wanted.length === 0 || wanted.includes(bench.name)) await measure(bench, count);
process.exit(0);

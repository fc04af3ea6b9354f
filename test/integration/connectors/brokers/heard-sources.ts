import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { audit } from '../audit.ts';
import type { NumberedPublisher } from './audited-run.ts';
import { type Broker, hasBroker, type RunningBroker } from './containers.ts';
import { Link } from './link.ts';
import { SubjectPublisher, startNats } from './nats-publisher.ts';
import { ProgramRun } from './program-run.ts';
import { ChannelPublisher, startRedis } from './redis-publisher.ts';
import { type Trouble, troubleFor } from './trouble.ts';

interface Row {
  readonly name: string;
  readonly broker: Broker;
  readonly start: () => Promise<RunningBroker>;
  readonly connector: (port: number) => string;
  readonly publisher: (port: number) => NumberedPublisher;
}

const rows: readonly Row[] = [
  {
    name: 'a channel of redis',
    broker: 'redis',
    start: startRedis,
    connector: (port) => `redis (url: "redis://:secret@127.0.0.1:${port}")`,
    publisher: (port) => new ChannelPublisher(port, 'readings'),
  },
  {
    name: 'a subject of nats',
    broker: 'nats',
    start: () => startNats([]),
    connector: (port) => `nats (servers: "nats://cep:secret@127.0.0.1:${port}")`,
    publisher: (port) => new SubjectPublisher(port, 'readings'),
  },
];

const program = (connector: string) => (folder: string) =>
  `
event Reading:
    n: int

connector Broker = ${connector}
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Broker, topic: "readings")
    .emit(n)
    .to(Out)
`;

/** Numbers that may be missing: from the first that came after the last one before there was trouble, to the first that was sent after it and came. */
interface Gap {
  readonly from: number;
  readonly to: number;
}

const wait = { timeout: 120_000, interval: 20 };
/** So many have to come after each trouble. */
const MORE = 100;
/** Between a few: unheld, the publisher takes the processor from those that it is about. */
const PAUSE_MS = 5;

/** Declares the tests of sources that hear what is said while they listen, and of which nobody keeps anything; how long the silences are is what the forms differ in. */
export function testHeardSources(trouble: Trouble): void {
  for (const { name, broker: image, start, connector, publisher } of rows) {
    describe(`${name}, heard over kills, a pause and a cut`, () => {
      const closing: (() => Promise<unknown>)[] = [];
      afterEach(async () => {
        for (const close of closing.splice(0)) await close();
      });

      it('listens again after kills of the server and of cep, a pause, and a cut; loses only what was said meanwhile, and gives nothing twice', async (context) => {
        if (!(await hasBroker(image))) return context.skip();
        const broker = await start();
        closing.unshift(() => broker.stop());
        const link = await Link.to(broker.port);
        closing.unshift(() => link.close());
        const run = new ProgramRun(program(connector(link.port)));
        closing.unshift(() => run.remove());
        const giver = publisher(broker.port);
        closing.unshift(() => giver.leave());
        await run.startReading();

        const numbers = (): readonly number[] => run.delivered('out.jsonl').map(({ data }) => data['n'] as number);
        const more = async (): Promise<void> => {
          const before = numbers().length;
          await vi.waitFor(() => expect(numbers().length).toBeGreaterThan(before + MORE), wait);
        };
        let isOn = true;
        const publishing = (async (): Promise<void> => {
          while (isOn) {
            await giver.publish(20);
            await sleep(PAUSE_MS);
          }
        })();
        closing.unshift(async () => {
          isOn = false;
          await publishing;
        });
        await more();
        const gaps: Gap[] = [];
        let [from, losses] = [Math.max(...numbers()) + 1, lossesTold(run)];
        await troubleFor(
          { run, broker, link },
          trouble,
        )(async () => {
          // What is on its way at this moment may have been said before the trouble was over.
          const first = giver.published + 1;
          await vi.waitFor(() => expect(numbers().at(-1)).toBeGreaterThanOrEqual(first), wait);
          const to = Math.min(...numbers().filter((number) => number >= first));
          // A connection that was kept has lost nothing.
          if (lossesTold(run) !== losses) gaps.push({ from, to });
          await more();
          [from, losses] = [Math.max(...numbers()) + 1, lossesTold(run)];
        });
        isOn = false;
        await publishing;
        await vi.waitFor(() => expect(numbers().at(-1)).toBe(giver.published - 1), wait);
        expect((await run.end('SIGINT'))?.code).toBe(0);

        const { lost, repeated, repeatedIds } = audit(run.delivered('out.jsonl'), giver.published);
        expect(lost.filter((number) => !gaps.some(({ from, to }) => number >= from && number < to))).toEqual([]);
        // Of what the server was not heard to take, the publisher has said more than one.
        expect([repeated.filter((number) => !giver.unsure.has(number)), repeatedIds]).toEqual([[], []]);
        const firsts = [...new Set(numbers())];
        expect(firsts).toEqual([...firsts].sort((one, other) => one - other));
        expect(run.letters()).toEqual([]);
      });
    });
  }
}

/** Changes when the connection is lost, or the process is another one. */
function lossesTold(run: ProgramRun): string {
  return `${run.pid} ${run.said.split('Source not connected').length}`;
}

import { expect, vi } from 'vitest';
import { Sink } from '../../../../chaos/process/cluster/sink.ts';
import type { NumberedPublisher } from './audited-run.ts';
import { ClusterOfTwo } from './cluster-of-two.ts';

const wait = { timeout: 120_000, interval: 50 };
/** No checkpoint is made but when something waits for one. */
const seldom = { checkpointInterval: 600 };
/** So many begin a pair, and as many end one. */
const PAIRS = 60;

interface MovedSource {
  /** Its declaration. */
  readonly connector: string;
  /** What else `.from` says. */
  readonly from: string;
  readonly publisher: NumberedPublisher;
}

/**
 * Lets a pipeline take the first halves of pairs, kills its worker the moment it has them, and gives what the other worker makes of the
 * second halves: the numbers of the pairs. What the broker was told was taken, and no checkpoint had, would be missing. Messages say no time:
 * of what was said before, nothing is said again under another id.
 */
export async function pairsOverKill({ connector, from, publisher }: MovedSource): Promise<readonly number[]> {
  const sink = await Sink.start('127.0.0.1');
  const cluster = await ClusterOfTwo.start(seldom);
  try {
    const source = `
event Reading:
    n: int

connector Store = ${connector}
connector Out = http (url: "${sink.url}")

stream Seen = Reading.from(Store, ${from})
    .emit(n: n)
    .to(Out)

stream Pair = Seen as a -> Seen where n == a.n + ${PAIRS} as b
    .within(1h)
    .emit(n: a.n)
    .to(Out)
`;
    const made = await cluster.ask('POST', '/pipeline-groups', { name: 'moved', pipelines: [{ name: 'p', source }] });
    expect([made.status, made.body.status]).toEqual([201, 'running']);
    const numbers = (type: string): readonly number[] => {
      const texts = sink.deliveries.filter(({ text }) => text.startsWith(`${type} `)).map(({ text }) => text.slice(type.length));
      return [...new Set(texts)].map((text) => (JSON.parse(text) as { n: number }).n).sort((a, b) => a - b);
    };
    const have = (type: string, count: number) => vi.waitFor(() => expect(numbers(type)).toHaveLength(count), wait);
    // Where it stands is in a checkpoint from the first ones on.
    await publisher.publish(10);
    await have('Seen', 10);
    await publisher.publish(PAIRS - 10);
    await have('Seen', PAIRS);
    await cluster.killHolder('moved');
    await publisher.publish(PAIRS);
    await have('Seen', 2 * PAIRS);
    await publisher.leave();
    // What is missing does not come.
    await vi.waitFor(() => expect(numbers('Pair')).toHaveLength(PAIRS), { ...wait, timeout: 10_000 }).catch(() => undefined);
    const ids = idsOf(sink);
    expect([...ids].filter(([, under]) => under.size > 1)).toEqual([]);
    return numbers('Pair');
  } finally {
    await cluster.close();
    await sink.close();
  }
}

/** Of what was said, by its text. */
function idsOf({ deliveries }: Sink): ReadonlyMap<string, ReadonlySet<string>> {
  const said = new Map<string, Set<string>>();
  for (const { id, text } of deliveries) said.set(text, (said.get(text) ?? new Set()).add(id));
  return said;
}

interface Replicas {
  readonly connector: string;
  readonly from: string;
  /** Whether the events say when they happened. @default they do */
  readonly isTimed?: boolean;
  /** Sends each event with its key, which is also its partition where the broker has some. */
  readonly send: (event: {
    readonly event_type: string;
    readonly k: string;
    readonly n: number;
    readonly timestamp?: number;
  }) => Promise<void>;
}

/**
 * The same with two replicas, one on each worker, of which one is killed. Gives how often each alert was said, under how many ids: once,
 * under one, where no replica has what another one has, and what changes hands is gone on with.
 */
export async function alertsOfReplicas({ connector, from, isTimed = true, send }: Replicas): Promise<readonly string[]> {
  const sink = await Sink.start('127.0.0.1');
  const cluster = await ClusterOfTwo.start(seldom);
  try {
    const source = `
event Reading:
    k: str
    n: int

connector Store = ${connector}
connector Out = http (url: "${sink.url}")

stream Seen = Reading.from(Store, ${from})

stream Pair = Seen as a -> Seen where k == a.k and n == a.n + ${PAIRS} as b
    .within(1h)
    .emit(k: a.k, n: a.n)
    .to(Out)
`;
    const pipelines = [{ name: 'p', source, replicas: 2, partition_key: 'k' }];
    const made = await cluster.ask('POST', '/pipeline-groups', { name: 'moved', pipelines });
    expect([made.status, made.body.status]).toEqual([201, 'running']);
    await cluster.isSpread('moved');
    const publish = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) {
        const time = isTimed ? { timestamp: 1_700_000_000_000 + n } : {};
        await send({ event_type: 'Reading', k: keyOf(n % PAIRS), n, ...time });
      }
    };
    await publish(0, 1.5 * PAIRS);
    // What was said and stands in no checkpoint yet is said again, under the same ids.
    await vi.waitFor(() => expect(idsOf(sink).size).toBeGreaterThan(PAIRS / 4), wait);
    await cluster.killHolder('moved');
    await publish(1.5 * PAIRS, 2 * PAIRS);
    await vi.waitFor(() => expect(idsOf(sink).size).toBe(PAIRS), wait).catch(() => undefined);
    return Array.from(idsOf(sink), ([text, under]) => `${text} ${under.size}`).sort();
  } finally {
    await cluster.close();
    await sink.close();
  }
}

function keyOf(pair: number): string {
  return `k${pair % 8}`;
}

/** Each under one id. */
export const alertsOnce = Array.from({ length: PAIRS }, (_, n) => `Pair {"k":"${keyOf(n)}","n":${n}} 1`).sort();

export const allPairs = Array.from({ length: PAIRS }, (_, n) => n);

export const groupName = 'chaos';

/** A stream of NATS. */
interface Store {
  readonly url: string;
  readonly subject: string;
  /** The consumer as which it is read. */
  readonly durable: string | undefined;
}

/**
 * Pipelines that keep real state: a sequence in two replicas, a count window that is fed by it over a route, a count window in two replicas,
 * a join, windows of time that the clock closes when nothing comes, and one that keeps nothing. `version` stands in a comment: another one is another program of the same meaning.
 * `store`: a stream of NATS, which two replicas read.
 */
export function chaosGroup(sinkUrl: string, version: number, store?: Store): object {
  const sink = `# version ${version}\nconnector Sink = http (url: "${sinkUrl}")\n`;
  const keyed = { replicas: 2, partition_key: 'producer' };
  return {
    pipelines: [
      { name: 'pairs', source: sink + paired, ...keyed },
      { name: 'totals', source: sink + total },
      { name: 'counts', source: sink + counted, ...keyed },
      { name: 'joins', source: sink + joined },
      { name: 'beats', source: sink + beaten },
      { name: 'pongs', source: sink + ponged },
      ...(store === undefined ? [] : [{ name: 'stored', source: sink + storedIn(store), ...keyed }]),
    ],
    routes: [
      ...Object.entries(entries).map(([pipeline, types]) => ({ from_pipeline: '_external', to_pipeline: pipeline, event_types: types })),
      { from_pipeline: 'pairs', to_pipeline: 'totals', event_types: ['Paired'] },
    ],
  };
}

const storedPrefix = 'stored';

/** The name of a producer that gives its events to a broker; pairs of such a one go no further. */
export function storedName(at: number): string {
  return `${storedPrefix}${at}`;
}

export function isStored(producer: string): boolean {
  return producer.startsWith(storedPrefix);
}

const entries = { pairs: ['Open', 'Close'], counts: ['Tick'], joins: ['Left', 'Right'], beats: ['Beat'], pongs: ['Ping'] };

const paired = `
stream Paired = Open as a -> Close where producer == a.producer and number == a.number as b
    .within(20m)
    .emit(producer: a.producer, number: a.number)
    .to(Sink)
`;

export const pairsPerTotal = 5;
const total = `
stream Total = Paired
    .partition_by(producer)
    .window(${pairsPerTotal})
    .aggregate(producer: first(producer), events: count(), first: min(number), last: max(number), sum: sum(number))
    .emit(producer: producer, events: events, first: first, last: last, sum: sum)
    .to(Sink)
`;

export const ticksPerCount = 7;
const counted = `
stream Counted = Tick${inWindows()}`;

function inWindows(): string {
  return `
    .partition_by(producer)
    .window(${ticksPerCount})
    .aggregate(producer: first(producer), events: count(), first: min(number), last: max(number), sum: sum(number))
    .emit(producer: producer, events: events, first: first, last: last, sum: sum)
    .to(Sink)
`;
}

/** The sequence and the count window, of what a broker has: what the latter says depends on the order. */
function storedIn({ url, subject, durable }: Store): string {
  const from = `.from(Store, subject: "${subject}")`;
  return `
connector Store = nats (servers: "${url}", ${durable === undefined ? 'jetstream: true' : `durable: "${durable}"`})
stream Opened = Open${from}
stream Closed = Close${from}
stream Ticked = Tick${from}
stream Paired = Opened as a -> Closed where producer == a.producer and number == a.number as b
    .within(20m)
    .emit(producer: a.producer, number: a.number)
    .to(Sink)
stream Counted = Ticked${inWindows()}`;
}

const joined = `
stream Joined = join(Left, Right).on(Left.order == Right.order).window(20m)
    .emit(producer: Left.producer, number: Left.number)
    .to(Sink)
`;

export const beatWindowMs = 1_000;
const beaten = `
stream Beaten = Beat
    .watermark(idle: 500ms)
    .window(${beatWindowMs}ms)
    .aggregate(order: first(order), numbers: collect(number))
    .emit(order: order, numbers: numbers)
    .to(Sink)
`;

const ponged = `
stream Ponged = Ping.emit(number: number).to(Sink)
`;

/** One event of it takes longer than any event may. */
export function burningGroup(name: string): object {
  return { name, pipelines: [{ name: 'burn', source: burning }] };
}

const burning = `
fn burn() -> int:
  var total = 0
  for i in 0..100000000:
    total := total + len(0..50)
  return total

event Burn:
    note: str?

stream Burned = Burn.select(n: burn()).emit(n: n)
`;

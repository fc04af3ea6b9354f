import type { OperatorDescriptor } from './descriptor.ts';

/** Keys, windows, aggregates, and what orders or bounds their results. */
export const windowOperators: readonly OperatorDescriptor[] = [
  {
    name: 'partition_by',
    family: 'windows',
    places: ['stream'],
    parameters: [{ name: 'expire', kind: 'duration', summary: 'drops the state of a key after more than this long without events' }],
    rest: { kind: 'expression', form: 'either', min: 1, summary: 'parts of the key' },
    summary: 'Keeps the state of everything in this stream apart for each key',
    description:
      'Windows, aggregates, patterns, limits and suppression then work on each key alone. Any expressions, several allowed. The keys stay ' +
      'readable behind `.aggregate` under their own names. Its position in the chain changes nothing (W002 when it stands late). ' +
      'For `expire` an event that lies behind the watermark counts as of the watermark: a key that lags and goes on having events is kept.',
    example: {
      program:
        'event Sale:\n    shop: str\n    amount: float\n\nstream PerShop = Sale\n    .partition_by(shop)\n    .window(2)\n    .aggregate(total: sum(amount))\n    .emit(shop, total)\n',
      events:
        'Sale { shop: "n", amount: 1 }\nSale { shop: "s", amount: 5 }\nSale { shop: "n", amount: 2 }\nSale { shop: "s", amount: 6 }\n',
      outputs: ['PerShop { shop: "n", total: 3 }', 'PerShop { shop: "s", total: 11 }'],
    },
  },
  {
    name: 'window',
    family: 'windows',
    places: ['stream', 'join', 'pattern'],
    parameters: [
      { name: 'size', kind: 'size', positional: true, summary: 'a duration (time window) or a number of events (count window)' },
      { name: 'sliding', aliases: ['slide'], kind: 'size', summary: 'distance between the starts of windows; the default is tumbling' },
      { name: 'session', kind: 'duration', summary: 'a session closes when the gap exceeds this' },
      { name: 'offset', kind: 'duration', default: '0s', summary: 'shifts the alignment of time windows' },
      {
        name: 'align',
        kind: 'word',
        words: ['epoch', 'first'],
        default: 'epoch',
        summary: 'first: starts at the first event of the partition',
      },
      { name: 'early', kind: 'duration', summary: 'also gives interim results at this interval, with is_final false' },
      {
        name: 'policy',
        kind: 'word',
        words: ['watermark', 'latest'],
        default: 'watermark',
        summary: 'latest: a join keeps only the newest event per key and side',
      },
    ],
    summary: 'Collects events into windows by time, number or gaps; bounds a join',
    description:
      'A time window `[start, end)` closes when the watermark reaches its end. Followed by `.aggregate` it gives one result per window and ' +
      'partition, else it hands on each event of the closed window in order. In a join a duration bounds the distance of partners, a number ' +
      'keeps the newest of each side and key. Before `.trend_aggregate` it is the window of the trends.',
    example: {
      program: 'event Hit:\n    page: str\n\nstream PerMinute = Hit\n    .window(1m)\n    .aggregate(hits: count())\n    .emit(hits)\n',
      events: '@0 Hit { page: "a" }\n@10s Hit { page: "b" }\n@70s Hit { page: "a" }\n',
      outputs: ['PerMinute { hits: 2 }', 'PerMinute { hits: 1 }'],
    },
  },
  {
    name: 'aggregate',
    family: 'windows',
    places: ['stream'],
    parameters: [],
    rest: { kind: 'aggregate', form: 'named', min: 1, summary: '`name: aggregate`, also combined and with a filter' },
    summary: 'Computes aggregates of a window, or running ones',
    description:
      'Behind `.window` one result per closed window and partition, without it one result per event over everything so far in the partition ' +
      '(W001). Aggregates combine (`max(x) - min(x)`), take any expression (`sum(price * qty)`) and a filter (`count() where ok`).',
    example: {
      program:
        'event Trade:\n    price: float\n    qty: float\n\nstream Vwap = Trade\n    .window(2)\n    .aggregate(vwap: sum(price * qty) / sum(qty), big: count() where qty > 1)\n    .emit(vwap, big)\n',
      events: 'Trade { price: 10, qty: 1 }\nTrade { price: 20, qty: 3 }\n',
      outputs: ['Vwap { vwap: 17.5, big: 1 }'],
    },
  },
  {
    name: 'order_by',
    family: 'windows',
    places: ['window'],
    parameters: [],
    rest: { kind: 'expression', form: 'positional', min: 1, summary: 'sort keys, each with `asc` (default) or `desc`' },
    summary: 'Orders what a closed window gives',
    description: 'Stable; nulls come last in either direction.',
    example: {
      program:
        'event Lap:\n    car: int\n    ms: int\n\nstream Ranking = Lap\n    .window(3)\n    .order_by(ms, car desc)\n    .emit(car)\n',
      events: 'Lap { car: 1, ms: 90 }\nLap { car: 2, ms: 80 }\nLap { car: 3, ms: 80 }\n',
      outputs: ['Ranking { car: 3 }', 'Ranking { car: 2 }', 'Ranking { car: 1 }'],
    },
  },
  {
    name: 'limit',
    family: 'windows',
    places: ['stream'],
    parameters: [{ name: 'count', kind: 'count', positional: true, required: true, summary: 'how many pass' }],
    summary: 'Lets the first n pass',
    description:
      'Per closed window behind a window that hands on its events, else per partition over the life of the stream. What is held back is counted.',
    example: {
      program: 'event Login:\n    user: str\n\nstream FirstTwo = Login\n    .limit(2)\n    .emit(user)\n',
      events: 'Login { user: "a" }\nLogin { user: "b" }\nLogin { user: "c" }\n',
      outputs: ['FirstTwo { user: "a" }', 'FirstTwo { user: "b" }'],
    },
  },
  {
    name: 'first',
    family: 'windows',
    places: ['stream'],
    parameters: [],
    summary: 'Lets the first pass',
    description: 'The first of each closed window, or without a window the first per partition: `.limit(1)`.',
    example: {
      program: 'event Login:\n    user: str\n\nstream Earliest = Login\n    .partition_by(user)\n    .first()\n    .emit(user)\n',
      events: 'Login { user: "a" }\nLogin { user: "a" }\nLogin { user: "b" }\n',
      outputs: ['Earliest { user: "a" }', 'Earliest { user: "b" }'],
    },
  },
  {
    name: 'last',
    family: 'windows',
    places: ['window'],
    parameters: [],
    summary: 'Lets the last of each closed window pass',
    description: 'Only behind a window: a stream without end has no last event.',
    example: {
      program: 'event Reading:\n    value: int\n\nstream Newest = Reading\n    .window(2)\n    .last()\n    .emit(value)\n',
      events: 'Reading { value: 1 }\nReading { value: 2 }\n',
      outputs: ['Newest { value: 2 }'],
    },
  },
  {
    name: 'distinct',
    family: 'windows',
    places: ['stream'],
    parameters: [
      { name: 'key', kind: 'expression', positional: true, summary: 'what must differ; all fields when left out' },
      { name: 'within', kind: 'duration', summary: 'forgets a key when it last passed this long ago' },
    ],
    summary: 'Lets the first of each key pass',
    description: 'Per closed window behind a window that hands on its events, else per partition over the life of the stream.',
    example: {
      program: 'event Login:\n    user: str\n\nstream Users = Login\n    .distinct(user)\n    .emit(user)\n',
      events: 'Login { user: "a" }\nLogin { user: "b" }\nLogin { user: "a" }\n',
      outputs: ['Users { user: "a" }', 'Users { user: "b" }'],
    },
  },
];

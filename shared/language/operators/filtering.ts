import type { OperatorDescriptor } from './descriptor.ts';

/** Operators that keep or drop what passes. */
export const filteringOperators: readonly OperatorDescriptor[] = [
  {
    name: 'where',
    aliases: ['filter'],
    family: 'filtering',
    places: ['stream', 'input', 'step'],
    parameters: [
      { name: 'condition', kind: 'condition', positional: true, required: true, summary: 'a bool, or a lambda from the event to a bool' },
    ],
    summary: 'Keeps what the condition is true for',
    description:
      'Only `true` passes: a condition that is null drops the event. Behind a pattern it filters completed matches, on a step before a `->` ' +
      'it is a condition of that step. `.filter(e)` and `.filter(x => e)` mean the same.',
    example: {
      program: 'event Tick:\n    symbol: str\n    price: float\n\nstream Dear = Tick\n    .where(price > 50)\n    .emit(symbol, price)\n',
      events: 'Tick { symbol: "A", price: 60 }\nTick { symbol: "B", price: 40 }\n',
      outputs: ['Dear { symbol: "A", price: 60 }'],
    },
  },
  {
    name: 'having',
    family: 'filtering',
    places: ['stream'],
    parameters: [
      { name: 'condition', kind: 'condition', positional: true, required: true, summary: 'a bool over the results of the aggregate' },
    ],
    summary: 'Keeps the aggregate results that the condition is true for',
    description:
      'Stands behind `.aggregate` and reads its results, the partition keys and the window attributes. Before the aggregate it is refused ' +
      '(E010); in a stream without any aggregate it means `.where` (W043).',
    example: {
      program:
        'event Sale:\n    shop: str\n    amount: float\n\nstream Busy = Sale\n    .partition_by(shop)\n    .window(2)\n    .aggregate(total: sum(amount))\n    .having(total > 10)\n    .emit(shop, total)\n',
      events:
        'Sale { shop: "n", amount: 4 }\nSale { shop: "n", amount: 9 }\nSale { shop: "s", amount: 1 }\nSale { shop: "s", amount: 2 }\n',
      outputs: ['Busy { shop: "n", total: 13 }'],
    },
  },
  {
    name: 'pattern',
    family: 'filtering',
    places: ['window'],
    parameters: [],
    rest: { kind: 'lambda', form: 'named', min: 1, summary: '`name: events => condition` over the events of the closed window' },
    summary: 'Keeps the windows whose events satisfy a predicate',
    description:
      'Stands right behind `.window` and sees the events of the closed window as an array of maps. Each closed window that satisfies every ' +
      'predicate gives one row, with the fields of its last event, `window_start` and `window_end`; `.aggregate` right behind it takes all ' +
      'events of the window. Any other window is dropped whole. A pattern of steps (`n: A -> B`) is refused (E092): write it as the source of a stream.',
    example: {
      program:
        'event Beat:\n    host: str\n    ms: int\n\nstream Slow = Beat\n    .window(2)\n    .pattern(slow: events => all(events, e => e.ms > 10))\n    .emit(host, ms)\n',
      events: 'Beat { host: "a", ms: 20 }\nBeat { host: "a", ms: 30 }\nBeat { host: "a", ms: 5 }\nBeat { host: "a", ms: 40 }\n',
      outputs: ['Slow { host: "a", ms: 30 }'],
    },
  },
];

import type { OperatorDescriptor } from './descriptor.ts';

/** Operators that belong to the source of a stream. */
export const sourceOperators: readonly OperatorDescriptor[] = [
  {
    name: 'from',
    family: 'sources',
    places: ['source', 'input'],
    parameters: [
      { name: 'connector', kind: 'connector', positional: true, required: true, summary: 'a declared connector that gives events' },
      { name: 'topic', kind: 'text', summary: 'topic, subject, channel or path; by default the connector’s' },
    ],
    rest: { kind: 'constant', form: 'named', min: 0, summary: 'parameters of the connector' },
    summary: 'Reads the event type from a connector',
    description:
      'Stands right behind an event type. What arrives there reaches every stream that names the type; two equal bindings are one subscription. ' +
      'Each binding is a source with a watermark of its own.',
    example: {
      program:
        'event Tick:\n    symbol: str\n\nconnector Broker = kafka (brokers: ["localhost:9092"])\n\nstream Ticks = Tick\n    .from(Broker, topic: "ticks")\n    .emit(symbol)\n',
      events: 'Tick { symbol: "A" }\n',
      outputs: ['Ticks { symbol: "A" }'],
    },
  },
  {
    name: 'on',
    family: 'sources',
    places: ['join'],
    parameters: [
      {
        name: 'condition',
        kind: 'condition',
        positional: true,
        required: true,
        summary: 'equal keys of the sides, and what else must hold',
      },
    ],
    summary: 'Says which events of a join are partners',
    description:
      'Equalities between the sides (`A.k == B.k`) that reach all of them are the key; what remains is tested on every pair, and without a key every pair is. Several `.on` are joined by `and`.',
    example: {
      program:
        'event Order:\n    id: int\n\nevent Payment:\n    order: int\n    amount: float\n\nstream Paid = join(Order, Payment)\n    .on(Order.id == Payment.order)\n    .window(1m)\n    .emit(id: Order.id, amount: Payment.amount)\n',
      events: '@0 Order { id: 1 }\n@5s Payment { order: 1, amount: 9.5 }\n',
      outputs: ['Paid { id: 1, amount: 9.5 }'],
    },
  },
];

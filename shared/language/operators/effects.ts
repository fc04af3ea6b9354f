import type { OperatorDescriptor } from './descriptor.ts';

const tick = 'event Tick:\n    symbol: str\n    price: float\n\n';
const ticks = 'Tick { symbol: "A", price: 60 }\n';

/** Operators that act on the world or run a function; the event goes on. */
export const effectOperators: readonly OperatorDescriptor[] = [
  {
    name: 'process',
    family: 'effects',
    places: ['stream'],
    parameters: [{ name: 'call', kind: 'call', positional: true, required: true, summary: 'a call of a function of the program' }],
    summary: 'Runs a function that emits',
    description:
      'What the function emits are output events, and goes on down the stream in the order of emission. The event itself does not go on. ' +
      'The arguments may be fields or, for a parameter of an event type, the alias of the source.',
    example: {
      program:
        'event Order:\n    id: int\n    parts: int\n\nevent Part:\n    order: int\n    part: int\n\nfn split(id: int, parts: int):\n    for i in 0..parts:\n        emit Part(order: id, part: i)\n\nstream Parts = Order\n    .process(split(id, parts))\n',
      events: 'Order { id: 7, parts: 2 }\n',
      outputs: ['Part { order: 7, part: 0 }', 'Part { order: 7, part: 1 }'],
    },
  },
  {
    name: 'tap',
    family: 'effects',
    places: ['stream', 'step'],
    parameters: [
      { name: 'value', kind: 'expression', positional: true, summary: 'evaluated and logged' },
      { name: 'counter', kind: 'text', summary: 'counts in cep_tap_total under this name' },
      { name: 'labels', kind: 'expressions', summary: 'fields that become labels of the counter' },
    ],
    summary: 'Looks at what passes: evaluates an expression or counts',
    description:
      'The event goes on unchanged. One counter of a stream has up to 1,000 sets of label values; what has others is counted under one more, whose values are all `other`. On a step before a `->` it sees that step’s event when a run takes it.',
    example: {
      program: `${tick}stream Counted = Tick\n    .tap(counter: "ticks", labels: [symbol])\n    .emit(symbol)\n`,
      events: ticks,
      outputs: ['Counted { symbol: "A" }'],
    },
  },
  {
    name: 'print',
    family: 'effects',
    places: ['stream', 'step'],
    parameters: [],
    rest: { kind: 'expression', form: 'positional', min: 0, summary: 'what to print; nothing prints the event' },
    summary: 'Prints values',
    description: 'Joined by blanks. The event goes on unchanged.',
    example: {
      program: `${tick}stream Printed = Tick\n    .print(symbol, price)\n    .emit(symbol)\n`,
      events: ticks,
      outputs: ['Printed { symbol: "A" }'],
    },
  },
  {
    name: 'log',
    family: 'effects',
    places: ['stream', 'step'],
    parameters: [
      { name: 'message', kind: 'expression', positional: true, summary: 'the text of the line' },
      { name: 'level', kind: 'expression', default: '"info"', summary: '"debug", "info", "warn" or "error"' },
      { name: 'data', kind: 'expression', summary: 'a value written along' },
    ],
    summary: 'Writes a line to the log',
    description: 'The event goes on unchanged.',
    example: {
      program: `${tick}stream Logged = Tick\n    .log(level: "warn", message: f"{symbol} is dear", data: {price: price})\n    .emit(symbol)\n`,
      events: ticks,
      outputs: ['Logged { symbol: "A" }'],
    },
  },
  {
    name: 'alert',
    family: 'effects',
    places: ['stream'],
    parameters: [
      {
        name: 'url',
        aliases: ['webhook'],
        kind: 'text',
        positional: true,
        summary: 'where the alert is sent; without it the alert is logged',
      },
      { name: 'message', kind: 'text', summary: 'a template: `{expression}` is replaced; without it the event as JSON' },
    ],
    summary: 'Sends a webhook',
    description:
      'Delivered like the output of an http sink: retried, behind a circuit breaker, into the dead-letter queue when it cannot be. The event goes on.',
    example: {
      program: `${tick}stream Alerts = Tick\n    .where(price > 50)\n    .alert(message: "{symbol} at {price}")\n    .emit(symbol)\n`,
      events: ticks,
      outputs: ['Alerts { symbol: "A" }'],
    },
  },
  {
    name: 'to',
    family: 'effects',
    places: ['stream'],
    parameters: [
      {
        name: 'connector',
        kind: 'connector',
        positional: true,
        required: true,
        summary: 'a declared connector that takes events, or `console`',
      },
      {
        name: 'topic',
        kind: 'expression',
        summary: 'a text or an expression; by default the connector’s, for a broker else the name of the stream (W041)',
      },
    ],
    rest: { kind: 'constant', form: 'named', min: 0, summary: 'parameters of the connector' },
    summary: 'Delivers to a connector',
    description: 'The event goes on. Delivery is at least once, in the order made; what cannot be delivered goes to the dead-letter queue.',
    example: {
      program: `${tick}connector Out = console()\n\nstream Shown = Tick\n    .emit(symbol)\n    .to(Out)\n`,
      events: ticks,
      outputs: ['Shown { symbol: "A" }'],
    },
  },
];

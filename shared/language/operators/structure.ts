import type { OperatorDescriptor } from './descriptor.ts';

const tick = 'event Tick:\n    symbol: str\n    price: float\n\n';

/** Operators that branch a stream or say where its work runs. */
export const structureOperators: readonly OperatorDescriptor[] = [
  {
    name: 'fork',
    family: 'structure',
    places: ['stream'],
    parameters: [],
    rest: { kind: 'chain', form: 'named', min: 1, summary: '`name: .op().op()`' },
    summary: 'Continues in several branches',
    description:
      'Every branch sees every event; their results go on in written order. `S.name` as a source names one branch, also where operators follow or the fork stands in a branch. A name stands once in a stream.',
    example: {
      program: `${tick}stream Sides = Tick\n    .fork(dear: .where(price > 50).emit(dear: symbol), cheap: .where(price < 10).emit(cheap: symbol))\n`,
      events: 'Tick { symbol: "A", price: 60 }\nTick { symbol: "B", price: 5 }\n',
      outputs: ['Sides { dear: "A" }', 'Sides { cheap: "B" }'],
    },
  },
  {
    name: 'concurrent',
    family: 'structure',
    places: ['stream'],
    parameters: [
      { name: 'workers', kind: 'count', positional: true, summary: 'number of threads' },
      { name: 'partition_key', kind: 'field', summary: 'field by which the work is split' },
    ],
    summary: 'Runs the work on several threads',
    description: 'Where the work runs never changes a result or its place in the order.',
    example: {
      program: `${tick}stream Shared = Tick\n    .concurrent(workers: 2, partition_key: symbol)\n    .emit(symbol)\n`,
      events: 'Tick { symbol: "A", price: 1 }\n',
      outputs: ['Shared { symbol: "A" }'],
    },
  },
  {
    name: 'context',
    family: 'structure',
    places: ['stream'],
    parameters: [{ name: 'context', kind: 'context', positional: true, required: true, summary: 'a declared context' }],
    summary: 'Runs the work on the thread of a context',
    description: 'Where the work runs never changes a result or its place in the order.',
    example: {
      program: `context hot (cores: [0])\n\n${tick}stream Placed = Tick\n    .context(hot)\n    .emit(symbol)\n`,
      events: 'Tick { symbol: "A", price: 1 }\n',
      outputs: ['Placed { symbol: "A" }'],
    },
  },
];

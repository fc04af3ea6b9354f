import type { OperatorDescriptor } from './descriptor.ts';

/** Operators that keep alerts few; what they hold back is counted. */
export const hygieneOperators: readonly OperatorDescriptor[] = [
  {
    name: 'dedupe',
    family: 'hygiene',
    places: ['stream'],
    parameters: [
      { name: 'key', kind: 'expression', positional: true, required: true, summary: 'what makes two alerts the same' },
      { name: 'within', kind: 'duration', required: true, summary: 'how long repeats are held back, from the last one that passed' },
    ],
    summary: 'Holds back repeats of a key for a while',
    description:
      'Counts from the last event passed; one exactly `within` later passes. Per partition. Held back events are counted. A source that lags behind others is counted by its own times; what falls behind by more than it did may pass again (see [time](time.md#late-events)).',
    example: {
      program: 'event Alarm:\n    host: str\n\nstream Calm = Alarm\n    .dedupe(host, within: 10s)\n    .emit(host)\n',
      events: '@0 Alarm { host: "a" }\n@4s Alarm { host: "a" }\n@10s Alarm { host: "a" }\n',
      outputs: ['Calm { host: "a" }', 'Calm { host: "a" }'],
    },
  },
  {
    name: 'throttle',
    family: 'hygiene',
    places: ['stream'],
    parameters: [
      { name: 'count', kind: 'count', positional: true, required: true, summary: 'how many may pass' },
      { name: 'per', kind: 'duration', required: true, summary: 'in any span of this length' },
    ],
    summary: 'Caps the rate',
    description:
      'At most `count` pass in any span of `per`, per partition; the span slides. Held back events are counted. A source that lags behind others is counted by its own times; what falls behind by more than it did may pass again (see [time](time.md#late-events)).',
    example: {
      program: 'event Alarm:\n    n: int\n\nstream Few = Alarm\n    .throttle(2, per: 10s)\n    .emit(n)\n',
      events: '@0 Alarm { n: 1 }\n@1s Alarm { n: 2 }\n@2s Alarm { n: 3 }\n@10s Alarm { n: 4 }\n',
      outputs: ['Few { n: 1 }', 'Few { n: 2 }', 'Few { n: 4 }'],
    },
  },
];

import type { OperatorDescriptor } from './descriptor.ts';

/** Operators that say what a stream's time is and what a failure does. */
export const timeOperators: readonly OperatorDescriptor[] = [
  {
    name: 'watermark',
    family: 'time',
    places: ['stream'],
    parameters: [
      { name: 'on', kind: 'field', positional: true, summary: 'the field that holds the event time' },
      { name: 'out_of_order', kind: 'duration', default: '0s', summary: 'how far an event may lie behind the newest' },
      { name: 'idle', kind: 'duration', default: '30s', summary: 'after this long without events a source follows the wall clock' },
    ],
    summary: 'Says which field is the event time and how much disorder to expect',
    description:
      'With `out_of_order` above 0 patterns, joins and first/last/collect/ema see events in the order of event time. Types without the field ' +
      'do not move the time of the stream. `idle` is for the sources behind the stream: of several streams that read one, the least counts, ' +
      'and 30s for a stream that states none and feeds none that does.',
    example: {
      program:
        'event Hit:\n    at: timestamp\n    page: str\n\nstream PerMinute = Hit\n    .watermark(on: at, out_of_order: 10s)\n    .window(1m)\n    .aggregate(hits: count())\n    .emit(hits)\n',
      events:
        'Hit { at: "2026-01-31T10:00:00Z", page: "a" }\nHit { at: "2026-01-31T10:01:02Z", page: "b" }\nHit { at: "2026-01-31T10:00:59Z", page: "c" }\n',
      outputs: ['PerMinute { hits: 2 }', 'PerMinute { hits: 1 }'],
    },
  },
  {
    name: 'allowed_lateness',
    family: 'time',
    places: ['stream'],
    parameters: [
      { name: 'duration', kind: 'duration', positional: true, required: true, summary: 'how long windows stay open past their end' },
    ],
    summary: 'Keeps windows open for late events',
    description:
      'A window closes when the watermark reaches its end plus this. What comes later still is counted and handed to `<Stream>.late`.',
    example: {
      program:
        'event Hit:\n    at: timestamp\n\nstream PerMinute = Hit\n    .window(1m)\n    .allowed_lateness(10s)\n    .aggregate(hits: count())\n    .emit(hits)\n',
      events: 'Hit { at: "2026-01-31T10:00:00Z" }\nHit { at: "2026-01-31T10:01:05Z" }\nHit { at: "2026-01-31T10:00:30Z" }\n',
      outputs: ['PerMinute { hits: 2 }', 'PerMinute { hits: 1 }'],
    },
  },
  {
    name: 'on_error',
    family: 'time',
    places: ['stream'],
    parameters: [
      { name: 'action', kind: 'word', positional: true, required: true, words: ['skip', 'null', 'dlq'], summary: 'skip, null or dlq' },
    ],
    summary: 'Says what an evaluation failure does',
    description:
      'Applies to the whole stream. `skip` (the default) counts, logs and drops the event from this stream; `null` makes the failing ' +
      'operator’s expression null; `dlq` hands the event to the dead-letter queue.',
    example: {
      program: 'event Pair:\n    a: any\n    b: any\n\nstream Sums = Pair\n    .on_error(null)\n    .emit(total: a + b)\n',
      events: 'Pair { a: 1, b: 2 }\nPair { a: "x", b: 2 }\n',
      outputs: ['Sums { total: 3 }', 'Sums { total: null }'],
    },
  },
];

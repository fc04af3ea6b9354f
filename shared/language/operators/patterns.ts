import type { OperatorDescriptor } from './descriptor.ts';

const events = 'event A:\n    k: int\n\nevent B:\n    k: int\n\n';
const rising = 'event T:\n    v: int\n\nevent E:\n    v: int\n\n';
const risingEvents = 'T { v: 1 }\nT { v: 2 }\nT { v: 1 }\n';

/** Operators of streams whose source is a pattern. */
export const patternOperators: readonly OperatorDescriptor[] = [
  {
    name: 'within',
    family: 'patterns',
    places: ['pattern', 'step'],
    parameters: [
      { name: 'duration', kind: 'duration', positional: true, required: true, summary: 'from the first to the last event, inclusive' },
    ],
    summary: 'Bounds how long a match may take',
    description: 'Runs end when the watermark passes their deadline. On a step before a `->` it bounds the gap to the step before it.',
    example: {
      program: `${events}stream Pairs = A as a -> B as b\n    .within(10s)\n    .emit(a: a.k, b: b.k)\n`,
      events: '@0 A { k: 1 }\n@10s B { k: 2 }\n@20s A { k: 3 }\n@31s B { k: 4 }\n',
      outputs: ['Pairs { a: 1, b: 2 }'],
    },
  },
  {
    name: 'not',
    family: 'patterns',
    places: ['pattern'],
    parameters: [
      { name: 'step', kind: 'step', positional: true, required: true, summary: '`X` or `X where e`; e reads the steps bound so far' },
    ],
    summary: 'Cancels runs when an event comes',
    description:
      'The event ends the run of its partition wherever it stands. It never retracts a match. Where X is the type of the last step this is rarely meant (W048): for a timeout write `-> NOT X within d`.',
    example: {
      program: `${events}event X:\n    k: int\n\nstream Pairs = A as a -> B\n    .within(1m)\n    .not(X where k == a.k)\n    .emit(a: a.k)\n`,
      events: 'A { k: 1 }\nA { k: 2 }\nX { k: 1 }\nB { k: 9 }\n',
      outputs: ['Pairs { a: 2 }'],
    },
  },
  {
    name: 'stnm',
    family: 'patterns',
    places: ['pattern'],
    parameters: [],
    summary: 'Skip till next match, the default selection',
    description: 'A run takes the first event that satisfies its next step; other events are skipped.',
    example: {
      program: `${events}stream Pairs = A as a -> B as b\n    .within(1m)\n    .stnm()\n    .emit(a: a.k, b: b.k)\n`,
      events: 'A { k: 1 }\nA { k: 2 }\nB { k: 1 }\nB { k: 2 }\n',
      outputs: ['Pairs { a: 1, b: 1 }', 'Pairs { a: 2, b: 1 }'],
    },
  },
  {
    name: 'strict',
    family: 'patterns',
    places: ['pattern'],
    parameters: [],
    summary: 'Strict contiguity: no other event between two steps',
    description: 'The next event of the stream’s sources (within the partition) must be the next step, else the run ends.',
    example: {
      program: `${events}stream Pairs = A as a -> B as b\n    .within(1m)\n    .strict()\n    .emit(a: a.k, b: b.k)\n`,
      events: 'A { k: 1 }\nA { k: 2 }\nB { k: 1 }\n',
      outputs: ['Pairs { a: 2, b: 1 }'],
    },
  },
  {
    name: 'stam',
    family: 'patterns',
    places: ['pattern'],
    parameters: [],
    summary: 'Skip till any match: every combination',
    description:
      'A run may also ignore a fitting event, and a closure may. Their number can be exponential. Not together with `.each()`, `.longest()` or `.subsets()` (E021).',
    example: {
      program: `${events}stream Pairs = A as a -> B as b\n    .within(1m)\n    .stam()\n    .emit(a: a.k, b: b.k)\n`,
      events: 'A { k: 1 }\nB { k: 1 }\nB { k: 2 }\n',
      outputs: ['Pairs { a: 1, b: 1 }', 'Pairs { a: 1, b: 2 }'],
    },
  },
  {
    name: 'longest',
    family: 'patterns',
    places: ['pattern'],
    parameters: [],
    summary: 'One match per run with the whole closure',
    description: 'The default when a step follows the closure. A closure that ends the pattern is then emitted when its run ends.',
    example: {
      program: `${rising}stream Runs = T+ as t -> E\n    .within(1m)\n    .longest()\n    .after_match(skip_past_last)\n    .emit(n: count(t))\n`,
      events: 'T { v: 1 }\nT { v: 2 }\nE { v: 0 }\n',
      outputs: ['Runs { n: 2 }'],
    },
  },
  {
    name: 'each',
    family: 'patterns',
    places: ['pattern'],
    parameters: [],
    summary: 'One match per captured event of the closure, growing',
    description:
      'The default when the closure ends the pattern. With several closures it acts on the one that ends the pattern, or where none does on the first. Not together with `.after_match(skip_past_last)` (E021).',
    example: {
      program: `${events}stream Growing = A -> B+ as b\n    .within(1m)\n    .each()\n    .emit(n: count(b))\n`,
      events: 'A { k: 1 }\nB { k: 1 }\nB { k: 2 }\n',
      outputs: ['Growing { n: 1 }', 'Growing { n: 2 }'],
    },
  },
  {
    name: 'subsets',
    family: 'patterns',
    places: ['pattern'],
    parameters: [{ name: 'limit', kind: 'count', default: '10000', summary: 'matches per completion; what is cut is counted' }],
    summary: 'Every non-empty subset of the closure',
    description: 'In order of discovery: the new event alone, then added to each earlier subset. The number of matches is exponential.',
    example: {
      program: `${rising}stream Picks = T -> T+ as t -> E\n    .within(1m)\n    .subsets()\n    .after_match(skip_to_next)\n    .emit(n: count(t))\n`,
      events: 'T { v: 0 }\nT { v: 1 }\nE { v: 0 }\n',
      outputs: ['Picks { n: 1 }'],
    },
  },
  {
    name: 'after_match',
    family: 'patterns',
    places: ['pattern'],
    parameters: [
      {
        name: 'policy',
        kind: 'word',
        positional: true,
        required: true,
        words: ['no_skip', 'skip_to_next', 'skip_past_last'],
        default: 'no_skip',
        summary: 'which runs end with a match',
      },
    ],
    summary: 'Says which other runs a match ends',
    description:
      '`no_skip` none (default) · `skip_to_next` the runs that began with the same first event · `skip_past_last` every run that began at or before the last event of the match. Per partition.',
    example: {
      program: `${events}stream Pairs = A as a -> B as b\n    .within(1m)\n    .after_match(skip_past_last)\n    .emit(a: a.k, b: b.k)\n`,
      events: 'A { k: 1 }\nA { k: 2 }\nB { k: 1 }\n',
      outputs: ['Pairs { a: 1, b: 1 }'],
    },
  },
  {
    name: 'increasing',
    family: 'patterns',
    places: ['pattern', 'step'],
    parameters: [
      { name: 'value', kind: 'expression', positional: true, required: true, summary: 'what must grow from capture to capture' },
    ],
    summary: 'The closure rises: one match per rising run',
    description: 'Applies to the only closure, with `.longest()`. An equal value or null is a break; the first break ends the run.',
    example: {
      program: `${rising}stream Rising = T{2,} as t\n    .within(1m)\n    .increasing(v)\n    .after_match(skip_past_last)\n    .emit(n: count(t))\n`,
      events: risingEvents,
      outputs: ['Rising { n: 2 }'],
    },
  },
  {
    name: 'decreasing',
    family: 'patterns',
    places: ['pattern', 'step'],
    parameters: [
      { name: 'value', kind: 'expression', positional: true, required: true, summary: 'what must fall from capture to capture' },
    ],
    summary: 'The closure falls: one match per falling run',
    description: 'Applies to the only closure, with `.longest()`. An equal value or null is a break; the first break ends the run.',
    example: {
      program: `${rising}stream Falling = T{2,} as t\n    .within(1m)\n    .decreasing(v)\n    .after_match(skip_past_last)\n    .emit(n: count(t))\n`,
      events: risingEvents,
      outputs: ['Falling { n: 2 }'],
    },
  },
  {
    name: 'max_runs',
    family: 'patterns',
    places: ['pattern'],
    parameters: [
      { name: 'count', kind: 'count', positional: true, required: true, default: '100000', summary: 'open runs of the pattern' },
    ],
    summary: 'Bounds the open runs',
    description: 'Over it the oldest run is dropped and counted, and the pipeline is marked degraded.',
    example: {
      program: `${events}stream Pairs = A as a -> B\n    .within(1m)\n    .max_runs(1)\n    .emit(a: a.k)\n`,
      events: 'A { k: 1 }\nA { k: 2 }\nB { k: 1 }\n',
      outputs: ['Pairs { a: 2 }'],
    },
  },
  {
    name: 'max_closure',
    family: 'patterns',
    places: ['pattern'],
    parameters: [
      {
        name: 'count',
        kind: 'count',
        positional: true,
        required: true,
        default: '10000',
        summary: 'events that one closure of one run holds',
      },
    ],
    summary: 'Bounds the events of a closure',
    description: 'A run over it is dropped and counted, and the pipeline is marked degraded.',
    example: {
      program: `${events}stream Groups = A -> B+ as b -> A\n    .within(1m)\n    .max_closure(100)\n    .emit(n: count(b))\n`,
      events: 'A { k: 1 }\nB { k: 1 }\nB { k: 2 }\nA { k: 3 }\n',
      outputs: ['Groups { n: 2 }'],
    },
  },
];

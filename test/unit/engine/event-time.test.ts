import { describe, expect, it } from 'vitest';
import { Timestamp } from '../../../shared/events/value.ts';
import { start } from './support/engine-run.ts';
import {
  binding,
  countAndSum,
  emit,
  field,
  fromEvent,
  fromLate,
  fromStream,
  plan,
  type StreamOptions,
  stream,
  timeWindow,
} from './support/plans.ts';

const counted = (name: string, inputs: Parameters<typeof stream>[1], sizeMs = 10, options: StreamOptions = {}) =>
  stream(name, inputs, { ...options, operators: [timeWindow(sizeMs, countAndSum('v')), emit(name, { n: field('n') })] });

describe('a step of time', () => {
  it('completes what is due before the event that moved time is delivered', () => {
    const run = start(plan({ streams: [stream('Seen', [fromEvent('X')], { operators: [emit('Seen')] }), counted('W', [fromEvent('X')])] }));
    run.push('X', 1);
    run.push('X', 10);
    expect(run.outputs).toEqual(['Seen@1 {}', 'W@9 {"n":1}', 'Seen@10 {}']);
  });

  it('goes upstream first, with all effects of one stream before the next one', () => {
    const run = start(
      plan({
        streams: [
          counted('Down', [fromStream(1)], 20),
          counted('Up', [fromEvent('X')], 10),
          stream('Sees', [fromStream(1)], { operators: [emit('Sees')] }),
        ],
      }),
    );
    run.push('X', 1);
    run.push('X', 11);
    run.taken();
    run.push('X', 40);
    expect(run.taken()).toEqual(['Up@19 {"n":1}', 'Sees@19 {"n":1}', 'Down@19 {"n":2}']);
  });

  it('gives a derived window the results of every upstream window that a jump of time closes', () => {
    const run = start(plan({ streams: [counted('Up', [fromEvent('X')], 10), counted('Down', [fromStream(0)], 20)] }));
    for (const time of [1, 2, 12, 25]) run.push('X', time);
    run.engine.end();
    expect(run.outputs).toEqual(['Up@9 {"n":2}', 'Up@19 {"n":1}', 'Down@19 {"n":2}', 'Up@29 {"n":1}', 'Down@39 {"n":1}']);
  });

  it('takes time to infinity at the end of input, upstream first', () => {
    const run = start(plan({ streams: [counted('Down', [fromStream(1)], 50), counted('Up', [fromEvent('X')])] }));
    run.push('X', 3);
    run.engine.end();
    expect(run.outputs).toEqual(['Up@9 {"n":1}', 'Down@49 {"n":1}']);
  });

  it('moves time with any event of the source, delivered anywhere or not', () => {
    const run = start(plan({ streams: [counted('W', [fromEvent('X')])] }));
    run.push('X', 1);
    run.push('Nobody', 10);
    expect(run.outputs).toEqual(['W@9 {"n":1}']);
  });
});

describe('watermarks', () => {
  it('stay behind by out_of_order, for the stream that declares it alone', () => {
    const run = start(
      plan({ streams: [counted('Slow', [fromEvent('X')], 10, { time: { outOfOrderMs: 5 } }), counted('Fast', [fromEvent('X')])] }),
    );
    run.push('X', 1);
    run.push('X', 12);
    expect(run.taken()).toEqual(['Fast@9 {"n":1}']);
    run.push('X', 4);
    run.push('X', 15);
    expect(run.taken()).toEqual(['Slow@9 {"n":2}']);
  });

  it('are the lowest of the sources that feed a stream, and of those only', () => {
    const streams = [counted('Both', [fromEvent('A'), fromEvent('B')]), counted('OnlyA', [fromEvent('A')])];
    const run = start(plan({ streams, bindings: [binding('C/a', 'A'), binding('C/b', 'B')] }));
    run.push('A', 1, {}, 'C/a');
    run.push('A', 30, {}, 'C/a');
    expect(run.taken()).toEqual(['OnlyA@9 {"n":1}']);
    run.push('B', 10, {}, 'C/b');
    expect(run.taken()).toEqual(['Both@9 {"n":1}']);
  });

  it('move by the binding of a type when its event comes from a file', () => {
    const streams = [counted('A', [fromEvent('A')]), counted('D', [fromEvent('D')])];
    const run = start(plan({ streams, bindings: [binding('C/a', 'A')] }));
    run.push('A', 1);
    run.push('D', 100);
    expect(run.taken()).toEqual([]);
    run.push('A', 10);
    expect(run.taken()).toEqual(['A@9 {"n":1}']);
  });

  it('wait for the slowest broker partition of a binding', () => {
    const run = start(plan({ streams: [counted('A', [fromEvent('A')])], bindings: [binding('C/a', 'A')] }));
    run.push('A', 1, {}, 'C/a#0');
    run.push('A', 2, {}, 'C/a#1');
    run.push('A', 50, {}, 'C/a#0');
    expect(run.taken()).toEqual([]);
    run.push('A', 12, {}, 'C/a#1');
    expect(run.taken()).toEqual(['A@9 {"n":2}']);
  });

  it('read the field that .watermark(on:) names, from any type of the source that has it', () => {
    const run = start(
      plan({ streams: [counted('S', [fromEvent('X')], 10_000, { time: { on: 'at' } }), counted('T', [fromEvent('X')], 10_000)] }),
    );
    run.push('X', 100_000, { at: 1_000_000_001_000 });
    run.push('Y', 100_000, { other: 1 });
    expect(run.taken()).toEqual([]);
    run.push('Y', 100_001, { at: 1_000_000_010_000 });
    expect(run.taken()).toEqual(['S@1000000009999 {"n":1}']);
  });

  it('follow the field of derived rows where a derived stream names one', () => {
    const run = start(plan({ streams: [stream('P', [fromEvent('X')]), counted('S', [fromStream(0)], 10_000, { time: { on: 'at' } })] }));
    run.push('X', 1, { at: 1_000_000_001_000 });
    run.push('X', 2, { at: 1_000_000_010_000 });
    expect(run.taken()).toEqual(['S@1000000009999 {"n":1}']);
    run.engine.end();
    expect(run.taken()).toEqual(['S@1000000019999 {"n":1}']);
  });

  it('reach derived streams less the allowed lateness', () => {
    const up = counted('Up', [fromEvent('X')], 10, { time: { allowedLatenessMs: 5 } });
    const run = start(plan({ streams: [up, counted('Down', [fromStream(0)], 10)] }));
    run.push('X', 1);
    run.push('X', 14);
    run.push('X', 3);
    expect(run.taken()).toEqual([]);
    run.push('X', 15);
    expect(run.taken()).toEqual(['Up@9 {"n":2}', 'Down@9 {"n":1}']);
  });
});

describe('a late event', () => {
  it('is counted, and goes to the followers of .late', () => {
    const run = start(plan({ streams: [counted('W', [fromEvent('X')]), stream('L', [fromLate(0)], { operators: [emit('L')] })] }));
    run.push('X', 20);
    run.push('X', 5, { v: 7 });
    expect(run.outputs).toEqual(['L@5 {"v":7}']);
    expect(run.engine.counters().streams.get('W')?.late).toBe(1);
  });
});

describe('a tick', () => {
  it('moves the sources whose newest event has arrival time', () => {
    const run = start(plan({ streams: [counted('W', [fromEvent('X')])] }));
    run.push('X', 1);
    run.engine.advance(9);
    expect(run.taken()).toEqual([]);
    run.engine.advance(10);
    expect(run.taken()).toEqual(['W@9 {"n":1}']);
  });

  it('leaves a source alone whose events bring their own time, unless it is named', () => {
    const run = start(plan({ streams: [counted('W', [fromEvent('X')])] }));
    run.engine.push({ type: 'X', fields: new Map(), timestamp: 1, fallbackTime: 1 });
    run.engine.advance(10);
    expect(run.taken()).toEqual([]);
    run.engine.advance(10, 'input');
    expect(run.taken()).toEqual(['W@9 {"n":1}']);
  });
});

describe('event time', () => {
  it('is the envelope, then the declared timestamp, then a field timestamp, then arrival', () => {
    const at = { name: 'at', type: { kind: 'timestamp' } as const, optional: true };
    const declared = { name: 'E', ancestors: [], timeField: 'at', fields: [at] };
    const run = start(
      plan({ events: [declared], streams: [stream('S', [fromEvent('E'), fromEvent('O')], { operators: [emit('S', {})] })] }),
    );
    run.push('E', 7, { at: '1970-01-01T00:00:01Z' });
    run.engine.push({ type: 'E', fields: new Map([['at', new Timestamp(1_000)]]), timestamp: 3, fallbackTime: 9 });
    run.push('O', 9, { timestamp: '1970-01-01T00:00:02Z' });
    run.push('O', 11);
    expect(run.outputs).toEqual(['S@1000 {}', 'S@3 {}', 'S@2000 {}', 'S@11 {}']);
  });
});

describe('a timer', () => {
  const ticking = (initialDelayMs: number | null) =>
    stream('T', { kind: 'timer', periodMs: 10, initialDelayMs, eventType: 'Timer_T' }, { operators: [emit('T')] });

  it('ticks from the first event on, up to the last watermark and at it', () => {
    const run = start(plan({ streams: [ticking(null), stream('X', [fromEvent('X')], { operators: [emit('X')] })] }));
    run.push('X', 100);
    run.push('X', 120);
    run.push('X', 129);
    run.engine.end();
    expect(run.outputs).toEqual(['X@100 {}', 'T@110 {"timestamp":110}', 'T@120 {"timestamp":120}', 'X@120 {}', 'X@129 {}']);
  });

  it('waits initial_delay for the first tick', () => {
    const run = start(plan({ streams: [ticking(3)] }));
    run.engine.advance(100);
    run.engine.advance(114);
    expect(run.outputs).toEqual(['T@103 {"timestamp":103}', 'T@113 {"timestamp":113}']);
  });

  it('leaves out ticks behind a jump of time that would never end, and says so', () => {
    const silent = stream('T', { kind: 'timer', periodMs: 10, initialDelayMs: null, eventType: 'Timer_T' });
    const run = start(plan({ streams: [silent] }));
    run.engine.advance(0);
    run.engine.advance(1e12);
    expect(run.engine.counters().streams.get('T')?.eventsOut).toBe(1_000_000);
    expect(run.logs.map((entry) => entry.message)).toEqual(['time jumped over more than 1000000 ticks: 99999000000 are left out']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GrowingCounters } from '../../../worker/runtime/pipelines/growing-counters.ts';
import type { CountersReply } from '../../../worker/runtime/threads/messages.ts';

const said = (streams: Record<string, number>, types: Record<string, number> = {}): CountersReply => ({
  eventsIncomplete: 0,
  eventsLate: Object.values(streams).reduce((sum, late) => sum + late, 0),
  eventsUnread: 0,
  unreadTypes: {},
  nearestTypes: {},
  watermark: null,
  eventsByType: types,
  incompleteFields: {},
  streams: Object.entries(streams).map(([name, late]) => ({
    name,
    eventsIn: late,
    eventsOut: 0,
    late,
    failures: 0,
    suppressed: 0,
    runsActive: late,
    queueSize: 0,
    runsDropped: late === 0 ? {} : { max_runs: late },
    taps: {},
  })),
});

describe('growing counters', () => {
  it('are those of the engine, and its gauges as they are', () => {
    const counters = new GrowingCounters();
    counters.take(said({ S: 3 }, { A: 5 }));
    counters.take(said({ S: 4 }, { A: 9, B: 1 }));
    expect(counters.grown).toMatchObject({ ...said({ S: 4 }, { A: 9, B: 1 }), eventsLate: 4 });
  });

  it('remember taps that are gone, up to a number, and those that are there', () => {
    const counters = new GrowingCounters();
    for (let n = 0; n < 2_000; n++) {
      const { streams, ...rest } = said({ S: 0 });
      counters.take({ ...rest, streams: streams.map((stream) => ({ ...stream, taps: { always: n, [`tap ${n}`]: 1 } })) });
    }
    const { taps } = counters.grown;
    expect(Object.keys(taps)).toHaveLength(1_000);
    expect(taps).toMatchObject({ always: 1_999, 'tap 1999': 1 });
  });

  it('count nothing twice that an engine works through again', () => {
    const counters = new GrowingCounters();
    for (const count of [10, 4, 8, 12]) counters.take(said({}, { A: count }));
    expect(counters.grown.eventsByType).toEqual({ A: 12 });
  });

  it('go on from where they are when a state of other counts is put in', () => {
    const counters = new GrowingCounters();
    counters.take(said({ S: 10 }, { A: 10 }));
    counters.rebase(said({ S: 3 }, { B: 700 }));
    expect(counters.grown).toMatchObject({ streams: [{ eventsIn: 10, runsActive: 3 }], eventsByType: { B: 0 }, eventsLate: 10 });
    counters.take(said({ S: 5 }, { A: 1, B: 702 }));
    expect(counters.grown).toMatchObject({ streams: [{ eventsIn: 12 }], eventsByType: { A: 11, B: 2 }, eventsLate: 12 });
  });

  it('count a stream on that the program has again', () => {
    const counters = new GrowingCounters();
    for (const streams of [{ S: 5, T: 1 }, { T: 1 }, { S: 2, T: 1 }]) counters.take(said(streams));
    expect(counters.grown).toMatchObject({ streams: [{ eventsIn: 7, runsDropped: { max_runs: 7 } }, { eventsIn: 1 }] });
  });

  it('tell what streams have dropped since they were heard of last, and nothing that came with a state or comes again', () => {
    const counters = new GrowingCounters();
    const drop = (stream: string, count: number): object => ({ stream, reason: 'max_runs', count });
    expect(counters.take(said({ S: 5 }))).toEqual([]);
    expect(counters.take(said({ S: 7, T: 2 }))).toEqual([drop('S', 2)]);
    expect(counters.take(said({ S: 6, T: 2 }))).toEqual([]);
    expect(counters.take(said({ S: 8, T: 3 }))).toEqual([drop('S', 1), drop('T', 1)]);
    counters.rebase(said({ S: 100 }));
    expect(counters.take(said({ S: 101 }))).toEqual([drop('S', 1)]);
  });

  it('never go down, whatever engines say', () => {
    const reply = fc
      .record({ S: fc.nat(50), T: fc.nat(50) }, { requiredKeys: [] })
      .map((streams) => said(streams as Record<string, number>));
    const step = fc.record({ reply, isRestore: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const counters = new GrowingCounters();
        const last = new Map<string, number>();
        for (const { reply: counts, isRestore } of steps) {
          if (isRestore) counters.rebase(counts);
          else counters.take(counts);
          const { streams, eventsLate } = counters.grown;
          for (const [name, value] of [
            ...streams.map((stream) => [stream.name, stream.eventsIn] as const),
            ['late', eventsLate] as const,
          ]) {
            expect(value).toBeGreaterThanOrEqual(last.get(name) ?? 0);
            last.set(name, value);
          }
        }
      }),
    );
  });

  it('of types that are gone are forgotten when they are very many', () => {
    const counters = new GrowingCounters();
    for (let round = 0; round < 30; round++) {
      counters.rebase(said({}, Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`T${round}-${n}`, n]))));
      counters.take(said({}, { [`T${round}-0`]: 7 }));
    }
    counters.take(said({}, { 'T0-5': 3 }));
    expect(counters.grown.eventsByType).toEqual({ 'T0-5': 3 });
  });
});

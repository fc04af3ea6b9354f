import { describe, expect, it } from 'vitest';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../worker/engine/engine.ts';
import { createByteReader } from '../../../worker/engine/reading/byte-reader.ts';
import { planOf } from '../../scenarios/run-program.ts';

const program = [
  'event A:\n    k: str\n    v: float\n',
  'event Idle:\n    v: float\n',
  'stream Counted = A.partition_by(k).window(10s).aggregate(total: sum(v)).emit(total: total)\n',
  'stream Also = A.partition_by(k).window(10s).aggregate(n: count()).emit(n: n)\n',
].join('\n');

const host = { output: () => undefined };
const event = (type: string, time: number, stated = true) => ({
  type,
  fields: new Map<string, string | number>(
    [
      ['k', 'x'],
      ['v', 1],
    ].slice(type === 'A' ? 0 : 1) as [string, string | number][],
  ),
  ...(stated ? { timestamp: time } : {}),
  fallbackTime: time,
});

function feed(engine: Engine): Engine {
  for (const [type, time] of [
    ['A', 0],
    ['A', 60_000],
    ['A', 5],
    ['A', 6],
    ['Idle', 7],
    ['Typo', 8],
    ['Typo', 9],
  ] as const)
    engine.push(event(type, time));
  engine.push(event('Idle', 10, false));
  return engine;
}

const seen = (engine: Engine) => {
  const { eventsLate, eventsUnread, eventsUntimed, unreadTypes, time } = engine.counters();
  return { eventsLate, eventsUnread, eventsUntimed, unreadTypes: [...unreadTypes], time };
};

const expected = {
  eventsLate: 2,
  eventsUnread: 4,
  eventsUntimed: 1,
  unreadTypes: [
    ['Idle', 2],
    ['Typo', 2],
  ],
  time: 60_000,
};

describe('what an engine counts of its input', () => {
  it.each([true, false])('is each late event once, types that no stream reads, and where time stands (fused: %s)', (isFused) => {
    const engine = feed(createEngine(planOf(program), host, { isFused }));
    expect(seen(engine)).toEqual(expected);
    engine.end();
    expect(seen(engine)).toEqual(expected);
  });

  it.each(['evt', 'jsonl'] as const)('is the same where a reader finds the events in the bytes of %s', (format) => {
    const plan = planOf(program);
    const engine = createEngine(plan, host);
    const line = (type: string, at: number): string =>
      format === 'evt' ? `@${at} ${type} { v: 1.5 }` : `{"event_type":"${type}","v":1.5,"timestamp":${at}}`;
    const lines = Array.from({ length: 2_000 }, (_, n) => line(n % 4 === 0 ? 'Typo' : 'Idle', n));
    let slow = 0;
    const reader = createByteReader(engine.entries, {
      format,
      schemas: new EventSchemas(plan.events),
      slow: (result) => {
        slow++;
        if (result.kind === 'event') engine.push(result.event);
      },
    });
    reader.read(new TextEncoder().encode(`${lines.join('\n')}\n`));
    reader.end();
    expect(slow).toBeLessThan(1_000);
    expect(seen(engine)).toMatchObject({ eventsUnread: 2_000, eventsUntimed: format === 'evt' ? 2_000 : 0 });
    expect(Object.fromEntries(engine.counters().unreadTypes)).toEqual({ Idle: 1_500, Typo: 500 });
  });

  it('goes on from a snapshot, and from one that was taken before these counters were', () => {
    const snapshot = feed(createEngine(planOf(program), host)).snapshot();
    const restored = createEngine(planOf(program), host);
    restored.restore(snapshot);
    expect(seen(restored)).toEqual(expected);
    restored.push(event('A', 7));
    restored.push(event('Typo', 7));
    expect(seen(restored)).toMatchObject({ eventsLate: 3, eventsUnread: 5 });

    const state = JSON.parse(JSON.stringify(snapshot.state)) as [unknown[], unknown];
    const [, counters, ...more] = state[0];
    state[0] = [(counters as unknown[]).slice(0, 4), ...more];
    const older = createEngine(planOf(program), host);
    older.restore({ ...snapshot, state: state as never });
    expect(seen(older)).toEqual({ eventsLate: 0, eventsUnread: 0, eventsUntimed: 0, unreadTypes: [], time: 60_000 });
  });

  it('names a hundred types, and counts the events of all', () => {
    const engine = createEngine(planOf(program), host);
    for (let n = 0; n < 150; n++) engine.push(event(`T${n}`, n));
    expect([engine.counters().eventsUnread, engine.counters().unreadTypes.size]).toEqual([150, 100]);
  });
});

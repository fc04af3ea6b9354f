import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Value } from '../../../shared/events/value.ts';
import { limits } from '../../../shared/limits.ts';
import type { LookupRequest } from '../../../worker/engine/engine.ts';
import { RequestReader } from '../../../worker/runtime/requests/request-reader.ts';
import { Heartbeat } from '../../../worker/runtime/threads/heartbeat.ts';
import type { RecordResult, SaveReply } from '../../../worker/runtime/threads/messages.ts';
import { fullResult } from '../../../worker/runtime/threads/record-outcome.ts';
import { Slot } from '../../../worker/runtime/threads/slot.ts';

const began = 1_700_000_000_000;

interface Question {
  readonly request: LookupRequest;
  readonly answer: () => void;
}

interface Given {
  readonly event_type: string;
  readonly fields: Readonly<Record<string, string | number | null>>;
  readonly timestamp?: number;
}

/** Depends on what is asked alone; some keys are never found. */
function found({ key }: LookupRequest): Value | undefined {
  return key === 'c' || key === 7 ? undefined : new Map<string, Value>([['name', `n${key}`] as const, ['other', 1] as const]);
}

/** A program on its thread, whose look-ups are answered when the test says so. */
class Run {
  readonly slot: Slot;
  readonly results: RecordResult[] = [];
  readonly open: Question[] = [];
  #sequence = 0;

  private constructor() {
    this.slot = new Slot(1, {
      reader: new RequestReader(),
      heartbeat: new Heartbeat(),
      result: (_slot, result) => this.results.push({ ...('slot' in result ? result : fullResult(result)), durationUs: 0, restMs: 0 }),
      lookup: (_slot, request) =>
        new Promise((resolve, reject) => {
          const value = found(request);
          this.open.push({ request, answer: () => (value === undefined ? reject(new Error('nothing')) : resolve(value)) });
        }),
    });
  }

  static async of(source: string): Promise<Run> {
    const run = new Run();
    const program = { source, files: {} };
    const folder = { path: '.', refused: [] };
    await run.slot.answer({ kind: 'load', id: 1, slot: 1, program, folder, strictEvents: false, isWatched: false, state: null });
    return run;
  }

  /** Null: a tick. */
  take(events: readonly Given[] | null, time: number): void {
    const body = events === null ? null : Buffer.from(JSON.stringify({ events }));
    const record = { slot: 1, sequence: ++this.#sequence, timeField: null, time, outputsMax: 1_000, skip: [] };
    this.slot.take({ ...record, length: body?.length ?? -1, format: body === null ? null : 'batch' }, body);
  }

  async answer(position = 0): Promise<void> {
    this.open.splice(position, 1)[0]?.answer();
    await nextTurn();
  }

  async answerAll(): Promise<void> {
    while (this.open.length > 0) await this.answer();
  }

  /** Resolves with what everything taken before it has left. */
  state(): Promise<string> {
    return new Promise((resolve) => {
      this.slot.schedule(() => {
        resolve(Buffer.from((this.slot.answer({ kind: 'save', id: 2, slot: 1 }) as SaveReply).state).toString());
      });
    });
  }

  get answered(): readonly number[] {
    return this.results.map(({ sequence }) => sequence);
  }
}

const head = `event Tick:
    k: str?
    v: int

event Other:
    v: int

connector Names = http (url: "http://localhost:1")

`;
const known = 'stream S = Tick.enrich(Names, key: k, fields: [name], fallback: "?").emit(k, v, name)\n';
const tick = (k: string, v = 0): Given => ({ event_type: 'Tick', fields: { k, v } });
const each = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `k${at}`);

describe('records that come while rows of others wait for look-ups', () => {
  it('come in, and give their results in order', async () => {
    const run = await Run.of(head + known);
    for (const [at, k] of each(30).entries()) run.take([tick(k)], began + at);
    expect(run.open.map(({ request }) => request.key)).toEqual(each(30));
    for (let left = 29; left > 0; left--) await run.answer(left);
    expect(run.answered).toEqual([]);
    await run.answer();
    expect(run.results.map(({ sequence, outputs }) => [sequence, outputs.fields])).toEqual(
      each(30).map((k, at) => [at + 1, [JSON.stringify({ k, v: 0, name: `n${k}` })]]),
    );
  });

  it('come in while no more look-ups are under way than may be', async () => {
    const run = await Run.of(head + known);
    for (const [at, k] of each(70).entries()) run.take([tick(k)], began + at);
    expect(run.open).toHaveLength(limits.enrichLookupsDefault);
    await run.answer(40);
    expect(run.open.map(({ request }) => request.key)).toContain('k64');
    expect(run.open).toHaveLength(limits.enrichLookupsDefault);
    await run.answerAll();
    expect(run.answered).toEqual(each(70).map((_, at) => at + 1));
  });

  it('give what does not wait with their own results', async () => {
    const run = await Run.of(`${head}${known}stream O = Other.emit(v)\n`);
    run.take([tick('a')], began);
    run.take([{ event_type: 'Other', fields: { v: 1 } }], began + 1);
    run.take(null, began + 2);
    await run.answerAll();
    expect(run.results.map(({ outputs }) => outputs.fields)).toEqual([['{"k":"a","v":0,"name":"na"}'], ['{"v":1}'], []]);
  });

  it('are waited for by what is asked of the pipeline, which later ones do not overtake', async () => {
    const run = await Run.of(head + known);
    run.take([tick('a')], began);
    run.take([tick('b')], began + 1);
    const state = vi.fn();
    void run.state().then(state);
    run.take([tick('d')], began + 2);
    expect(run.open).toHaveLength(2);
    await run.answer(1);
    expect(state).not.toHaveBeenCalled();
    await run.answer();
    expect(state).toHaveBeenCalledOnce();
    expect(run.open.map(({ request }) => request.key)).toEqual(['d']);
    await run.answerAll();
    expect(run.answered).toEqual([1, 2, 3]);
  });

  it.each([
    ['a join with what does not wait', 'stream J = join(S, Other).on(S.v == Other.v).window(10s).emit(v: S.v)\n'],
    ['a sequence with what does not wait', 'stream P = S as s -> Other as o .within(10s).emit(v: o.v)\n'],
    ['a merge of two that wait', 'stream R = Tick.enrich(Names, key: v, fields: [name], fallback: "?")\nstream M = merge(S, R).emit(v)\n'],
    ['a variable', 'var count = 0\nstream O = Other.emit(v: count)\n'],
    [
      'a wait in one branch',
      'stream F = Tick.fork(one: .enrich(Names, key: k, fields: [name], fallback: "?"), two: .where(v > 0)).emit(v)\n',
    ],
  ])('come one after the other where rows meet others behind their wait: %s', async (_, streams) => {
    const run = await Run.of(head + known + streams);
    run.take([tick('a')], began);
    const asked = run.open.length;
    run.take([tick('b')], began + 1);
    expect(run.open).toHaveLength(asked);
    await run.answerAll();
    expect(run.answered).toEqual([1, 2]);
  });
});

const program = `${head}
stream S = Tick.enrich(Names, key: k, fields: [name], cache_ttl: 5s, fallback: "?").emit(k, v, name, s: enrich_status)
stream W = S.window(4s).aggregate(n: count(), last: last(name)).emit(n, last)
stream P = S as a -> S as b where b.name == a.name .within(6s).emit(a: a.v, b: b.v)
stream A = S as a -> NOT S as b where b.v == a.v within 3s .emit(v: a.v)
stream Two = Tick.where(v % 2 == 0).enrich(Names, key: k, fields: [name]).where(v > 1).enrich(Names, key: v, fields: [other]).window(3s).aggregate(n: count()).emit(n)
stream Three = Tick.window(3s).enrich(Names, key: v, fields: [other], fallback: 0).order_by(v desc).limit(2).emit(v, other)
stream Next = Two.enrich(Names, key: n, fields: [name], fallback: "?").window(5s).aggregate(n: count()).emit(n)
stream Plain = Other.window(2s).aggregate(n: count()).emit(n)
`;

/** Its events may be late for several streams: at once, and behind look-ups. */
const late = `${head}
stream Soon = Tick.window(1s).aggregate(n: count()).emit(n)
stream S = Tick.enrich(Names, key: k, fields: [name], cache_ttl: 5s, fallback: "?").emit(k, v, name)
stream W = S.window(2s).aggregate(n: count()).emit(n)
stream Two = S.enrich(Names, key: v, fields: [other], fallback: 0).window(3s).aggregate(n: count()).emit(n)
stream Plain = Other.window(2s).aggregate(n: count()).emit(n)
`;

/** A record, and by how much later it comes: events of the two types with a key each, or a tick. */
const records = fc.array(
  fc.record({
    gap: fc.integer({ min: 0, max: 2_500 }),
    /** By how much its events happened before it comes, where they may be late. */
    ago: fc.integer({ min: 0, max: 6_000 }),
    keys: fc.option(fc.array(fc.constantFrom('a', 'b', 'c', null, 'other'), { maxLength: 3 })),
  }),
  { maxLength: 25 },
);
/** Which of the open questions is answered next, and when: consumed one by one, then 0. */
const choices = fc.array(fc.nat(1_000), { maxLength: 120 });

/**
 * Streams that do not follow one another come in an order of their own. A question that a record before has open already is not asked again:
 * which of them looked up is no matter, as whatever is said behind the first one that did waits like it.
 */
function byStream({ outputs, isLookedUp: _which, ...rest }: RecordResult): unknown {
  const streams: Record<string, unknown[]> = {};
  outputs.stream.forEach((stream, at) => {
    streams[stream] ??= [];
    streams[stream].push([outputs.time[at], outputs.type[at], outputs.ordinal[at], outputs.fields[at]]);
  });
  return { ...rest, streams };
}

it.each([
  ['events are in order', program, false],
  ['events are late', late, true],
])(
  'gives each record the same results, whenever and in whatever order answers come, and leaves the same state, where %s',
  async (_, text, isLate) => {
    await fc.assert(
      fc.asyncProperty(records, choices, fc.boolean(), async (given, picks, isTimed) => {
        const [atOnce, later] = [await Run.of(text), await Run.of(text)];
        let [v, time, at] = [0, began, 0];
        const pick = (): number => picks[at++] ?? 0;
        const answerOne = (): Promise<void> => later.answer(pick() % later.open.length);
        for (const { gap, ago, keys } of given) {
          time += gap;
          const timestamp = isTimed ? { timestamp: time - (isLate ? ago : 0) } : {};
          const events = keys?.map(
            (k): Given =>
              k === 'other'
                ? { event_type: 'Other', fields: { v }, ...timestamp }
                : { event_type: 'Tick', fields: { k, v: v++ }, ...timestamp },
          );
          atOnce.take(events ?? null, time);
          await atOnce.answerAll();
          later.take(events ?? null, time);
          while (later.open.length > 0 && pick() % 3 > 1) await answerOne();
        }
        const state = later.state();
        while (later.open.length > 0) await answerOne();
        expect(later.results.map(byStream)).toEqual(atOnce.results.map(byStream));
        expect(JSON.parse(await state)).toEqual(JSON.parse(await atOnce.state()));
      }),
      { numRuns: 60 },
    );
  },
);

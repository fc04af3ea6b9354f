import { describe, expect, it } from 'vitest';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import { type EngineRun, inputEvent, start } from '../support/engine-run.ts';

const hourMs = 3_600_000;

function run(text: string): EngineRun {
  const { plan, diagnostics } = check(new SourceText('p.vpl', text));
  if (plan === null) throw new Error(JSON.stringify(diagnostics));
  return start(plan);
}

const at = (seconds: number) => ({ at: 1_700_000_000_000 + 1_000 * seconds });
const silent = (ms: number, source = 'input'): ReadonlyMap<string, number> => new Map([[source, ms]]);

describe('silence', () => {
  it('closes windows by a field where nothing else says a time', () => {
    const program = run('stream W = A.watermark(on: at).window(10s).aggregate(n: count()).emit(n: n)\n');
    program.push('A', 7 * hourMs, { at: 1_700_000_000_000 });
    program.engine.advance(7 * hourMs + 60_000);
    expect(program.taken()).toEqual([]);
    program.engine.passSilence(silent(9_000));
    expect(program.taken()).toEqual([]);
    program.engine.passSilence(silent(10_000));
    expect(program.taken()).toEqual(['W@1700000009999 {"n":1}']);
  });

  it('leaves the time of a field behind that of its events by as much as it was', () => {
    const program = run('stream W = A.watermark(on: at).window(10s).aggregate(n: count()).emit(n: n)\n');
    const event = (own: number, at: number): void => {
      program.engine.push({ ...inputEvent('A', own, { at }), timestamp: own });
    };
    event(hourMs, 1_700_000_000_000);
    program.engine.passSilence(silent(5_000));
    event(hourMs + 5_000, 1_700_000_005_000);
    expect(program.engine.counters().eventsLate).toBe(0);
    program.engine.passSilence(silent(5_000));
    expect(program.taken()).toEqual(['W@1700000009999 {"n":2}']);
  });

  it('goes on from the newest event, and not from where earlier silence has come to', () => {
    const program = run('stream W = A.watermark(on: at).window(10s).aggregate(n: count()).emit(n: n)\n');
    program.push('A', 0, { at: 1_700_000_000_000 });
    program.engine.passSilence(silent(32_000));
    expect(program.taken()).toEqual(['W@1700000009999 {"n":1}']);
    program.push('A', 0, { at: 1_700_000_031_000 });
    program.engine.passSilence(silent(8_900));
    expect(program.taken()).toEqual([]);
    program.engine.passSilence(silent(9_000));
    expect(program.taken()).toEqual(['W@1700000039999 {"n":1}']);
  });

  it('leaves a source alone that follows arrivals', () => {
    const program = run('stream W = A.window(10s).aggregate(n: count()).emit(n: n)\n');
    program.push('A', 1_700_000_000_000, {});
    program.engine.passSilence(silent(60_000));
    expect(program.taken()).toEqual([]);
  });

  it('of one of two sources moves nothing that both are behind', () => {
    const text = [
      'connector K = mqtt(url: "mqtt://127.0.0.1")',
      'event A:\n    at: int',
      'event B:\n    at: int',
      'stream FromA = A.from(K, topic: "a").emit(at: at)',
      'stream FromB = B.from(K, topic: "b").emit(at: at)',
      'stream Both = merge(FromA, FromB).watermark(on: at).window(10s).aggregate(n: count()).emit(n: n)',
      '',
    ].join('\n');
    const program = run(text);
    const sources = [
      ...new Set(
        check(new SourceText('p.vpl', text))
          .plan?.sources.slice(1)
          .map(({ id }) => id),
      ),
    ] as [string, string];
    program.push('A', 1, { at: 1_700_000_000_000 }, sources[0]);
    program.push('B', 1, { at: 1_700_000_001_000 }, sources[1]);
    program.taken();
    program.engine.passSilence(silent(60_000, sources[0]));
    expect(program.taken()).toEqual([]);
    program.engine.passSilence(
      new Map([
        [sources[0], 60_000],
        [sources[1], 9_000],
      ]),
    );
    expect(program.taken()).toEqual(['Both@1700000009999 {"n":2}']);
  });

  const bound = [
    'connector K = mqtt(url: "mqtt://127.0.0.1")',
    'event A:\n    at: timestamp',
    'stream W = A.from(K, topic: "a").window(10s).aggregate(n: count()).emit(n: n)',
    '',
  ].join('\n');

  it('of a broker partition lets time go on without it, until it speaks again', () => {
    const program = run(bound);
    program.push('A', 1, at(1), 'K/a#0');
    program.push('A', 1, at(2), 'K/a#1');
    program.push('A', 1, at(12), 'K/a#0');
    expect(program.taken()).toEqual([]);
    program.engine.passSilence(new Map(), new Map([['K/a', ['1']]]));
    expect(program.taken()).toEqual(['W@1700000009999 {"n":2}']);
    program.push('A', 1, at(13), 'K/a#1');
    program.push('A', 1, at(25), 'K/a#0');
    expect(program.taken()).toEqual([]);
    program.push('A', 1, at(21), 'K/a#1');
    expect(program.taken()).toEqual(['W@1700000019999 {"n":2}']);
    expect(program.engine.counters().eventsLate).toBe(0);
  });

  it('of all partitions lets time go on from the furthest', () => {
    const program = run(bound);
    program.push('A', 1, at(9), 'K/a#0');
    program.push('A', 1, at(2), 'K/a#1');
    program.engine.passSilence(silent(1_000, 'K/a'), new Map([['K/a', ['0', '1']]]));
    expect(program.taken()).toEqual(['W@1700000009999 {"n":2}']);
  });

  it('of one partition behind the other lets time go on from the furthest, whichever was the first to be idle', () => {
    const program = run(bound);
    program.push('A', 1, at(2), 'K/a#1');
    program.push('A', 1, at(35), 'K/a#0');
    program.engine.passSilence(new Map(), new Map([['K/a', ['0']]]));
    expect(program.taken()).toEqual([]);
    program.push('A', 1, at(12), 'K/a#1');
    expect(program.taken()).toEqual(['W@1700000009999 {"n":1}']);
    program.engine.passSilence(new Map(), new Map([['K/a', ['0', '1']]]));
    expect(program.taken()).toEqual(['W@1700000019999 {"n":1}']);
    program.push('A', 1, at(41), 'K/a#1');
    expect(program.taken()).toEqual(['W@1700000039999 {"n":1}']);
  });

  it('of a partition ahead of the others holds them no more once they have passed it', () => {
    const program = run(bound);
    const idle = (): void => program.engine.passSilence(new Map(), new Map([['K/a', ['0']]]));
    program.push('A', 1, at(9), 'K/a#0');
    program.push('A', 1, at(2), 'K/a#1');
    idle();
    program.push('A', 1, at(12), 'K/a#1');
    expect(program.taken()).toEqual([]);
    idle();
    expect(program.taken()).toEqual(['W@1700000009999 {"n":2}']);
    expect(program.engine.counters().eventsLate).toBe(0);
  });

  it('does not begin before the partitions are read of which events are on their way', () => {
    const program = run(bound);
    program.engine.awaitPartitions('K/a', ['0', '1']);
    for (const seconds of [1, 12, 23]) program.push('A', 1, at(seconds), 'K/a#0');
    const restored = run(bound);
    restored.engine.restore(JSON.parse(JSON.stringify(program.engine.snapshot())));
    for (const one of [program, restored]) {
      expect(one.taken()).toEqual([]);
      for (const seconds of [2, 13, 24]) one.push('A', 1, at(seconds), 'K/a#1');
      expect(one.taken()).toEqual(['W@1700000009999 {"n":2}', 'W@1700000019999 {"n":2}']);
      expect(one.engine.counters().eventsLate).toBe(0);
    }
  });

  it('of a source that has given nothing yet lets it follow the others', () => {
    const program = run(`${bound}stream V = A.from(K, topic: "b").where(false).emit(at: at)\n`);
    program.push('A', 1, at(1), 'K/a');
    program.push('A', 1, at(12), 'K/a');
    expect(program.taken()).toEqual([]);
    program.engine.passSilence(silent(30_000, 'K/b'));
    expect(program.taken()).toEqual(['W@1700000009999 {"n":1}']);
    program.push('A', 1, at(23), 'K/a');
    expect(program.taken()).toEqual([]);
    program.push('A', 1, at(14), 'K/b');
    expect(program.taken()).toEqual([]);
    program.push('A', 1, at(22), 'K/b');
    expect(program.taken()).toEqual(['W@1700000019999 {"n":2}']);
    expect(program.engine.counters().eventsLate).toBe(0);
  });

  it('of a source that has given nothing yet does not make it follow those that no stream reads beside it', () => {
    const program = run(`${bound}event B:\n    at: timestamp\nstream V = B.window(10s).aggregate(n: count()).emit(n: n)\n`);
    program.push('B', 1, at(60));
    program.engine.passSilence(silent(30_000, 'K/a'));
    program.push('A', 1, at(1), 'K/a');
    program.push('A', 1, at(12), 'K/a');
    expect(program.taken()).toEqual(['W@1700000009999 {"n":1}']);
    expect(program.engine.counters().eventsLate).toBe(0);
  });

  it('is the same behind a restart', () => {
    const text = 'stream W = A.watermark(on: at).window(10s).aggregate(n: count()).emit(n: n)\n';
    const before = run(text);
    before.push('A', 0, { at: 1_700_000_000_000 });
    before.engine.passSilence(silent(32_000));
    before.push('A', 0, { at: 1_700_000_031_000 });
    const saved = JSON.parse(JSON.stringify(before.engine.snapshot()));
    const outputs: number[] = [];
    const { plan } = check(new SourceText('p.vpl', text));
    const after = createEngine(plan as NonNullable<typeof plan>, { output: ({ time }) => outputs.push(time) });
    after.restore(saved);
    after.passSilence(silent(8_900));
    expect(outputs).toEqual([]);
    after.passSilence(silent(9_000));
    expect(outputs).toEqual([1_700_000_039_999]);
  });
});

describe('an event that comes through the binding of another type', () => {
  const text = [
    'connector K = mqtt(url: "mqtt://127.0.0.1")',
    'event A:\n    at: timestamp',
    'event B:\n    at: timestamp',
    'stream OfA = A.from(K, topic: "a").window(10s).aggregate(n: count()).emit(n: n)',
    'stream OfB = B.window(10s).aggregate(n: count()).emit(n: n)',
    '',
  ].join('\n');

  it('moves the time of that, and that of streams which read its own type from nowhere else', () => {
    const program = run(text);
    program.push('A', 1, at(1), 'K/a');
    program.push('B', 1, at(2), 'K/a');
    program.push('B', 1, at(12), 'K/a');
    expect(program.taken().sort()).toEqual(['OfA@1700000009999 {"n":1}', 'OfB@1700000009999 {"n":1}']);
  });

  it('leaves the time of the binding alone when it comes from elsewhere', () => {
    const program = run(text);
    program.push('A', 1, at(1), 'K/a');
    program.push('B', 1, at(2));
    program.push('B', 1, at(12));
    expect(program.taken()).toEqual(['OfB@1700000009999 {"n":1}']);
  });

  describe('leads a binding', () => {
    const byA = [
      'connector K = mqtt(url: "mqtt://127.0.0.1")',
      'event A:\n    at: timestamp',
      'event B:\n    at: timestamp',
      'stream OfA = A.from(K, topic: "a").window(10s).aggregate(n: count()).emit(n: n)',
      'stream OfB = B.from(K, topic: "b").window(10s).aggregate(n: count()).emit(n: n)',
      '',
    ].join('\n');
    const byField = byA
      .replace('"a").window', '"a").watermark(on: seen).window')
      .replace('at: timestamp', 'at: timestamp\n    seen: timestamp');
    const seen = (seconds: number) => ({ ...at(seconds), seen: at(seconds).at });

    /** Also where the engine goes on from a checkpoint before each event. */
    function outputsOf(
      text: string,
      events: readonly (readonly [seconds: number, source: string] | 'silence')[],
      restarts: boolean,
    ): unknown {
      let program = run(text);
      const outputs: string[] = [];
      let late = 0;
      const take = (): void => {
        outputs.push(...program.taken());
        late = program.engine.counters().eventsLate;
      };
      for (const event of events) {
        if (event === 'silence')
          program.engine.passSilence(
            new Map([
              ['K/a', 1],
              ['$field seen K/a', 1],
            ]),
          );
        else program.push('A', 1, text === byField ? seen(event[0]) : at(event[0]), event[1]);
        if (!restarts) continue;
        take();
        const saved = JSON.parse(JSON.stringify(program.engine.snapshot()));
        program = run(text);
        program.engine.restore(saved);
      }
      take();
      return { outputs, late };
    }

    it.each([
      ['its own time', byA, false],
      ['its own time, restored', byA, true],
      ['the time of a field', byField, false],
      ['the time of a field, restored', byField, true],
    ])('until one comes through that, also one behind: %s', (_, program, restarts) => {
      expect(
        outputsOf(
          program,
          [
            [11, 'K/b'],
            [5, 'K/a'],
            [50, 'K/b'],
            [12, 'K/a'],
            [21, 'K/a'],
          ],
          restarts,
        ),
      ).toEqual({
        outputs: ['OfA@1700000019999 {"n":2}'],
        late: 1,
      });
    });

    it.each([false, true])('and again once that is silent (restored: %s)', (restarts) => {
      const { outputs } = outputsOf(byA, [[11, 'K/b'], [5, 'K/a'], 'silence', [21, 'K/b']], restarts) as { outputs: string[] };
      expect(outputs).toEqual(['OfA@1700000019999 {"n":1}']);
    });
  });
});

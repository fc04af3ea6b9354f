import { describe, expect, test } from 'vitest';
import { planOf } from '../../../scenarios/run-program.ts';
import { type EngineRun, start } from '../support/engine-run.ts';

function run(program: string): EngineRun {
  return start(planOf(program));
}

describe('a window', () => {
  test('of more events than a call has arguments gives its bounds', () => {
    const { engine, push, outputs } = run(
      'stream W = X.window(130000, sliding: 130000).aggregate(n: count()).emit(n: n, s: window_start, e: window_end)\n',
    );
    for (let at = 0; at < 130_000; at++) push('X', at);
    engine.end();
    expect(outputs).toEqual(['W@129999 {"n":130000,"s":0,"e":129999}']);
  });

  test('that cannot be evaluated at the end of input does not take the others with it', () => {
    const { engine, push, outputs, logs } = run(
      'stream W = X.partition_by(k).window(5).aggregate(word: last(v)).emit(k: k, twice: word * 2)\nstream T = X.partition_by(k).window(1s).aggregate(twice: last(v) * 2).emit(k: k, twice: twice)\n',
    );
    push('X', 0, { k: 'a', v: 'one' });
    push('X', 1, { k: 'b', v: 2 });
    push('X', 2, { k: 'c', v: 'three' });
    push('X', 3, { k: 'd', v: 4 });
    engine.end();
    expect(outputs).toEqual([
      'W@1 {"k":"b","twice":4}',
      'W@3 {"k":"d","twice":8}',
      'T@999 {"k":"b","twice":4}',
      'T@999 {"k":"d","twice":8}',
    ]);
    expect(logs.filter(({ kind }) => kind === 'failure')).toHaveLength(4);
  });

  test('that lies before the epoch is aligned to it', () => {
    const { engine, push, outputs } = run('stream W = X.window(10s, sliding: 5s).aggregate(n: count()).emit(n: n, s: window_start)\n');
    push('X', -1);
    engine.end();
    expect(outputs).toEqual(['W@-1 {"n":1,"s":-10000}', 'W@4999 {"n":1,"s":-5000}']);
  });

  test('closes far beyond the times at which doubles hold fractions', () => {
    const { engine, push, outputs } = run(
      'stream S = X.partition_by(k, expire: 1h).window(session: 5s).aggregate(n: count()).emit(n: n)\nstream J = left_join(X, Y).on(X.k == Y.k).window(5s).emit(x: X.k, y: Y.k)\n',
    );
    const farMs = Date.UTC(9999, 11, 31);
    push('X', farMs, { k: 'a' });
    push('X', farMs + 5_000, { k: 'a' });
    push('Y', farMs + 5_000, { k: 'a' });
    push('X', farMs + 10_001, { k: 'a' });
    engine.end();
    expect(outputs).toEqual([
      `J@${farMs + 5_000} {"x":"a","y":"a"}`,
      `J@${farMs + 5_000} {"x":"a","y":"a"}`,
      `S@${farMs + 9_999} {"n":2}`,
      `S@${farMs + 15_000} {"n":1}`,
      `J@${farMs + 15_001} {"x":"a","y":null}`,
    ]);
  });

  test('result that time made comes behind the events before it: it counts as the last of its time', () => {
    const { engine, push, outputs } = run(
      'stream W = X.partition_by(k).window(10ms).aggregate(n: count())\nstream P = W+ as w -> Y as y .emit(last: w.k, by_time: last(w).k, n: sum(w.n))\n',
    );
    push('X', 0, { k: 'a' });
    push('X', 1, { k: 'b' });
    push('X', 2, { k: 'a' });
    push('X', 30, { k: 'c' });
    push('Y', 31);
    engine.end();
    expect(outputs[0]).toBe('P@31 {"last":"b","by_time":"b","n":3}');
  });
});

import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import type { LogEntry } from '../../../../worker/engine/engine.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { inputEvent, outputText } from '../support/engine-run.ts';
import { AskingRun, failed, found } from './asking-run.ts';

const head = `event Tick:
    k: str?
    at: timestamp

connector Names = http (url: "http://localhost:1")

`;
const program = (operators: string, rest = ''): string => `${head}stream S = Tick${operators}\n${rest}`;
const plain = program('.enrich(Names, key: k, fields: [name]).emit(k, name, s: enrich_status, ms: enrich_latency_ms)');

describe('a row that is enriched', () => {
  it('waits for its look-up and gets the fields asked for', () => {
    const run = new AskingRun(plain);
    run.push('Tick', 1, { k: 'a' });
    expect(run.outputs).toEqual([]);
    expect(run.open).toEqual([{ id: 1, stream: 'S', connector: 'Names', key: 'a', fields: ['name'], timeoutMs: 5000 }]);
    expect(run.engine.counters().streams.get('S')?.rowsWaiting).toBe(1);
    run.answer(0, found({ name: 'Ann', age: 4 }));
    expect(run.outputs).toEqual(['S@1 {"k":"a","name":"Ann","s":"ok","ms":3}']);
    expect(run.engine.counters().streams.get('S')?.rowsWaiting).toBe(0);
    expect(run.engine.counters().questionsOpen).toBe(0);
  });

  it('leaves in the order in which it came, whatever the order of the answers', () => {
    const run = new AskingRun(plain);
    for (const [time, k] of [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ] as const)
      run.push('Tick', time, { k });
    run.answer(2, found({ name: 'C' }));
    run.answer(1, found({ name: 'B' }));
    expect(run.taken()).toEqual([]);
    run.answer(0, found({ name: 'A' }));
    expect(run.taken().map((text) => text.slice(0, 3))).toEqual(['S@1', 'S@2', 'S@3']);
  });

  it('passes at once when the host knows the answer at once', () => {
    const run = new AskingRun(plain, { atOnce: () => ({ result: found({ name: 'A' }), latencyMs: null }) });
    run.push('Tick', 1, { k: 'a' });
    expect(run.outputs).toEqual(['S@1 {"k":"a","name":"A","s":"ok","ms":null}']);
  });

  it('has null for a field that the answer has not, and all fields when none is named', () => {
    const run = new AskingRun(program('.enrich(Names, key: k, fields: [name, age]).emit()'));
    run.push('Tick', 1, { k: 'a' });
    run.answer(0, found({ name: 'A' }));
    const all = new AskingRun(program('.enrich(Names, key: k).emit()'));
    all.push('Tick', 1, { k: 'a' });
    all.answer(0, found({ x: 1, y: 2 }));
    expect([...run.outputs, ...all.outputs]).toEqual([
      'S@1 {"k":"a","at":null,"name":"A","age":null}',
      'S@1 {"k":"a","at":null,"x":1,"y":2}',
    ]);
  });

  it('takes an answer that is no map for the one field named', () => {
    const run = new AskingRun(plain);
    run.push('Tick', 1, { k: 'a' });
    run.answer(0, { status: 'ok', value: 'Ann' });
    expect(run.outputs).toEqual(['S@1 {"k":"a","name":"Ann","s":"ok","ms":3}']);
  });

  it('is answered once: a second answer and an unknown number change nothing', () => {
    const run = new AskingRun(plain);
    run.push('Tick', 1, { k: 'a' });
    expect(run.engine.answer({ id: 7, result: failed, latencyMs: 1 })).toBe(false);
    expect(run.engine.answer({ id: 1, result: found({ name: 'A' }), latencyMs: 1 })).toBe(true);
    expect(run.engine.answer({ id: 1, result: found({ name: 'B' }), latencyMs: 1 })).toBe(false);
    expect(run.outputs).toHaveLength(1);
  });
});

describe('a look-up that fails', () => {
  it('goes to on_error: the row is dropped and counted, those behind it pass', () => {
    const run = new AskingRun(plain);
    run.push('Tick', 1, { k: 'a' });
    run.push('Tick', 2, { k: 'b' });
    run.answer(1, found({ name: 'B' }));
    run.answer(0, failed);
    expect(run.outputs).toEqual(['S@2 {"k":"b","name":"B","s":"ok","ms":3}']);
    expect(run.engine.counters().streams.get('S')?.failures).toBe(1);
    expect(run.logs.map(({ message }) => message)).toEqual([expect.stringContaining('look-up of a in Names: not found')]);
  });

  it('gives the fallback, a map by field and any other value for every field', () => {
    const map = new AskingRun(
      program('.enrich(Names, key: k, fields: [name, age], fallback: {name: "?"}).emit(name, age, s: enrich_status)'),
    );
    const one = new AskingRun(program('.enrich(Names, key: k, fields: [name, age], fallback: k).emit(name, age, s: enrich_status)'));
    for (const run of [map, one]) {
      run.push('Tick', 1, { k: 'a' });
      run.answer(0, { status: 'timeout' });
    }
    expect(map.outputs).toEqual(['S@1 {"name":"?","age":null,"s":"fallback"}']);
    expect(one.outputs).toEqual(['S@1 {"name":"a","age":"a","s":"fallback"}']);
  });

  it('goes on with nulls under on_error(null) and says whether it was an error or too slow', () => {
    const run = new AskingRun(program('.enrich(Names, key: k, fields: [name]).on_error(null).emit(name, s: enrich_status)'));
    run.push('Tick', 1, { k: 'a' });
    run.push('Tick', 2, { k: 'b' });
    run.answer(0, { status: 'timeout' });
    run.answer(0, failed);
    expect(run.outputs).toEqual(['S@1 {"name":null,"s":"timeout"}', 'S@2 {"name":null,"s":"error"}']);
  });

  it('goes to the dead letters under on_error(dlq), in order', () => {
    const run = new AskingRun(program('.enrich(Names, key: k, fields: [name]).on_error(dlq)'));
    run.push('Tick', 1, { k: 'a' });
    run.push('Tick', 2, { k: 'b' });
    run.answer(1, failed);
    expect(run.deadLetters).toEqual([]);
    run.answer(0, { status: 'timeout' });
    expect(run.deadLetters.map((text) => text.slice(-40))).toEqual([
      expect.stringContaining('look-up of a in Names: no answer in time'),
      expect.stringContaining('look-up of b in Names: not found'),
    ]);
  });

  it('fails without a question when the key is null', () => {
    const run = new AskingRun(program('.enrich(Names, key: k, fields: [name], fallback: "none").emit(name, s: enrich_status)'));
    run.push('Tick', 1);
    expect(run.asked).toEqual([]);
    expect(run.outputs).toEqual(['S@1 {"name":"none","s":"fallback"}']);
  });
});

describe('the cache', () => {
  const cached = program('.enrich(Names, key: k, fields: [name], cache_ttl: 10s).emit(k, name, s: enrich_status, ms: enrich_latency_ms)');

  it('answers for rows less than cache_ttl of event time later, with a latency of 0', () => {
    const run = new AskingRun(cached);
    run.push('Tick', 0, { k: 'a' });
    run.answer(0, found({ name: 'A' }));
    run.push('Tick', 9_999, { k: 'a' });
    run.push('Tick', 10_000, { k: 'a' });
    expect(run.asked).toEqual(['a', 'a']);
    expect(run.outputs.slice(0, 2)).toEqual([
      'S@0 {"k":"a","name":"A","s":"ok","ms":3}',
      'S@9999 {"k":"a","name":"A","s":"cached","ms":0}',
    ]);
  });

  it('asks once for rows that want the same while the look-up is under way', () => {
    const run = new AskingRun(cached);
    for (const time of [1, 2, 3]) run.push('Tick', time, { k: 'a' });
    expect(run.asked).toEqual(['a']);
    run.answer(0, found({ name: 'A' }));
    expect(run.outputs.map((text) => text.replace(/.*"s":"(\w+)".*/, '$1'))).toEqual(['ok', 'cached', 'cached']);
  });

  it('keeps no failure: the next row asks again', () => {
    const run = new AskingRun(cached);
    for (const time of [1, 2, 3]) run.push('Tick', time, { k: 'a' });
    run.answer(0, failed);
    run.answer(0, found({ name: 'A' }));
    expect(run.asked).toEqual(['a', 'a']);
    expect(run.outputs.map((text) => text.replace(/.*"s":"(\w+)".*/, '$1'))).toEqual(['ok', 'cached']);
  });

  it('has no answer in time for any row that waits for the same look-up: none of them waits for another one', () => {
    const run = new AskingRun(cached.replace('.emit(', '.on_error(null).emit('));
    for (const time of [1, 2, 3]) run.push('Tick', time, { k: 'a' });
    run.answer(0, { status: 'timeout' });
    expect(run.asked).toEqual(['a']);
    run.push('Tick', 4, { k: 'a' });
    expect(run.asked).toEqual(['a', 'a']);
    run.answer(0, found({ name: 'A' }));
    expect(run.outputs.map((text) => text.replace(/.*"s":"(\w+)".*/, '$1'))).toEqual(['timeout', 'timeout', 'timeout', 'ok']);
  });

  it('is not there without cache_ttl', () => {
    const run = new AskingRun(plain);
    for (const time of [1, 2]) run.push('Tick', time, { k: 'a' });
    expect(run.asked).toEqual(['a', 'a']);
  });
});

describe('time behind a row that waits', () => {
  const counted = program(
    '.enrich(Names, key: k, fields: [name]).window(10s).aggregate(n: count(), first: first(name)).emit(n, first)',
    'stream Then = S.window(1m).aggregate(all: sum(n)).emit(all)\n',
  );

  it('stands still, so that an answer that takes long makes no row late', () => {
    const run = new AskingRun(counted);
    run.push('Tick', 9_000, { k: 'a' });
    run.push('Tick', 11_000, { k: 'b' });
    run.push('Tick', 70_000, { k: 'c' });
    run.answer(1, found({ name: 'B' }));
    expect(run.taken()).toEqual([]);
    run.answer(0, found({ name: 'A' }));
    expect(run.taken()).toEqual(['S@9999 {"n":1,"first":"A"}', 'S@19999 {"n":1,"first":"B"}', 'Then@59999 {"all":2}']);
    expect(run.engine.counters().streams.get('S')?.late).toBe(0);
  });

  it('reaches the end of the input when the last answer is there', () => {
    const run = new AskingRun(counted);
    run.push('Tick', 9_000, { k: 'a' });
    run.engine.end();
    expect(run.taken()).toEqual([]);
    run.answer(0, found({ name: 'A' }));
    expect(run.taken()).toEqual(['S@9999 {"n":1,"first":"A"}', 'Then@59999 {"all":1}']);
  });

  it('keeps the rows of a closed window together for what works per window', () => {
    const run = new AskingRun(program('.window(10s).enrich(Names, key: k, fields: [name]).order_by(name).limit(1).emit(name)'));
    run.push('Tick', 1_000, { k: 'a' });
    run.push('Tick', 2_000, { k: 'b' });
    run.push('Tick', 11_000, { k: 'c' });
    run.answer(1, found({ name: 'a' }));
    run.restart();
    run.answer(0, found({ name: 'z' }));
    expect(run.taken()).toEqual(['S@2000 {"name":"a"}']);
  });

  it('stands still in what stands in and behind a fork', () => {
    const run = new AskingRun(program('.fork(x: .enrich(Names, key: k, fields: [name]).window(10s).aggregate(n: count()).emit(n))'));
    run.push('Tick', 9_000, { k: 'a' });
    run.push('Tick', 11_000, { k: 'b' });
    run.answer(0, found({ name: 'A' }));
    expect(run.taken()).toEqual(['S@9999 {"n":1}']);
  });
});

describe('bounded concurrency', () => {
  it('asks 64 at a time, and goes on as answers come', () => {
    const run = new AskingRun(plain);
    for (let time = 1; time <= 100; time++) run.push('Tick', time, { k: `k${time}` });
    expect(run.open).toHaveLength(64);
    expect(run.engine.counters().streams.get('S')?.rowsWaiting).toBe(100);
    while (run.open.length > 0) run.answer(run.open.length - 1, found({ name: 'x' }));
    expect(run.outputs.map((text) => Number(/@(\d+)/.exec(text)?.[1]))).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  });
});

describe('a host that looks nothing up', () => {
  const start = (text: string) => {
    const outputs: string[] = [];
    const logs: LogEntry[] = [];
    const engine = createEngine(planOf(text), { output: (event) => outputs.push(outputText(event)), log: (entry) => logs.push(entry) });
    return { engine, outputs, logs };
  };

  it('gives the fallback at once and says so once', () => {
    const { engine, outputs, logs } = start(program('.enrich(Names, key: k, fields: [name], fallback: "?").emit(name, s: enrich_status)'));
    for (const time of [1, 2]) engine.push(inputEvent('Tick', time, { k: 'a' }));
    expect(outputs).toEqual(['S@1 {"name":"?","s":"fallback"}', 'S@2 {"name":"?","s":"fallback"}']);
    expect(logs.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn nothing is looked up in Names in this run: the fallback stands for every answer',
    ]);
  });

  it('fails every row without a fallback', () => {
    const { engine, outputs, logs } = start(plain);
    for (const time of [1, 2]) engine.push(inputEvent('Tick', time, { k: 'a' }));
    expect(outputs).toEqual([]);
    expect(logs.map(({ level }) => level)).toEqual(['warn', 'error', 'error']);
  });
});

describe('a checkpoint', () => {
  it('holds the rows that wait: what they wait for is asked again, under new numbers', () => {
    const run = new AskingRun(program('.enrich(Names, key: k, fields: [name], cache_ttl: 1m).emit(k, name, s: enrich_status)'));
    run.push('Tick', 1, { k: 'a' });
    run.push('Tick', 2, { k: 'b' });
    run.push('Tick', 3, { k: 'a' });
    run.answer(1, found({ name: 'B' }));
    run.restart();
    expect(run.open.map((question) => [question.id, 'key' in question && question.key])).toEqual([[3, 'a']]);
    expect(run.engine.counters().streams.get('S')?.rowsWaiting).toBe(3);
    run.answer(0, found({ name: 'A' }));
    run.push('Tick', 4, { k: 'b' });
    expect(run.taken()).toEqual([
      'S@1 {"k":"a","name":"A","s":"ok"}',
      'S@2 {"k":"b","name":"B","s":"ok"}',
      'S@3 {"k":"a","name":"A","s":"cached"}',
      'S@4 {"k":"b","name":"B","s":"cached"}',
    ]);
  });
});

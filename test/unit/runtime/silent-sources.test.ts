import { describe, expect, it } from 'vitest';
import type { Value } from '../../../shared/events/value.ts';
import type { DocumentEngine } from '../../../worker/runtime/programs/checkpoint-document.ts';
import { HostedEngine } from '../../../worker/runtime/threads/hosted-engine.ts';
import type { RecordSource } from '../../../worker/runtime/threads/messages.ts';
import { RecordOutcome } from '../../../worker/runtime/threads/record-outcome.ts';

const began = 1_700_000_000_000;

/** A program as its thread runs it, which gets a tick every tenth of a second. */
class Run {
  /** Windows that it has closed, and when. */
  readonly closed: (readonly [seconds: number, stream: string | undefined])[] = [];
  readonly #engine: HostedEngine;
  #now: number;

  private constructor(engine: HostedEngine, now: number) {
    this.#engine = engine;
    this.#now = now;
  }

  static async of(text: string): Promise<Run> {
    return new Run(await Run.#open(text), began);
  }

  /** In another process, at the same time. `change`: of what is saved. */
  async restarted(text: string, change: (saved: DocumentEngine) => DocumentEngine = (saved) => saved): Promise<Run> {
    const engine = await Run.#open(text);
    engine.load(change(JSON.parse(this.#engine.save())));
    return new Run(engine, this.#now);
  }

  static #open(text: string): Promise<HostedEngine> {
    const source = `connector K = mqtt(url: "mqtt://127.0.0.1")\n${text}`;
    const hosted = { program: { source, files: {} }, folder: { path: '.', refused: [] }, strictEvents: false, isWatched: false };
    return HostedEngine.open(hosted, {
      guarded: (action) => action(),
      lookup: () => Promise.reject(new Error('none')),
      wentOn: () => undefined,
    });
  }

  /** With a field that says when it was, in seconds. */
  event(type: string, seconds: number | null, source?: RecordSource): void {
    const fields = new Map<string, Value>([['at', seconds === null ? null : began + 1_000 * seconds]]);
    this.#record(source, () => this.#engine.push({ type, fields, timestamp: undefined, unknownMembers: [] }, 0, this.#now));
  }

  /** Ticks for so long; before each of them that comes on a full second something may happen. */
  pass(seconds: number, each: () => void = () => undefined): void {
    for (const end = this.#now + 1_000 * seconds; this.#now < end; ) {
      if ((this.#now - began) % 1_000 === 0) each();
      this.#now += 100;
      this.#record(undefined, () => this.#engine.tick(this.#now));
    }
  }

  #record(source: RecordSource | undefined, work: () => void): void {
    const outcome = new RecordOutcome({ slot: 0, sequence: 1, length: 0, outputsMax: 100, streams: this.#engine.streams });
    this.#engine.begin(outcome);
    this.#engine.arrive({ source, time: this.#now });
    work();
    this.#engine.end();
    const names = [...this.#engine.streams.keys()];
    for (const at of outcome.result().outputs.stream) this.closed.push([(this.#now - began) / 1_000, names[at]]);
  }
}

const window = '.watermark(on: at, idle: 5s).window(10s).aggregate(n: count()).emit(n: n)\n';

it('leaves a partition of which a build before has kept that time waits for it, and not since when nothing came', async () => {
  const text = 'stream W = A.from(K, topic: "a").watermark(on: at, idle: 5s).window(10s).aggregate(n: count()).emit(n: n)\n';
  const run = await Run.of(`event A:\n    at: timestamp\n${text}`);
  run.pass(1);
  run.event('A', 1, { id: 'K/a', partition: '1' });
  run.event('A', 1, { id: 'K/a', partition: '0' });
  const again = await run.restarted(`event A:\n    at: timestamp\n${text}`, (saved) => ({
    ...saved,
    idle_sources: saved.idle_sources.filter(([id]) => !id.startsWith('$partition') && !id.startsWith('$field')),
  }));
  let second = 1;
  again.pass(20, () => again.event('A', ++second, { id: 'K/a', partition: '0' }));
  expect(again.closed).toEqual([
    [9, 'W'],
    [19, 'W'],
  ]);
});

describe('events of a type that come through the binding of another', () => {
  const text = `event A:
    at: timestamp
event B:
    at: timestamp
stream OfA = A.from(K, topic: "a").watermark(idle: 5s).window(10s).aggregate(n: count()).emit(n: n)
stream OfB = B.from(K, topic: "b").emit(at: at)
`;

  it('move the time of their streams while nothing comes through their own, and it goes on behind the last', async () => {
    const run = await Run.of(text);
    let second = 0;
    run.pass(25, () => run.event('A', ++second, { id: 'K/b' }));
    const again = await run.restarted(text);
    again.pass(20);
    expect([...run.closed, ...again.closed]).toEqual([
      [9, 'OfA'],
      [19, 'OfA'],
      [29, 'OfA'],
    ]);
  });

  it('let the time of their streams follow the wall clock where they state none', async () => {
    const run = await Run.of(text);
    run.pass(1);
    run.event('A', null, { id: 'K/b' });
    run.pass(20);
    expect(run.closed).toEqual([[10, 'OfA']]);
  });

  it('leave the time alone while events come through their own, and move it again once these are silent', async () => {
    const run = await Run.of(text);
    run.pass(1);
    for (const partition of ['0', '1']) run.event('A', 1, { id: 'K/a', partition });
    run.event('A', 19, { id: 'K/b' });
    run.pass(4);
    expect(run.closed).toEqual([]);
    run.pass(2);
    run.event('A', 21, { id: 'K/b' });
    expect(run.closed).toEqual([
      [7, 'OfA'],
      [7, 'OfA'],
    ]);
    run.event('A', 22, { id: 'K/a', partition: '0' });
    run.event('A', 40, { id: 'K/b' });
    run.pass(4);
    expect(run.closed.length).toBe(2);
  });
});

describe('a field that says the time', () => {
  it('is silent in a partition that has brought it once, and now brings only what has it not', async () => {
    const run = await Run.of(`stream W = A.from(K, topic: "a")${window}`);
    run.event('A', 1, { id: 'K/a', partition: '1' });
    let second = 0;
    run.pass(40, () => {
      second++;
      run.event('B', null, { id: 'K/a', partition: '1' });
      run.event('A', second, { id: 'K/a', partition: '0' });
    });
    expect(run.closed.length).toBeGreaterThan(2);
  });

  it('is silent in a source that brings only what has it not, and goes on with what the other brings', async () => {
    const run = await Run.of(`stream W = merge(A.from(K, topic: "a"), A.from(K, topic: "b"))${window}`);
    let second = 0;
    run.pass(40, () => {
      second++;
      run.event('B', null, { id: 'K/b' });
      run.event('A', second, { id: 'K/a' });
    });
    expect(run.closed.length).toBeGreaterThan(2);
  });

  it('is silent where its only source goes on with what has it not, also behind a restart', async () => {
    const text = `stream W = A${window}`;
    const run = await Run.of(text);
    run.pass(1);
    run.event('A', 1);
    run.pass(3, () => run.event('B', null));
    const again = await run.restarted(text);
    again.pass(20, () => again.event('B', null));
    expect([run.closed, again.closed]).toEqual([[], [[10, 'W']]]);
  });

  it('is not silent while events have it', async () => {
    const run = await Run.of(`stream W = A${window}`);
    run.pass(20, () => run.event('A', 1));
    expect(run.closed).toEqual([]);
    run.pass(20);
    expect(run.closed).toEqual([[28, 'W']]);
  });
});

import { expect } from 'vitest';
import type { InputEvent } from '../../shared/events/event.ts';
import { fieldsToJson, toJson } from '../../shared/events/text.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from '../../worker/engine/create-engine.ts';
import type { Engine, EngineHost, Tracer } from '../../worker/engine/engine.ts';
import { enterOrPush } from './entering.ts';
import { plain, rowByRow, shipped } from './ways.ts';

export interface RunOptions {
  /** @default shipped */
  readonly options?: EngineOptions;
  /** The host traces: each operator works by itself, on rows. */
  readonly isTraced?: boolean;
  /** Before this event the engine is given up and a new one takes over; behind the last event: before the input ends. */
  readonly cut?: number;
  /** Of the engine that takes over. @default as the first */
  readonly successor?: { readonly plan?: Plan; readonly options?: EngineOptions };
}

/** What a test does besides pushing events; what it gives is part of what is seen. */
export interface Watch {
  before?(engine: Engine, at: number, event: InputEvent): void;
  after?(engine: Engine, at: number): readonly string[];
  atEnd?(engine: Engine): readonly string[];
}

const SILENT: Tracer = { matched: () => undefined, decided: () => undefined, pattern: () => undefined, emitted: () => undefined };

/** Everything a host sees of a run, as text. Events that are plain enough come as scalars. */
export function seenOf(
  plan: Plan,
  input: readonly InputEvent[],
  { options = shipped, isTraced = false, cut = -1, successor = {} }: RunOptions = {},
  watch: Watch = {},
): string[] {
  const seen: string[] = [];
  const host: EngineHost = {
    output: (event) => seen.push(`${event.stream} ${event.type} ${event.time} ${fieldsToJson(event.fields)}`),
    log: (entry) => seen.push(`${entry.stream} ${entry.kind} ${entry.message} ${toJson(entry.data)}`),
    ...(isTraced && { trace: SILENT }),
  };
  let engine = createEngine(plan, host, options);
  const handOver = (): void => {
    const next = createEngine(successor.plan ?? plan, host, successor.options ?? options);
    next.restore(JSON.parse(JSON.stringify(engine.snapshot())));
    engine = next;
  };
  for (const [at, event] of input.entries()) {
    if (at === cut) handOver();
    watch.before?.(engine, at, event);
    if (enterOrPush(engine, event) === 'invalid') seen.push(`${at} invalid`);
    seen.push(...(watch.after?.(engine, at) ?? []));
  }
  if (cut >= input.length) handOver();
  engine.end();
  return [...seen, ...(watch.atEnd?.(engine) ?? [])];
}

export interface Comparison {
  /** Moments at which one engine takes over from another, each way from each. @default none */
  readonly cuts?: readonly number[];
  readonly watch?: Watch;
  /** The program, for what is said of a difference. */
  readonly text?: string;
}

/** Expects the same of every way in which a program runs; gives what was seen. */
export function expectAlike(plan: Plan, input: readonly InputEvent[], { cuts = [], watch = {}, text = '' }: Comparison = {}): string[] {
  const run = (options: RunOptions): string[] => seenOf(plan, input, options, watch);
  const expected = run({ options: plain });
  const expectSame = (how: string, options: RunOptions): void => expect(run(options), `${how}\n${text}`).toEqual(expected);
  expectSame('row by row', { options: rowByRow });
  expectSame('shipped', { options: shipped });
  expectSame('traced', { isTraced: true });
  for (const cut of cuts) {
    expectSame(`shipped, then plain before event ${cut}`, { options: shipped, cut, successor: { options: plain } });
    expectSame(`plain, then shipped before event ${cut}`, { options: plain, cut, successor: { options: shipped } });
    expectSame(`shipped, then shipped before event ${cut}`, { options: shipped, cut });
    expectSame(`plain, then traced before event ${cut}`, { options: plain, cut, isTraced: true, successor: { options: shipped } });
    expectSame(`plain, then plain before event ${cut}`, { options: plain, cut });
  }
  return expected;
}

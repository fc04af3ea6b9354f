import type { InputEvent } from '../../shared/events/event.ts';
import { fieldsToJson, toJson } from '../../shared/events/text.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { compiledBackend } from '../../worker/engine/compile/compiled-backend.ts';
import { createEngine, type EngineOptions } from '../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../worker/engine/engine.ts';
import { fuse } from '../../worker/engine/fusion/fuse.ts';
import { enterOrPush } from './entering.ts';

/** Streams as generated code, as far as they have a form there. */
export const fused: EngineOptions = { backend: compiledBackend, fuse };

export interface RunOptions {
  readonly options?: EngineOptions;
  /** Of the engine that takes over. */
  readonly successorOptions?: EngineOptions;
  /** Before this event the engine is given up and a new one takes over. */
  readonly cut?: number;
}

/** What a test does besides pushing events; what it gives is part of what is seen. */
export interface Watch {
  before?(engine: Engine, at: number, event: InputEvent): void;
  after?(engine: Engine, at: number): readonly string[];
  atEnd?(engine: Engine): readonly string[];
}

/** Everything a host sees of a run, as text. Events that are plain enough come as scalars. */
export function seenOf(
  plan: Plan,
  input: readonly InputEvent[],
  { options = {}, successorOptions = options, cut = -1 }: RunOptions = {},
  watch: Watch = {},
): string[] {
  const seen: string[] = [];
  const host: EngineHost = {
    output: (event) => seen.push(`${event.stream} ${event.type} ${event.time} ${fieldsToJson(event.fields)}`),
    log: (entry) => seen.push(`${entry.stream} ${entry.kind} ${entry.message} ${toJson(entry.data)}`),
  };
  let engine = createEngine(plan, host, options);
  for (const [at, event] of input.entries()) {
    if (at === cut) engine = successor(engine, plan, host, successorOptions);
    watch.before?.(engine, at, event);
    if (enterOrPush(engine, event) === 'invalid') seen.push(`${at} invalid`);
    seen.push(...(watch.after?.(engine, at) ?? []));
  }
  engine.end();
  return [...seen, ...(watch.atEnd?.(engine) ?? [])];
}

function successor(engine: Engine, plan: Plan, host: EngineHost, options: EngineOptions): Engine {
  const next = createEngine(plan, host, options);
  next.restore(JSON.parse(JSON.stringify(engine.snapshot())));
  return next;
}

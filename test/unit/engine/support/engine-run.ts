import type { InputEvent, OutputEvent } from '../../../../shared/events/event.ts';
import { fieldsToJson } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from '../../../../worker/engine/create-engine.ts';
import type { DeadLetter, Delivery, Engine, LogEntry } from '../../../../worker/engine/engine.ts';
import { enterOrPush } from '../../../reference/entering.ts';

/** An engine, as it ships, and everything it has handed to its host so far, in order. */
export interface EngineRun {
  readonly engine: Engine;
  /** `Stream Type@time {json}` */
  readonly outputs: string[];
  readonly logs: LogEntry[];
  readonly deliveries: Delivery[];
  readonly deadLetters: DeadLetter[];
  push(type: string, time: number, fields?: Readonly<Record<string, Value>>, source?: string): void;
  /** Outputs since the last call. */
  taken(): string[];
}

export function start(plan: Plan, options?: EngineOptions): EngineRun {
  const outputs: string[] = [];
  const logs: LogEntry[] = [];
  const deliveries: Delivery[] = [];
  const deadLetters: DeadLetter[] = [];
  let seen = 0;
  const engine = createEngine(
    plan,
    {
      output: (event) => outputs.push(outputText(event)),
      log: (entry) => logs.push(entry),
      deliver: (delivery) => deliveries.push(delivery),
      deadLetter: (letter) => deadLetters.push(letter),
    },
    options,
  );
  return {
    engine,
    outputs,
    logs,
    deliveries,
    deadLetters,
    push: (type, time, fields = {}, source) => enterOrPush(engine, inputEvent(type, time, fields, source)),
    taken: () => {
      const taken = outputs.slice(seen);
      seen = outputs.length;
      return taken;
    },
  };
}

export function inputEvent(type: string, time: number, fields: Readonly<Record<string, Value>> = {}, source?: string): InputEvent {
  const event = { type, fields: new Map(Object.entries(fields)), fallbackTime: time };
  const [id, partition] = source?.split('#') ?? [];
  return id === undefined ? event : { ...event, source: { id, partition } };
}

export function outputText({ stream, type, time, fields }: OutputEvent): string {
  return `${stream}${type === stream ? '' : ` ${type}`}@${time} ${fieldsToJson(fields)}`;
}

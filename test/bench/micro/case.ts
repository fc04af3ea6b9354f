import type { InputEvent } from '../../../shared/events/event.ts';
import type { Goal } from '../gates/goals.ts';

/** A program and events made in memory: what an event costs without reading and writing. */
export interface MicroCase {
  readonly name: string;
  readonly what: string;
  readonly program: string;
  readonly types: readonly MicroType[];
  /** Events that bring the engine to the state in which it is measured: open runs, keys, full windows. */
  readonly before: number;
  /** Events that are measured at a time. The first blocks make the code warm. */
  readonly block: number;
  /** Share of the events that gives outputs in a small run. @default 0.02 */
  readonly smallShare?: number;
  /** Events in order, from the first on: the same in every run. */
  readonly events: () => NextEvent;
  readonly bound: MakeMicroBound;
  /** The number in each output that the checksum is made of. */
  readonly checked: string;
  /** Of the 99th of a hundred single pushes, nanoseconds. */
  readonly p99?: LatencyGoal;
}

/** A declared type: its fields in order. */
export interface MicroType {
  readonly name: string;
  readonly fields: readonly string[];
}

/** Writes event number `i` into the columns. */
export type NextEvent = (i: number, event: MicroEvent) => void;

/** One event, made anew in the same object. */
export interface MicroEvent {
  /** Position in `types`. */
  type: number;
  time: number;
  first: string | number;
  second: number;
}

/** The same work by hand, with what every type takes: the time and the values of its fields. */
export type MakeMicroBound = (output: (output: object, checked: number) => void) => readonly ((time: number, ...values: never[]) => void)[];

/** Upper bounds: what must hold, and what should. */
export interface LatencyGoal {
  readonly gateNs: number;
  readonly targetNs: number;
}

/** Speed as a share of the bound's. */
export const MICRO_GOAL: Goal = { gate: 0.5, target: 0.8 };

export function inputEvent({ types }: MicroCase, { type, time, first, second }: MicroEvent): InputEvent {
  const { name, fields } = types[type] as MicroType;
  const [one, other] = fields;
  const values = new Map<string, string | number>();
  if (one !== undefined) values.set(one, first);
  if (other !== undefined) values.set(other, second);
  return { type: name, fields: values, fallbackTime: time };
}

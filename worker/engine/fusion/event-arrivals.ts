import type { Effects } from '../analytics/effects.ts';
import type { ExpressionBackend } from '../evaluate/backend.ts';
import type { ResultQueue } from '../streams/queue.ts';
import type { ProgramTime } from '../time/program-time.ts';
import type { SingleClock } from '../time/source-clocks.ts';
import type { EntryPlace } from './event-entry.ts';
import type { Arrivals } from './fused-runtime.ts';

/** What of a running program takes part in the arrival of an event. */
export interface Arriving {
  /** Arrival number of the last external event. */
  order: number;
  /** Event time of the last that came as scalars. */
  time: number;
  /** Events whose time nothing but their arrival said. */
  untimed: number;
  readonly place: EntryPlace;
  readonly backend: ExpressionBackend;
  readonly clocks: ProgramTime;
  readonly queue: ResultQueue;
  readonly effects: Effects;
  /** One step of time, with all that completes in it. */
  step(): void;
  /** Steps that rows have caused by carrying a time of their own. */
  settle(): void;
}

/**
 * Events of one type that come as scalars: before and behind them happens what happens around every event. Functions over
 * constants rather than a class: compiled code then has all parts of the program at hand.
 */
export function arrivalsOf(program: Arriving, source: SingleClock): Arrivals {
  const { backend, clocks, queue, effects } = program;
  const moveTimeTo = clocks.moverOf(source.clock, program.place);
  return {
    arrive: (time, isArrivalTime) => {
      backend.beginEvent();
      const order = ++program.order;
      program.time = time;
      if (isArrivalTime) program.untimed++;
      if (source.followsArrival !== isArrivalTime) source.followsArrival = isArrivalTime;
      if (moveTimeTo(time)) program.step();
      return order;
    },
    depart: () => {
      if (!queue.isEmpty) queue.drain();
      if (clocks.isStepping) program.settle();
      if (effects.hasTasks) effects.runTasks();
    },
  };
}

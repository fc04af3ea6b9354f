import type { Effects } from '../analytics/effects.ts';
import type { ExpressionBackend } from '../evaluate/backend.ts';
import type { ResultQueue } from '../streams/queue.ts';
import type { ProgramTime } from '../time/program-time.ts';
import type { SingleClock } from '../time/source-clocks.ts';
import type { Arrivals } from './fused-runtime.ts';

/** What of a running program takes part in the arrival of an event. */
export interface Arriving {
  /** Arrival number of the last external event. */
  order: number;
  /** Event time of the last that came as scalars. */
  time: number;
  readonly backend: ExpressionBackend;
  readonly clocks: ProgramTime;
  readonly queue: ResultQueue;
  readonly effects: Effects;
  /** One step of time, with all that completes in it. */
  step(): void;
  /** Steps that rows have caused by carrying a time of their own. */
  settle(): void;
}

/** Events of one type that come as scalars: before and behind them happens what happens around every event. */
export class EventArrivals implements Arrivals {
  private readonly program: Arriving;
  private readonly source: SingleClock;

  constructor(program: Arriving, source: SingleClock) {
    this.program = program;
    this.source = source;
  }

  arrive(time: number, isArrivalTime: boolean): number {
    const program = this.program;
    program.backend.beginEvent();
    const order = ++program.order;
    program.time = time;
    if (program.clocks.observeOn(this.source, time, isArrivalTime)) program.step();
    return order;
  }

  depart(): void {
    const { queue, clocks, effects } = this.program;
    if (!queue.isEmpty) queue.drain();
    if (clocks.isStepping) this.program.settle();
    if (effects.hasTasks) effects.runTasks();
  }
}

import type { Fields, OutputEvent } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { ForkPlan, OperatorPlan, ProcessPlan } from '../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../shared/language/plan/types.ts';
import type { Receiver } from '../analytics/effects.ts';
import type { WaitingQueues } from '../analytics/waiting-queues.ts';
import type { Delivery, LogEntry, LookupRequest, Resume, ScoreRequest } from '../engine.ts';
import type { EmitFunction } from '../evaluate/backend.ts';
import type { PatternObserver } from '../patterns/observer.ts';
import type { Chain } from '../streams/chain.ts';
import type { Tapped } from '../streams/label-sets.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import type { Next, OperatorEnvironment } from './operator.ts';
import type { Row } from './row.ts';

/** Where something stood when it began to wait. */
export interface Suspended {
  /** Arrival number of the last event. */
  readonly order: number;
  readonly resume: Resume | undefined;
}

/** What the operators of this folder may do besides what every operator may: effects, and chains of their own. */
export interface StreamEnvironment extends OperatorEnvironment {
  /** Hands an output event, made from the row, to the host. */
  output(event: OutputEvent, row: Row): void;
  deliver(delivery: Omit<Delivery, 'stream'>): void;
  log(entry: Omit<LogEntry, 'stream'>): void;
  /** Counts under a `.tap` counter. */
  tapped(tapped: Tapped): void;
  /** Calls the function of a `.process`. Throws `EvaluationError`. */
  invoke(plan: ProcessPlan, args: readonly Value[], row: Row, emit: EmitFunction): void;
  /** The declared type of output events of this type, if it is declared. */
  outputType(type: string): RecordType | null;
  /** How far (ms) behind the watermark the rows may lie that come to this operator though the input is in order. */
  lagMs(operator: OperatorPlan): number;
  /** A hold on the time of the streams that follow; the chain sees to the operators behind the one that has it. */
  hold(): WatermarkHold;
  holdWatermark(hold: WatermarkHold, time: number): void;
  /** Lets time behind the hold go on to `time`, with all that completes there, as of the event with this arrival number. Only in a task of `later`. */
  releaseWatermark(hold: WatermarkHold, time: number, order: number): void;
  /** Whether what leaves the hold comes here. */
  isBehind(hold: WatermarkHold): boolean;
  /** Those in which rows wait. */
  readonly waitingQueues: WaitingQueues;
  /** Something begins to wait, here and now. */
  suspend(): Suspended;
  /** It goes on, as of then. `newest`: arrival number of the last event by now. */
  resume(suspended: Suspended, goOn: (newest: number) => void): void;
  /** To be done when all that the present call of the engine causes is through. */
  later(task: () => void): void;
  /** Lets everything through that has been caused so far. Only in a task of `later`. */
  settle(): void;
  /** Counts rows that wait for answers from outside. */
  countWaiting(change: number): void;
  /** Asks the host; `receiver` is told at once or later. False when this host cannot be asked. */
  lookup(request: Omit<LookupRequest, 'id' | 'stream'>, receiver: Receiver): boolean;
  score(request: Omit<ScoreRequest, 'id' | 'stream'>, receiver: Receiver): boolean;
  /** The pattern at the head of the stream tells this one what it sees. */
  observePattern(observer: PatternObserver): void;
  /** One branch of a `.fork`: its operators, then the stream's end, or what follows the fork. */
  branch(fork: ForkPlan, name: string, operators: readonly OperatorPlan[], next: Next): Chain;
}

/** A row with other fields: what it was bound to stays readable, what was read through it as a match's last event does not. */
export function withFields(row: Row, fields: Fields, type: string = row.type): Row {
  return { type, time: row.time, order: row.order, fields, bound: row.bound, attributes: row.attributes, causes: row.causes };
}

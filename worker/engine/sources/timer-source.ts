import { Timestamp, type Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { TimerSourcePlan } from '../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { number, stateOf } from '../state/codec.ts';
import type { Source } from './source.ts';

/** Ticks that one move of time may cause; a jump over more is a failure of the stream, which goes on behind it. */
const TICKS_PER_STEP_MAX = 1_000_000;

/** Before the first event: due as soon as there is any time. */
const NOT_STARTED = -Number.MAX_VALUE;

const savedState = stateOf({ name: 'timer', version: 1, members: { nextTick: number } });

/** `timer(d)`: a row at every d of event time, first `initial_delay` (or d) after the first event, none at the end of input. */
export class TimerSource implements Source {
  readonly fingerprint: string;
  readonly #plan: TimerSourcePlan;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #order: () => number;
  #nextTick = NOT_STARTED;

  /** `order`: arrival number of the last external event. */
  constructor(plan: TimerSourcePlan, environment: OperatorEnvironment, next: Next, order: () => number) {
    this.fingerprint = `timer:${plan.periodMs}:${plan.initialDelayMs}`;
    this.#plan = plan;
    this.#environment = environment;
    this.#next = next;
    this.#order = order;
  }

  receivers(): readonly ((row: Row) => void)[] {
    return [];
  }

  deadline(): number {
    return this.#nextTick;
  }

  advance(watermark: number): void {
    if (watermark === Infinity) return;
    if (this.#nextTick === NOT_STARTED) this.#nextTick = watermark + (this.#plan.initialDelayMs ?? this.#plan.periodMs);
    for (let ticks = 0; this.#nextTick <= watermark; ticks++) {
      if (ticks === TICKS_PER_STEP_MAX) {
        this.#skipTo(watermark);
        return;
      }
      const time = this.#nextTick;
      this.#nextTick = time + this.#plan.periodMs;
      this.#next.process(this.#tick(time));
    }
  }

  #skipTo(watermark: number): void {
    const skipped = Math.floor((watermark - this.#nextTick) / this.#plan.periodMs) + 1;
    const row = this.#tick(this.#nextTick);
    this.#nextTick += skipped * this.#plan.periodMs;
    this.#environment.fail(
      new EvaluationError(`time jumped over more than ${TICKS_PER_STEP_MAX} ticks: ${skipped} are left out`),
      row,
      null,
    );
  }

  #tick(time: number): Row {
    return {
      type: this.#plan.eventType,
      time,
      order: this.#order(),
      fields: new Map([['timestamp', new Timestamp(time)]]),
      bound: null,
      attributes: null,
      causes: [],
    };
  }

  save(): Value {
    return savedState.save({ nextTick: this.#nextTick });
  }

  /** What was saved is ahead of the time that was saved with it, unless that is another's now; the rhythm stays. */
  load(saved: Value): void {
    const { nextTick } = savedState.load(saved);
    const late = this.#environment.watermark() - nextTick;
    const isBehind = nextTick !== NOT_STARTED && late >= 0 && Number.isFinite(late);
    const { periodMs } = this.#plan;
    this.#nextTick = isBehind ? nextTick + (Math.floor(late / periodMs) + 1) * periodMs : nextTick;
  }
}

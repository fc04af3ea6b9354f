import { toText } from '../../../shared/events/text.ts';
import { isArray, type Value, type ValueArray } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { ScorePlan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import type { Result } from '../engine.ts';
import { BasicOperator } from '../operators/basic-operator.ts';
import type { Next, WindowFrame } from '../operators/operator.ts';
import { type Evaluate, type Row, reusableScope } from '../operators/row.ts';
import type { StreamEnvironment } from '../operators/stream-environment.ts';
import { anyValue, list, oneOf, orNull, record, type Saved, stateOf } from '../state/codec.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import { withAdded } from './added-fields.ts';
import { AsyncRowQueue, type QueuedRow, savedQueue } from './async-row-queue.ts';

interface Scored extends QueuedRow {
  readonly inputs: readonly Value[];
  /** One value per output, or why there is none; null while it waits. */
  outcome: { readonly outputs: ValueArray } | { readonly message: string } | null;
}

/** How a row ended; null while it waits. `content`: the outputs, or the message. */
const savedOutcome = orNull(record({ status: oneOf('ok', 'error'), content: anyValue }));

const savedState = stateOf({
  name: 'score',
  version: 1,
  members: { rows: savedQueue(record({ inputs: list(anyValue), outcome: savedOutcome })) },
  unnamed: (rows) => [rows],
});

const NO_ATTRIBUTES = new Map<never, never>();

/**
 * `.score(model: .., inputs: [..], outputs: [..])`: adds what a model says of the row. The host runs the model: one batch at
 * a time, of all rows that wait by then, up to `batch_size`. A row's outputs depend on its inputs alone, so batches do not
 * show in the results.
 */
export class Score extends BasicOperator {
  readonly holds: readonly WatermarkHold[];
  readonly #plan: ScorePlan;
  readonly #environment: StreamEnvironment;
  readonly #inputs: readonly Evaluate[];
  readonly #scopeOf = reusableScope();
  readonly #queue: AsyncRowQueue<Scored>;
  readonly #batchMax: number;
  /** Not yet asked, in order. */
  #waiting: Scored[] = [];
  #asked: readonly Scored[] = [];
  #isFlushing = false;

  constructor(plan: ScorePlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#inputs = plan.inputs.map((input) => environment.evaluator(input));
    this.#batchMax = (plan.parameters.get('batch_size') as number | undefined) ?? limits.scoreBatchRowsDefault;
    const pass = (scored: Scored): void => this.#pass(scored);
    this.#queue = new AsyncRowQueue({ plan, environment, pass, endWindow: (frame) => next.endWindow(frame) });
    this.holds = [this.#queue.hold];
  }

  process(row: Row): void {
    const scope = this.#scopeOf(row);
    const inputs = this.#inputs.map((input) => input(scope));
    const missing = inputs.indexOf(null);
    const scored: Scored = { row, inputs, isReady: false, outcome: missing < 0 ? null : this.#nullInput(missing) };
    if (scored.outcome !== null && this.#queue.isFree) {
      this.#pass(scored);
      return;
    }
    this.#queue.enqueue(scored);
    if (scored.outcome !== null) this.#queue.ready(scored);
    else {
      this.#waiting.push(scored);
      this.#flushLater();
    }
  }

  #nullInput(position: number): { readonly message: string } {
    return { message: `input ${this.#plan.inputNames[position]} is null` };
  }

  /** What one call of the engine brings is asked together. */
  #flushLater(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#environment.later(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#asked.length > 0 || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, this.#batchMax);
    this.#asked = batch;
    const { model, inputNames, outputs, parameters } = this.#plan;
    const rows = batch.map(({ inputs }) => inputs);
    const isAsked = this.#environment.score({ model, inputNames, outputs, rows, parameters }, ({ result }) => this.#settle(batch, result));
    if (!isAsked) this.#settle(batch, { status: 'error', message: 'no model runs here' });
  }

  #settle(batch: readonly Scored[], result: Result): void {
    this.#asked = [];
    const answers = result.status === 'ok' && isArray(result.value) ? result.value : [];
    batch.forEach((scored, position) => {
      scored.outcome = this.#outcomeOf(result, answers[position]);
      this.#queue.ready(scored);
    });
    this.#flushLater();
  }

  #outcomeOf(result: Result, outputs: Value | undefined): NonNullable<Scored['outcome']> {
    if (result.status === 'timeout') return { message: 'no answer in time' };
    if (result.status === 'error') return { message: result.message };
    if (outputs !== undefined && isArray(outputs) && outputs.length === this.#plan.outputs.length) return { outputs };
    return { message: `expected ${this.#plan.outputs.length} outputs for each row` };
  }

  /** Under `.on_error(null)` the row goes on with null for every output. */
  #pass({ row, outcome }: Scored): void {
    const { model, outputs } = this.#plan;
    if (outcome !== null && 'outputs' in outcome) {
      this.next.process(withAdded(row, new Map(outputs.map((name, at) => [name, outcome.outputs[at] ?? null])), NO_ATTRIBUTES));
      return;
    }
    this.#environment.fail(new EvaluationError(`model ${model}: ${outcome?.message}`), row, this.#plan);
    if (this.#environment.stream.onError === 'null') {
      this.next.process(withAdded(row, new Map(outputs.map((name) => [name, null])), NO_ATTRIBUTES));
    }
  }

  override endWindow(frame: WindowFrame): void {
    this.#queue.endWindow(frame);
  }

  override save(): Value {
    return savedState.save({ rows: this.#queue.save(({ inputs, outcome }) => ({ inputs, outcome: outcome && stateOfOutcome(outcome) })) });
  }

  override load(saved: Value): void {
    this.#queue.load(savedState.load(saved).rows, (row, { inputs, outcome }) => {
      return { row, inputs, outcome: outcome && outcomeOf(outcome), isReady: outcome !== null };
    });
    this.#waiting = [...this.#queue.rows()].filter(({ outcome }) => outcome === null);
    this.#flushLater();
  }
}

type SavedOutcome = NonNullable<Saved<typeof savedOutcome>>;

function stateOfOutcome(outcome: NonNullable<Scored['outcome']>): SavedOutcome {
  return 'outputs' in outcome ? { status: 'ok', content: outcome.outputs } : { status: 'error', content: outcome.message };
}

function outcomeOf({ status, content }: SavedOutcome): NonNullable<Scored['outcome']> {
  return status === 'ok' && isArray(content) ? { outputs: content } : { message: toText(content) };
}

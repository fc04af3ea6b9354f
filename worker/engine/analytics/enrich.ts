import { keyOf, toText } from '../../../shared/events/text.ts';
import { isMap, type Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { AttributeName, EnrichPlan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import { BasicOperator } from '../operators/basic-operator.ts';
import type { Next, WindowFrame } from '../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../operators/row.ts';
import type { StreamEnvironment } from '../operators/stream-environment.ts';
import { anyValue, flag, number, oneOf, orNull, record, type Saved, stateOf } from '../state/codec.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import { fieldsOfAnswer, fieldsOfFallback, withAdded } from './added-fields.ts';
import { AsyncRowQueue, type QueuedRow, savedQueue } from './async-row-queue.ts';
import { type Lookup, Lookups, type Outcome, savedLookups } from './lookups.ts';

/** How the look-up for a row ended; null while it is under way. `content`: the value, or the message. */
const savedOutcome = orNull(record({ status: oneOf('ok', 'cached', 'error', 'timeout'), content: anyValue, latencyMs: orNull(number) }));

/** The rows that wait are numbered for the look-ups, from 0 on. */
const savedState = stateOf({
  name: 'enrich',
  version: 1,
  members: { rows: savedQueue(savedOutcome), lookups: savedLookups, hasTold: flag },
});

/** A row on its way through the operator. */
class Visit implements QueuedRow {
  readonly row: Row;
  isReady = false;
  isHeld = false;
  outcome: Outcome | null = null;
  readonly #onSettled: (visit: Visit) => void;

  constructor(row: Row, onSettled: (visit: Visit) => void) {
    this.row = row;
    this.#onSettled = onSettled;
  }

  get time(): number {
    return this.row.time;
  }

  settle(outcome: Outcome): void {
    this.outcome = outcome;
    this.#onSettled(this);
  }
}

/**
 * `.enrich(Conn, key: e, fields: [..])`: adds what is looked up under a key. The host does the looking up; rows wait here
 * and leave in the order in which they came.
 */
export class Enrich extends BasicOperator {
  readonly holds: readonly WatermarkHold[];
  readonly #plan: EnrichPlan;
  readonly #environment: StreamEnvironment;
  readonly #key: Evaluate;
  readonly #fallback: Evaluate | null;
  readonly #queue: AsyncRowQueue<Visit>;
  readonly #lookups: Lookups<Visit>;
  #hasTold = false;

  constructor(plan: EnrichPlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#key = environment.evaluator(plan.key);
    this.#fallback = plan.fallback && environment.evaluator(plan.fallback);
    const pass = (visit: Visit): void => this.#pass(visit);
    this.#queue = new AsyncRowQueue({ plan, environment, pass, endWindow: (frame) => next.endWindow(frame) });
    this.holds = [this.#queue.hold];
    this.#lookups = new Lookups({
      ttlMs: plan.cacheTtlMs,
      entriesMax: limits.enrichCacheEntriesDefault,
      concurrencyMax: limits.enrichLookupsDefault,
      ask: (lookup, settle) => this.#ask(lookup, settle),
    });
  }

  process(row: Row): void {
    const key = this.#key(scopeOf(row));
    const visit = this.#visitOf(row);
    if (key === null) visit.settle({ status: 'error', message: 'the key is null', latencyMs: null });
    else this.#lookups.want(keyOf([key]), key, visit);
    if (visit.outcome !== null && this.#queue.isFree) this.#pass(visit);
    else this.#hold(visit);
  }

  #visitOf(row: Row): Visit {
    return new Visit(row, (visit) => {
      if (visit.isHeld) this.#queue.ready(visit);
    });
  }

  #hold(visit: Visit): void {
    visit.isHeld = true;
    this.#queue.enqueue(visit);
    if (visit.outcome !== null) this.#queue.ready(visit);
  }

  #ask({ key }: Lookup<Visit>, settle: Parameters<ConstructorParameters<typeof Lookups<Visit>>[0]['ask']>[1]): void {
    const { connector, fields, timeoutMs } = this.#plan;
    const isAsked = this.#environment.lookup({ connector, key, fields, timeoutMs }, ({ result, latencyMs }) => settle(result, latencyMs));
    if (isAsked) return;
    this.#tellOnce();
    settle({ status: 'error', message: `nothing is looked up in ${connector} in this run` }, null);
  }

  #tellOnce(): void {
    if (this.#hasTold) return;
    this.#hasTold = true;
    const instead = this.#fallback === null ? 'every look-up fails' : 'the fallback stands for every answer';
    const message = `nothing is looked up in ${this.#plan.connector} in this run: ${instead}`;
    this.#environment.log({ level: 'warn', kind: 'log', message, data: null });
  }

  #pass({ row, outcome }: Visit): void {
    const { fields } = this.#plan;
    let failed = outcome as Outcome;
    if ('value' in failed) {
      const { status, value, latencyMs } = failed;
      if (isMap(value) || fields.length < 2) {
        this.next.process(withAdded(row, fieldsOfAnswer(value, fields), attributesOf(status, latencyMs)));
        return;
      }
      failed = { status: 'error', message: `the answer has no fields, expected ${fields.join(', ')}`, latencyMs };
    }
    this.#passFailed(row, failed);
  }

  /** Under `.on_error(null)` the row goes on with null for every field. */
  #passFailed(row: Row, { status, message, latencyMs }: Extract<Outcome, { message: string }>): void {
    const { connector, fields } = this.#plan;
    if (this.#fallback !== null) {
      const added = fieldsOfFallback(this.#fallback(scopeOf(row)), fields);
      this.next.process(withAdded(row, added, attributesOf('fallback', latencyMs)));
      return;
    }
    const error = new EvaluationError(`look-up of ${toText(this.#key(scopeOf(row)))} in ${connector}: ${message}`);
    this.#environment.fail(error, row, this.#plan);
    if (this.#environment.stream.onError !== 'null') return;
    this.next.process(withAdded(row, new Map(fields.map((name) => [name, null])), attributesOf(status, latencyMs)));
  }

  override endWindow(frame: WindowFrame): void {
    this.#queue.endWindow(frame);
  }

  override save(): Value {
    const numbers = new Map([...this.#queue.rows()].map((visit, number) => [visit, number] as const));
    return savedState.save({
      rows: this.#queue.save(({ outcome }) => outcome && stateOfOutcome(outcome)),
      lookups: this.#lookups.save((visit) => numbers.get(visit) as number),
      hasTold: this.#hasTold,
    });
  }

  override load(saved: Value): void {
    const { rows, lookups, hasTold } = savedState.load(saved);
    this.#hasTold = hasTold;
    this.#queue.load(rows, (row, outcome) => this.#loadVisit(row, outcome && outcomeOf(outcome)));
    this.#lookups.load(lookups, [...this.#queue.rows()]);
    this.#environment.later(() => this.#lookups.askAll());
  }

  #loadVisit(row: Row, outcome: Outcome | null): Visit {
    const visit = this.#visitOf(row);
    visit.isHeld = true;
    visit.outcome = outcome;
    visit.isReady = outcome !== null;
    return visit;
  }
}

function attributesOf(status: string, latencyMs: number | null): ReadonlyMap<AttributeName, Value> {
  return new Map<AttributeName, Value>([
    ['enrich_status', status],
    ['enrich_latency_ms', latencyMs],
  ]);
}

type SavedOutcome = NonNullable<Saved<typeof savedOutcome>>;

function stateOfOutcome(outcome: Outcome): SavedOutcome {
  const { status, latencyMs } = outcome;
  return { status, content: 'value' in outcome ? outcome.value : outcome.message, latencyMs };
}

function outcomeOf({ status, content, latencyMs }: SavedOutcome): Outcome {
  if (status === 'ok' || status === 'cached') return { status, value: content, latencyMs };
  return { status, message: toText(content), latencyMs };
}

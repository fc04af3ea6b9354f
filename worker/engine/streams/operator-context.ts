import type { OutputEvent } from '../../../shared/events/event.ts';
import { toText } from '../../../shared/events/text.ts';
import { Timestamp, type Value } from '../../../shared/events/value.ts';
import type { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type {
  ForkPlan,
  OperatorPlan,
  PlanExpression,
  ProcessPlan,
  StreamPlan,
  WindowPredicate,
} from '../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../shared/language/plan/types.ts';
import type { Receiver } from '../analytics/effects.ts';
import type { WaitingQueues } from '../analytics/waiting-queues.ts';
import type { Answered, Delivery, LogEntry, LookupRequest, ScoreRequest, Tracer } from '../engine.ts';
import type { EmitFunction } from '../evaluate/backend.ts';
import type { Next, OperatorEnvironment, RunDropReason } from '../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../operators/row.ts';
import type { StreamEnvironment, Suspended } from '../operators/stream-environment.ts';
import type { PatternObserver } from '../patterns/observer.ts';
import { lowestHold, WatermarkHold } from '../time/watermark-hold.ts';
import { judge } from '../trace/condition.ts';
import { keyIn } from '../trace/deciding-values.ts';
import type { TracedOperator } from '../trace/traced-operator.ts';
import { Chain, type MakeLink } from './chain.ts';
import type { Tapped } from './label-sets.ts';
import { PartitionKey } from './partition-key.ts';
import { outputTypeOf } from './plan-inputs.ts';
import { raised } from './stream-counters.ts';
import type { StreamRuntime } from './stream-runtime.ts';

/** Where an operator stands: in the chain of the stream, or in one inside another operator. */
interface Place {
  readonly around: OperatorContext | null;
  /** For chains inside the operator. */
  readonly makeLink: () => MakeLink;
}

/** The environment of one operator (or source) in its place: what the stream offers, seen at the operator's own time. */
export class OperatorContext implements StreamEnvironment {
  /** The stream, with the operator's own partition where it has one. */
  readonly stream: StreamPlan;
  readonly completes: OperatorEnvironment['completes'];
  readonly #stream: StreamRuntime;
  readonly #operator: OperatorPlan | null;
  readonly #partition: PartitionKey;
  readonly #place: Place;
  #holds: readonly WatermarkHold[] = [];
  /** The operator, where somebody hears what it decides. */
  observed: TracedOperator | null = null;
  #turn = -1;
  #reached = -Infinity;

  /** `operator` null: the stream's source. */
  constructor(stream: StreamRuntime, operator: OperatorPlan | null, place: Place) {
    const partition = operator?.partition;
    this.stream = partition === undefined ? stream.plan : { ...stream.plan, partition };
    this.#stream = stream;
    this.#operator = operator;
    this.#partition = partition === undefined ? stream.partition : new PartitionKey(partition, (key) => stream.evaluator(key, operator));
    this.#place = place;
    const { share } = stream.program;
    this.completes = share === null ? undefined : (time, rank) => share.complete(time, rank);
  }

  get tracer(): Tracer | null {
    return this.#stream.program.host.trace ?? null;
  }

  /** The operator's turn has come in the present step of time. Gives the time that has come to it. */
  reach(watermark: number): number {
    this.#turn = this.#stream.program.time.step;
    this.#reached = Math.min(watermark, this.heldAt(null));
    return this.#reached;
  }

  standBehind(holds: readonly WatermarkHold[]): void {
    this.#holds = holds;
  }

  /** The time that the holds before it allow; `step` null = now, else before that step of time. */
  heldAt(step: number | null): number {
    if (this.#holds.length === 0 && this.#place.around === null) return Infinity;
    return Math.min(lowestHold(this.#holds, step), this.#place.around?.heldAt(step) ?? Infinity);
  }

  watermark(): number {
    const { time } = this.#stream.program;
    if (!time.isStepping) return Math.min(this.#stream.clock.now(), this.heldAt(null));
    if (this.#turn === time.step) return this.#reached;
    return Math.min(this.#stream.clock.before(time.step), this.heldAt(time.step));
  }

  mayHavePassed(time: number): boolean {
    return this.#stream.clock.mayHavePassed(time);
  }

  order(): number {
    return this.#stream.program.order();
  }

  evaluator(expression: PlanExpression): Evaluate {
    return this.#stream.evaluator(expression, this.#operator);
  }

  partition(row: Row): string {
    return this.#partition.text(row);
  }

  partitionFields(row: Row): readonly (readonly [string, Value])[] {
    return this.#partition.fields(row);
  }

  late(row: Row | null): void {
    if (row !== null) this.#noteLate(row);
    this.#stream.late(row);
  }

  #noteLate(row: Row): void {
    this.#stream.recorder?.decided(this.#operator, 'LATE', row);
    this.tracer?.decided({
      stream: this.stream.name,
      key: keyIn(this, row),
      operator: this.#operator?.text ?? this.stream.source.kind,
      verdict: 'LATE',
      why: [`time stands at ${toText(new Timestamp(this.watermark()))}`],
    });
    if (this.tracer !== null) this.observed?.isTold();
  }

  windowRefused(last: Row, { condition, text }: WindowPredicate, events: Value): void {
    const { recorder, program, plan } = this.#stream;
    if ((recorder === null && this.tracer === null) || this.#operator === null) return;
    const { failed } = judge(condition, { ...scopeOf(last), locals: [events] }, program.conditions.of(plan, text));
    const why = failed?.text ?? '';
    recorder?.decided(this.#operator, 'BLOCK', last, why);
    this.tracer?.decided({ stream: this.stream.name, key: keyIn(this, last), operator: this.#operator.text, verdict: 'BLOCK', why: [why] });
    this.observed?.isTold(last);
  }

  fail(error: EvaluationError, row: Row | null, operator: OperatorPlan | null): void {
    // Under `.on_error(null)` the row goes on.
    if (operator !== null && row !== null && this.stream.onError !== 'null') {
      this.#stream.recorder?.decided(operator, 'FAIL', row, error.message);
    }
    this.#stream.fail(error, row, operator ?? this.#operator);
  }

  suppressed(count = 1): void {
    this.#stream.counters.suppressed += count;
  }

  runsDropped(reason: RunDropReason, count = 1): void {
    const { counters } = this.#stream;
    counters.runsDropped = raised(counters.runsDropped, reason, count);
  }

  output(event: OutputEvent, row: Row): void {
    this.observed?.handsOn();
    const { program, index } = this.#stream;
    program.output(event, program.causes?.of(index, row));
  }

  deliver(delivery: Omit<Delivery, 'stream'>): void {
    this.#stream.program.host.deliver?.({ ...delivery, stream: this.stream.name });
  }

  log(entry: Omit<LogEntry, 'stream'>): void {
    this.#stream.program.host.log?.({ ...entry, stream: this.stream.name });
  }

  tapped(tapped: Tapped): void {
    const { counters, labelSets } = this.#stream;
    counters.taps = raised(counters.taps, labelSets.nameIn(counters.taps, tapped), 1);
  }

  invoke(plan: ProcessPlan, args: readonly Value[], row: Row, emit: EmitFunction): void {
    this.#stream.program.backend.invoke(plan.function, args, row, emit);
  }

  outputType(type: string): RecordType | null {
    return outputTypeOf(this.stream) ?? this.#stream.program.declared(type);
  }

  lagMs(operator: OperatorPlan): number {
    return this.#stream.program.lags.before(this.#stream.plan, operator);
  }

  hold(): WatermarkHold {
    const hold = new WatermarkHold();
    this.#stream.clock.add(hold);
    return hold;
  }

  holdWatermark(hold: WatermarkHold, time: number): void {
    this.#stream.program.time.holdWatermark(hold, time);
  }

  releaseWatermark(hold: WatermarkHold, time: number, order: number): void {
    this.#stream.program.releaseWatermark(hold, time, order);
  }

  isBehind(hold: WatermarkHold): boolean {
    return this.#holds.includes(hold) || this.#place.around?.isBehind(hold) === true || this.#stream.clock.isBehind(hold);
  }

  get waitingQueues(): WaitingQueues {
    return this.#stream.program.effects.waitingQueues;
  }

  suspend(): Suspended {
    return this.#stream.program.suspend();
  }

  resume(suspended: Suspended, goOn: (newest: number) => void): void {
    this.#stream.program.resume(suspended, goOn);
  }

  later(task: () => void): void {
    this.#stream.program.effects.later(task);
  }

  settle(): void {
    this.#stream.program.settle();
  }

  countWaiting(change: number): void {
    this.#stream.counters.rowsWaiting += change;
  }

  lookup(request: Omit<LookupRequest, 'id' | 'stream'>, receiver: Receiver): boolean {
    const { host } = this.#stream.program;
    if (host.lookup === undefined) return false;
    this.#ask((id) => host.lookup?.({ id, stream: this.stream.name, ...request }), receiver);
    return true;
  }

  score(request: Omit<ScoreRequest, 'id' | 'stream'>, receiver: Receiver): boolean {
    const { host } = this.#stream.program;
    if (host.score === undefined) return false;
    this.#ask((id) => host.score?.({ id, stream: this.stream.name, ...request }), receiver);
    return true;
  }

  #ask(question: (id: number) => Answered | undefined, receiver: Receiver): void {
    const { effects } = this.#stream.program;
    const id = effects.ask(receiver);
    const answered = question(id);
    if (answered !== undefined) effects.answer({ id, ...answered });
  }

  observePattern(observer: PatternObserver): void {
    this.#stream.patternObserver = observer;
  }

  branch(fork: ForkPlan, name: string, operators: readonly OperatorPlan[], next: Next): Chain {
    const around = branchesAround(fork, this.#stream.plan.operators);
    const end = around === null ? heardBy(this.#stream.branchFollowers(name), next) : this.#stream.branchEnd([...around, name]);
    return new Chain(operators, end, this.#place.makeLink());
  }
}

/** The branches that a fork ends, from the outermost; null when operators follow before the stream has a result. */
function branchesAround(fork: ForkPlan, operators: readonly OperatorPlan[]): readonly string[] | null {
  const last = operators.at(-1);
  if (last === fork) return [];
  for (const branch of last?.kind === 'fork' ? last.branches : []) {
    const around = branchesAround(fork, branch.operators);
    if (around !== null) return [branch.name, ...around];
  }
  return null;
}

/** A branch that further operators follow: its followers take the row first. */
function heardBy(followers: (row: Row) => void, next: Next): Next {
  return {
    process: (row) => {
      followers(row);
      next.process(row);
    },
    endWindow: (frame) => next.endWindow(frame),
  };
}

import type { OutputEvent } from '../../../shared/events/event.ts';
import type { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { FingerprintNames } from '../../../shared/language/plan/fingerprint.ts';
import type { OperatorPlan, PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../shared/language/plan/types.ts';
import type { Effects } from '../analytics/effects.ts';
import type { Causes, DeadLetter, EngineHost, StreamCounters } from '../engine.ts';
import type { ExpressionBackend } from '../evaluate/backend.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import type { Kernel, KernelFactory } from '../fusion/fused-runtime.ts';
import type { Next } from '../operators/operator.ts';
import { asResult, type Evaluate, type Row } from '../operators/row.ts';
import type { Suspended } from '../operators/stream-environment.ts';
import type { PatternObserver } from '../patterns/observer.ts';
import type { EventShare } from '../sharing/event-share.ts';
import type { ProgramTime } from '../time/program-time.ts';
import type { StreamClock } from '../time/stream-clock.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import type { CauseRecorder } from '../trace/cause-recorder.ts';
import type { ConditionReaders } from '../trace/condition-readers.ts';
import { ExplainRecorder } from '../trace/explain-recorder.ts';
import { LabelSets } from './label-sets.ts';
import { PartitionKey } from './partition-key.ts';
import type { ResultQueue, Route } from './queue.ts';
import type { ResultLags } from './result-lags.ts';

/** What all streams of a running program share. */
export interface ProgramRuntime {
  readonly host: EngineHost;
  readonly backend: ExpressionBackend;
  readonly time: ProgramTime;
  readonly queue: ResultQueue;
  readonly lags: ResultLags;
  /** What explanations evaluate conditions with. */
  readonly conditions: ConditionReaders;
  /** Streams remember what came last, to explain themselves. */
  readonly isExplained: boolean;
  /** The key that is not forgotten. */
  readonly explainedKey: string | null;
  /** What is asked of the world. */
  readonly effects: Effects;
  /** Lets everything through that has been caused so far. */
  settle(): void;
  /** Lets time behind a hold go on to `time`, with all that completes there. */
  releaseWatermark(hold: WatermarkHold, time: number, order: number): void;
  /** See `StreamEnvironment`. */
  suspend(): Suspended;
  resume(suspended: Suspended, goOn: (newest: number) => void): void;
  readonly names: FingerprintNames;
  /** What takes the place of the operator or source of this plan in a fused program. */
  kernelOf(plan: object): KernelFactory | undefined;
  addKernel(plan: object, kernel: Kernel): void;
  /** Who takes the rows of these origins. Known once every stream is made. */
  route(origins: readonly string[]): Route;
  /** The declared type of this name. */
  declared(type: string): RecordType | null;
  /** Arrival number of the last external event. */
  order(): number;
  /** The event at work came too late for some stream. */
  noteLate(): void;
  /** Remembers the events that outputs are made from. Null unless somebody wants to know. */
  readonly causes: CauseRecorder | null;
  /** Of which events the engine takes a share; null = it takes all. */
  readonly share: EventShare | null;
  /** Hands an output event to the host, and counts it. */
  output(event: OutputEvent, causes?: Causes): void;
}

/** What all operators of one stream share: its counters, its partition, its end, and what becomes of failures and late rows. */
export class StreamRuntime {
  readonly plan: StreamPlan;
  readonly index: number;
  readonly program: ProgramRuntime;
  readonly clock: StreamClock;
  readonly counters: StreamCounters;
  #labelSets: LabelSets | undefined;
  /** Where the chain ends: a result of the stream. */
  readonly end: Next;
  readonly partition: PartitionKey;
  /** Null unless the program is to explain itself. */
  readonly recorder: ExplainRecorder | null;
  /** An operator that wants to know what the pattern at the head of the stream sees. */
  patternObserver: PatternObserver | null = null;
  #lateRoute: Route | undefined;

  constructor(plan: StreamPlan, index: number, program: ProgramRuntime, counters: StreamCounters) {
    this.plan = plan;
    this.index = index;
    this.program = program;
    this.counters = counters;
    this.clock = program.time.stream(index);
    this.recorder = program.isExplained
      ? new ExplainRecorder(plan, (expression) => program.backend.expression(expression), program.explainedKey)
      : null;
    this.end = this.#endAt([`stream:${index}`]);
    this.partition = new PartitionKey(plan.partition, (expression) => this.evaluator(expression, null));
  }

  /** Of what its taps count. */
  get labelSets(): LabelSets {
    this.#labelSets ??= new LabelSets();
    return this.#labelSets;
  }

  /** The end of branches, one in the other, that is the end of the stream: a result that followers of each branch see too. */
  branchEnd(branches: readonly string[]): Next {
    return this.#endAt([`stream:${this.index}`, ...branches.map((branch) => this.#branchOrigin(branch))]);
  }

  /** The end of a branch that is not the end of the stream: only its followers see the row. */
  branchFollowers(branch: string): (row: Row) => void {
    return this.#handOn([this.#branchOrigin(branch)]);
  }

  #branchOrigin(branch: string): string {
    return `branch:${this.index}:${branch}`;
  }

  /** Under `.on_error(null)` a failure is counted for the operator and gives null; else it throws. */
  evaluator(expression: PlanExpression, operator: OperatorPlan | null): Evaluate {
    const evaluate = this.program.backend.expression(expression);
    if (this.plan.onError !== 'null') return evaluate;
    return (scope) => {
      try {
        return evaluate(scope);
      } catch (thrown) {
        this.countFailure(evaluationFailure(thrown), scope.row, operator);
        return null;
      }
    };
  }

  late(row: Row | null): void {
    this.counters.late++;
    this.program.noteLate();
    if (row === null) return;
    this.#lateRoute ??= this.program.route([`late:${this.index}`]);
    this.program.queue.add(this.#lateRoute, row);
  }

  /** A failure that ends a row's way in this stream. `row` is null when time moved and no single row was at work. */
  fail(error: EvaluationError, row: Row | null, operator: OperatorPlan | null): void {
    this.countFailure(error, row, operator);
    if (this.plan.onError === 'dlq' && row !== null) this.program.host.deadLetter?.(this.#deadLetter(error, row));
  }

  countFailure(error: EvaluationError, row: Row | null, operator: OperatorPlan | null): void {
    this.counters.failures++;
    const { log } = this.program.host;
    if (log === undefined) return;
    const where = operator === null ? '' : `${operator.text}: `;
    log.call(this.program.host, {
      stream: this.plan.name,
      level: 'error',
      kind: 'failure',
      message: `${where}${error.message}`,
      data: row === null ? null : row.fields,
    });
  }

  #deadLetter(error: EvaluationError, row: Row): DeadLetter {
    return { stream: this.plan.name, type: row.type, time: row.time, fields: row.fields, reason: error.message };
  }

  #endAt(origins: readonly string[]): Next {
    const handOn = this.#handOn(origins);
    return {
      process: (row) => {
        this.counters.eventsOut++;
        handOn(row);
      },
      endWindow: () => undefined,
    };
  }

  #handOn(origins: readonly string[]): (row: Row) => void {
    let route: Route | undefined;
    return (row) => {
      route ??= this.program.route(origins);
      this.program.queue.add(route, asResult(row));
    };
  }
}

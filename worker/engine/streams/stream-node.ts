import { readEventTime } from '../../../shared/events/event-time.ts';
import { encodeValue, type StoredValue } from '../../../shared/events/stored-value.ts';
import type { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import { modelOf } from '../../../shared/language/plan/alike.ts';
import { fingerprint } from '../../../shared/language/plan/fingerprint.ts';
import type { OperatorPlan, SourcePlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { StreamCounters } from '../engine.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import type { FusedNode, Kernel } from '../fusion/fused-runtime.ts';
import { type Next, runDropReasons } from '../operators/operator.ts';
import { isStatements, isWaiting } from '../operators/operator-facts.ts';
import type { Row } from '../operators/row.ts';
import { createSource } from '../sources/registry.ts';
import type { Source } from '../sources/source.ts';
import type { SourceOptions } from '../sources/source-options.ts';
import { anyValue, count, loadOf, mapOf, record, type Saved, text } from '../state/codec.ts';
import type { StreamClock } from '../time/stream-clock.ts';
import { ExplainRecorder } from '../trace/explain-recorder.ts';
import { explainStream } from '../trace/explain-stream.ts';
import type { Explanation } from '../trace/explanation.ts';
import type { RecorderRoom } from '../trace/recorder-room.ts';
import { advanceThrough, Chain, savedChain } from './chain.ts';
import { inFormat } from './earlier-forms.ts';
import { isIdle } from './idle-state.ts';
import { LabelSets } from './label-sets.ts';
import { linkMaker } from './link-maker.ts';
import { OperatorContext } from './operator-context.ts';
import { inputsOf } from './plan-inputs.ts';
import type { Inlet } from './queue.ts';
import { originsOf } from './routes.ts';
import { newCounters } from './stream-counters.ts';
import { type ProgramRuntime, StreamRuntime } from './stream-runtime.ts';

const savedCounters = record({
  eventsIn: count,
  eventsOut: count,
  late: count,
  failures: count,
  suppressed: count,
  runsDropped: mapOf(count),
  taps: mapOf(count),
});

const RUN_DROP_REASONS: ReadonlySet<string> = new Set(runDropReasons);

/** `basis`: what all state of the stream depends on. `fingerprint`: of what the state of its source depends on. */
export const savedStream = record({ basis: text, fingerprint: text, source: anyValue, chain: savedChain, counters: savedCounters });

/** What became of a stream in a restore, and whether state of it was left behind. */
export interface Restored {
  readonly outcome: 'preserved' | 'changed' | 'reset';
  readonly lostState: boolean;
}

export const preserved: Restored = { outcome: 'preserved', lostState: false };

/** What the rows of a stream go through. */
interface StreamParts {
  readonly runtime: StreamRuntime;
  readonly context: OperatorContext;
  readonly source: Source;
  readonly head: Parameters<typeof advanceThrough>[0];
  readonly chain: Chain;
  /** By origin. */
  readonly inlets: Map<string, readonly Inlet[]>;
}

/** One stream at work: its source, its chain, its time. */
export class StreamNode implements FusedNode {
  readonly plan: StreamPlan;
  /** Something in it may wait for time. */
  readonly isTimed: boolean;
  /** Nothing in it keeps or waits for anything. */
  readonly isBare: boolean;
  readonly clock: StreamClock;
  readonly counters: StreamCounters = newCounters();
  /** The earliest deadline that the clocks have been told of. */
  watched = Infinity;
  readonly #index: number;
  readonly #program: ProgramRuntime;
  #made: StreamParts | null = null;

  constructor(plan: StreamPlan, index: number, program: ProgramRuntime) {
    this.plan = plan;
    this.#index = index;
    this.#program = program;
    this.clock = program.time.stream(index);
    const { isTimed, isBare } = traitsOf(modelOf(plan));
    this.isTimed = isTimed;
    this.isBare = isBare;
    if (program.isExplained || !this.isBare) this.#made = this.#make();
  }

  /** Of a stream that neither keeps nor waits for anything they are made when somebody asks for them: as generated code it needs none. */
  get #parts(): StreamParts {
    this.#made ??= this.#make();
    return this.#made;
  }

  #make(): StreamParts {
    const [plan, program] = [this.plan, this.#program];
    const runtime = new StreamRuntime(plan, this.#index, program, this.counters);
    const makeLink = linkMaker(runtime);
    const context = new OperatorContext(runtime, null, { around: null, makeLink: () => makeLink });
    const chain = new Chain(plan.operators, runtime.end, makeLink);
    const source = createWith(plan, program, {
      environment: context,
      next: chain,
      makeLink,
      order: () => program.order(),
      observer: runtime.patternObserver,
      recorder: runtime.recorder,
      conditions: program.conditions.of(plan),
    });
    const head = { operator: source, fail: (error: EvaluationError, row: Row | null) => context.fail(error, row, null) };
    return { runtime, context, source, head, chain, inlets: new Map() };
  }

  /** What takes the rows of an origin that the stream reads. */
  inlets(origin: string): readonly Inlet[] {
    const { inlets, source } = this.#parts;
    const known = inlets.get(origin);
    if (known !== undefined) return known;
    const isEvent = origin.startsWith('event:');
    const positions = originsOf(inputsOf(this.plan.source)).get(origin);
    const receivers = positions === undefined ? [] : source.receivers(origin, positions);
    const made = receivers.map((receive) => ({ stream: this.#index, deliver: this.#deliver(this.#witnessed(receive), isEvent) }));
    inlets.set(origin, made);
    return made;
  }

  receivers(origin: string): readonly ((row: Row) => void)[] {
    return this.inlets(origin).map(({ deliver }) => deliver);
  }

  entry(position: number): Next {
    return this.#parts.chain.entry(position);
  }

  fail(thrown: unknown, row: Row | null, operator: OperatorPlan | null): void {
    this.#parts.runtime.fail(evaluationFailure(thrown), row, operator);
  }

  /** What its recorder remembers has to find room there. */
  shareRoom(room: RecorderRoom): void {
    this.#parts.runtime.recorder?.shareRoom(room);
  }

  /** The stream's own account of what it holds, waits for, and held back. `key`: as `Engine.explain` has it. */
  explain(key: string | null): Explanation {
    const { runtime, source, chain } = this.#parts;
    const { counters, program } = runtime;
    return explainStream(
      {
        plan: this.plan,
        source: source.inspect?.() ?? null,
        held: source.held?.() ?? [],
        windows: source.openWindows?.() ?? [],
        operators: chain.operators,
        recorder: runtime.recorder ?? new ExplainRecorder(this.plan, (expression) => program.backend.expression(expression)),
        now: this.clock.now(),
        eventsIn: counters.eventsIn,
        eventsOut: counters.eventsOut,
        reader: program.conditions.of(this.plan),
        streamName: program.names.stream,
      },
      key,
    );
  }

  /** The receiver, with the stream's recorder looking on. */
  #witnessed(receive: (row: Row) => void): (row: Row) => void {
    const { recorder } = this.#parts.runtime;
    if (recorder === null) return receive;
    return (row) => {
      recorder.begin(row);
      try {
        receive(row);
      } finally {
        recorder.end();
      }
    };
  }

  #deliver(receive: (row: Row) => void, isEvent: boolean): (row: Row) => void {
    const { runtime } = this.#parts;
    const deliver = (row: Row): void => {
      this.counters.eventsIn++;
      try {
        receive(this.plan.time.on === null ? row : this.#retimed(row, isEvent));
      } catch (thrown) {
        runtime.fail(evaluationFailure(thrown), row, null);
      }
      if (this.isTimed) this.schedule();
    };
    const tracer = this.#program.host.trace;
    if (tracer === undefined) return deliver;
    return (row) => {
      tracer.matched(this.plan.name, row.type);
      deliver(row);
    };
  }

  /** `.watermark(on: f)`: the row at the time that its field says; a derived row moves this stream's time first. */
  #retimed(row: Row, isEvent: boolean): Row {
    const time = readEventTime(row.fields.get(this.plan.time.on as string) ?? null);
    if (time === undefined) return row;
    const { own } = this.clock;
    if (!isEvent && own !== null) {
      this.#program.time.moveOwn(own, time);
      this.advance();
    }
    return { ...row, time };
  }

  /** The stream's turn in a step of time: source first, then its operators. */
  advance(): void {
    const watermark = this.clock.now();
    const { context, head, chain } = this.#parts;
    context.reach(watermark);
    advanceThrough(head, watermark);
    chain.advance(watermark);
  }

  /** Wakes the program when something here may be due. */
  schedule(): void {
    const { source, chain } = this.#parts;
    this.watched = Math.min(source.deadline(), chain.deadline());
    this.clock.schedule(this.watched);
  }

  /** The counters with what is counted only when they are asked for. */
  count(): StreamCounters {
    this.counters.runsActive = this.#made?.source.runsActive?.() ?? 0;
    return this.counters;
  }

  save(): Saved<typeof savedStream> {
    return { ...this.#saveHead(), chain: this.#parts.chain.save() };
  }

  /** All but the operators. */
  #saveHead(): Omit<Saved<typeof savedStream>, 'chain'> {
    const { source } = this.#parts;
    const { eventsIn, eventsOut, late, failures, suppressed, runsDropped, taps } = this.counters;
    const counters = { eventsIn, eventsOut, late, failures, suppressed, runsDropped, taps };
    return { basis: this.basis(), fingerprint: source.fingerprint, source: source.save(), counters };
  }

  /** `save` as it is now, to be encoded later, as a format of states has it. */
  capture(format: number): () => StoredValue {
    const { source: asLatest, ...rest } = this.#saveHead();
    const head = savedStream.save({ ...rest, source: inFormat(asLatest, format), chain: [] });
    const [basis, fingerprint, source, , counters] = encodeValue(head) as [StoredValue, StoredValue, StoredValue, unknown, StoredValue];
    const chain = this.#parts.chain.capture(format);
    return () => [basis, fingerprint, source, chain(), counters];
  }

  /** @throws DamagedState */
  load({ basis, fingerprint, source, chain, counters }: Saved<typeof savedStream>): Restored {
    this.#loadCounters(counters);
    const states = [source, ...chain.map(({ state }) => state)].filter((state) => !isIdle(state)).length;
    if (basis !== this.basis()) return { outcome: 'reset', lostState: states > 0 };
    const parts = this.#parts;
    const isSameSource = fingerprint === parts.source.fingerprint;
    let kept = 0;
    if (isSameSource && source !== null) {
      loadOf('its source', () => parts.source.load(source));
      if (!isIdle(source)) kept++;
    }
    kept += parts.chain.load(chain);
    if (isSameSource && this.#isSameChain(chain.map((one) => one.fingerprint))) return preserved;
    return { outcome: states > 0 && kept === 0 ? 'reset' : 'changed', lostState: kept < states };
  }

  /** The counts of a stream that neither keeps anything nor means anything else. */
  takeCounts({ counters }: StreamNode): void {
    const { eventsIn, eventsOut, late, failures, suppressed, runsDropped, taps } = counters;
    this.#loadCounters({ eventsIn, eventsOut, late, failures, suppressed, runsDropped, taps });
  }

  #loadCounters({ runsDropped, taps, ...others }: Saved<typeof savedCounters>): void {
    Object.assign(this.counters, others);
    if (this.counters.eventsIn > 0 && this.#program.isExplained) this.#parts.runtime.recorder?.beginLater();
    const dropped = Array.from(runsDropped).filter(([reason]) => RUN_DROP_REASONS.has(reason));
    if (dropped.length > 0) this.counters.runsDropped = new Map(dropped);
    if (taps.size > 0) this.counters.taps = LabelSets.load(taps);
  }

  /** Of what all state of this stream depends on: its key, and whether it sees rows in event-time order. */
  basis(): string {
    return fingerprint([this.plan.partition, this.plan.time.outOfOrderMs > 0], this.#program.names);
  }

  #isSameChain(fingerprints: readonly string[]): boolean {
    const own = this.#parts.chain.fingerprints;
    return fingerprints.length === own.length && own.every((fingerprint, position) => fingerprint === fingerprints[position]);
  }
}

interface Traits {
  readonly of: StreamPlan;
  readonly isTimed: boolean;
  readonly isBare: boolean;
}

/** Those of the model that was asked for last, which streams beside each other often share. */
let last: Traits | null = null;

function traitsOf(model: StreamPlan): Traits {
  if (last?.of !== model) {
    const isTimed = model.source.kind !== 'events' || model.operators.some(isWaiting);
    last = { of: model, isTimed, isBare: isBare(model) };
  }
  return last;
}

/** Whether nothing in a stream keeps or waits for anything. */
function isBare({ source, operators }: StreamPlan): boolean {
  return source.kind === 'events' && operators.every(isStatements) && source.inputs.every((input) => input.operators.every(isStatements));
}

/** The head of the stream, or the kernel of generated code that takes its place. */
function createWith(plan: StreamPlan, program: ProgramRuntime, options: SourceOptions): Source {
  const kernel = program.kernelOf(plan.source) as ((plan: SourcePlan, options: SourceOptions) => Source & Kernel) | undefined;
  if (kernel === undefined) return createSource(plan, options);
  const source = kernel(plan.source, options);
  program.addKernel(plan.source, source);
  return source;
}

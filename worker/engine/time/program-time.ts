import { modelOf } from '../../../shared/language/plan/alike.ts';
import type { InputPlan, OperatorPlan, Plan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { EntryPlace } from '../fusion/event-entry.ts';
import { isWaiting } from '../operators/operator-facts.ts';
import { mapOf, record, type Saved } from '../state/codec.ts';
import { inputsOf, upstreamOf } from '../streams/plan-inputs.ts';
import { readTypesOf } from '../streams/unread-types.ts';
import { Clock, savedClock } from './clock.ts';
import { passedOnLagMs } from './result-lag.ts';
import { SourceClocks, savedSources, type TimedEvent } from './source-clocks.ts';
import { type Following, type Reading, StreamClock } from './stream-clock.ts';
import type { WatermarkHold } from './watermark-hold.ts';

/**
 * So many events begin a step of time though nothing is due, which changes nothing: else the first step comes when V8 has compiled all
 * that an event does, takes what never happened for impossible, and throws that away.
 */
const EARLY_STEPS = 128;

/** `own`: the clocks that streams move by their rows, by stream. */
export const savedTime = record({ sources: savedSources, own: mapOf(savedClock) });

/**
 * Event time of a program: the clocks of its sources, and which of them each stream waits for. Time moves in numbered
 * steps; while a step runs, each stream reads the time before it until its own turn has come.
 */
export class ProgramTime {
  readonly #plan: Plan;
  readonly sources: SourceClocks;
  readonly #streams: (StreamClock | undefined)[] = [];
  private readonly clocks: readonly Clock[];
  /** What moves streams that read one type of events: the same for thousands of rules. */
  readonly #ofTypes = new Map<string, readonly Reading[]>();
  /** Every event type that some stream reads. */
  readonly #types: readonly string[];
  /** Streams in which, or before which, rows may wait for answers from outside. */
  readonly #mayHold = new Set<number>();
  private stepNumber = 0;
  private earlySteps = EARLY_STEPS;
  #isStepping = false;

  /** `order`: stream indexes upstream first. */
  constructor(plan: Plan, order: readonly number[]) {
    this.#plan = plan;
    this.#types = [...readTypesOf(plan)];
    this.sources = new SourceClocks(plan, this.#types.length === 0);
    let before: StreamPlan | null = null;
    let shared: StreamClock | null = null;
    for (const index of order) {
      const stream = plan.streams[index] as StreamPlan;
      const model = modelOf(stream);
      if (model !== before) {
        before = model;
        shared = this.#place(stream, index);
      } else if (shared === null) this.#place(stream, index);
      else this.#streams[index] = shared;
    }
    const clocks = new Set(this.sources.all());
    for (const stream of this.#streams) if (stream !== undefined && stream.own !== null) clocks.add(stream.own);
    this.clocks = [...clocks];
    // V8 takes a member that never changed for a constant, and would throw away what it compiled at the first step of time.
    this.begin();
    this.finish();
  }

  /** The clock of all streams of the same model, which neither hold rows back nor wait for time; null = each has one of its own. */
  #place(stream: StreamPlan, index: number): StreamClock | null {
    const clock = this.#clockOf(stream);
    this.#streams[index] = clock;
    const { operators } = modelOf(stream);
    const mayHold = holdsRows(operators) || upstreamOf(stream).some((before) => this.#mayHold.has(before));
    if (mayHold) this.#mayHold.add(index);
    return mayHold || onlyTypeOf(stream) === undefined || operators.some(isWaiting) ? null : clock;
  }

  stream(index: number): StreamClock {
    return this.#streams[index] as StreamClock;
  }

  /** The number of the step of time that runs or ran last. */
  get step(): number {
    return this.stepNumber;
  }

  get isStepping(): boolean {
    return this.#isStepping;
  }

  observe(event: TimedEvent): void {
    this.sources.observe(event, ++this.stepNumber);
  }

  /** As `observe`, for the events of types that move this clock alone: the function says whether a step of time is due. */
  moverOf(clock: Clock, place: EntryPlace): (time: number) => boolean {
    if (this.clocks.length > 1) {
      return (time) => {
        clock.move(time, ++this.stepNumber, place.partition);
        return this.isDue() || this.isEarly();
      };
    }
    return (time) => {
      const isDue = clock.reach(time, this.stepNumber + 1, this.isEarly());
      if (isDue) this.stepNumber++;
      return isDue;
    };
  }

  private isEarly(): boolean {
    if (this.earlySteps === 0) return false;
    this.earlySteps--;
    return true;
  }

  tick(time: number, source?: string): void {
    this.sources.tick(time, source, ++this.stepNumber);
  }

  /** See `Engine.passSilence`. */
  passSilence(silentMs: ReadonlyMap<string, number>, partitions: ReadonlyMap<string, readonly string[]>): void {
    const step = ++this.stepNumber;
    this.sources.leavePartitions(partitions, step);
    this.sources.passSilence(silentMs, step);
  }

  end(): void {
    const step = ++this.stepNumber;
    for (const clock of this.clocks) clock.moveAll(Infinity, step);
  }

  /** A row of a stream that reads its time from a field. Its followers see the new time in the step that comes behind. */
  moveOwn(clock: Clock, time: number): void {
    if (!this.#isStepping) this.begin(++this.stepNumber);
    clock.move(time, this.stepNumber);
  }

  /** The first row waits: from now on time moves only for what comes before the hold. */
  holdWatermark(hold: WatermarkHold, time: number): void {
    hold.move(time, this.stepNumber);
  }

  /** Lets time behind a hold go on, in a separate step. */
  releaseWatermark(hold: WatermarkHold, time: number): void {
    hold.move(time, ++this.stepNumber);
  }

  /** The highest event time on any source, before the end of the input; null before the first event. */
  get latest(): number | null {
    const latest = Math.max(...this.clocks.map((clock) => clock.lastFinite()));
    return Number.isFinite(latest) ? latest : null;
  }

  isDue(): boolean {
    for (const clock of this.clocks) if (clock.isDue()) return true;
    return false;
  }

  /** See `Engine.dueInMs`. */
  dueInMs(): number {
    return Math.min(...this.clocks.map((clock) => clock.dueInMs()));
  }

  begin(step = this.stepNumber): void {
    this.stepNumber = step;
    this.#isStepping = true;
  }

  /** The step is through; what is due next is to be scheduled anew. */
  finish(): void {
    this.#isStepping = false;
    for (const clock of this.clocks) clock.clearSchedule();
  }

  #clockOf(stream: StreamPlan): StreamClock {
    if (stream.source.kind === 'timer') return new StreamClock(this.#programReadings(), null);
    const type = onlyTypeOf(stream);
    if (type === undefined) return this.#clockOfAny(stream);
    const key = `${stream.time.outOfOrderMs} ${type}`;
    const known = this.#ofTypes.get(key);
    if (known !== undefined) return new StreamClock(known, null);
    const clock = this.#clockOfAny(stream);
    this.#ofTypes.set(key, clock.readings);
    return clock;
  }

  #clockOfAny(stream: StreamPlan): StreamClock {
    const readings = new Map<Clock, number>();
    let own: Clock | null = null;
    for (const input of inputsOf(stream.source)) {
      if (input.from.kind !== 'event' && stream.time.on !== null) own ??= this.#ownClock(stream);
      for (const { clock, lagMs } of this.#inputReadings(input, stream, own)) {
        readings.set(clock, Math.max(readings.get(clock) ?? 0, lagMs));
      }
    }
    this.sources.waitTogether([...readings.keys()]);
    return new StreamClock(
      [...readings].map(([clock, lagMs]) => ({ clock, lagMs })),
      own,
      this.#followedBy(stream),
    );
  }

  /** The streams that this one follows and that may hold rows back. */
  #followedBy(stream: StreamPlan): readonly Following[] {
    const upstream = [...new Set(upstreamOf(stream))].filter((index) => this.#mayHold.has(index));
    return upstream.map((index) => {
      const behindMs = passedOnLagMs(this.#plan.streams[index] as StreamPlan) + stream.time.outOfOrderMs;
      return { clock: this.stream(index), behindMs };
    });
  }

  #inputReadings({ from }: InputPlan, { time }: StreamPlan, own: Clock | null): readonly Reading[] {
    if (from.kind === 'event') {
      const clocks = from.types.flatMap((type) => this.sources.ofType(type, time.on));
      return clocks.map((clock) => ({ clock, lagMs: time.outOfOrderMs }));
    }
    if (own !== null) return [{ clock: own, lagMs: time.outOfOrderMs }];
    const upstream = this.#plan.streams[from.stream] as StreamPlan;
    const behindMs = passedOnLagMs(upstream) + time.outOfOrderMs;
    return this.stream(from.stream).readings.map(({ clock, lagMs }) => ({ clock, lagMs: lagMs + behindMs }));
  }

  #ownClock(stream: StreamPlan): Clock {
    const clock = new Clock();
    this.sources.attach(clock, this.#typesBehind(stream));
    return clock;
  }

  /** Event types that a stream is made of, however far upstream. */
  #typesBehind(stream: StreamPlan): readonly string[] {
    const behind = new Set([stream]);
    for (const one of behind) for (const upstream of upstreamOf(one)) behind.add(this.#plan.streams[upstream] as StreamPlan);
    return [...behind].flatMap(eventTypesOf);
  }

  /** The clock of a timer: all sources that the program reads; the default input when it reads none. */
  #programReadings(): readonly Reading[] {
    const clocks = new Set(this.#types.flatMap((type) => this.sources.ofType(type, null)));
    this.sources.waitTogether([...clocks]);
    return [...(clocks.size > 0 ? clocks : [this.sources.default()])].map((clock) => ({ clock, lagMs: 0 }));
  }

  save(): Saved<typeof savedTime> {
    const own = this.#plan.streams.flatMap(({ name }, index) => {
      const clock = this.stream(index).own;
      return clock === null ? [] : [[name, clock.save()] as const];
    });
    return { sources: this.sources.save(), own: new Map(own) };
  }

  load({ sources, own }: Saved<typeof savedTime>): void {
    this.sources.load(sources);
    this.#plan.streams.forEach((stream, index) => {
      const state = own.get(stream.name);
      if (state !== undefined) this.stream(index).own?.load(state);
    });
  }
}

/** Whether one of the operators waits for answers from outside. */
function holdsRows(operators: readonly OperatorPlan[]): boolean {
  return operators.some((operator) => {
    if (operator.kind === 'fork') return operator.branches.some((branch) => holdsRows(branch.operators));
    return operator.kind === 'enrich' || operator.kind === 'score';
  });
}

/** The type of the events that a stream reads at the time which they have, where it reads nothing else. */
function onlyTypeOf({ source, time }: StreamPlan): string | undefined {
  if (source.kind !== 'events' || source.inputs.length !== 1 || time.on !== null) return undefined;
  const from = source.inputs[0]?.from;
  return from?.kind === 'event' && from.types.length === 1 ? from.types[0] : undefined;
}

function eventTypesOf(stream: StreamPlan): readonly string[] {
  return inputsOf(stream.source).flatMap(({ from }) => (from.kind === 'event' ? from.types : []));
}

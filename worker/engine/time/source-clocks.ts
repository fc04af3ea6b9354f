import type { Fields, InputEvent } from '../../../shared/events/event.ts';
import { readEventTime } from '../../../shared/events/event-time.ts';
import type { Plan, SourceBinding } from '../../../shared/language/plan/plan.ts';
import type { HeardSource } from '../engine.ts';
import { flag, mapOf, orAbsent, record, type Saved } from '../state/codec.ts';
import { sourcesOfTypes } from './bound-types.ts';
import { Clock, savedClock } from './clock.ts';

/** By the id of each binding. `hasOwnTimes`: the default input of a program that reads no event has had one with a time of its own. */
export const savedSources = mapOf(
  record({ followsArrival: flag, clock: savedClock, fieldClocks: mapOf(savedClock), hasOwnTimes: orAbsent(flag) }),
);

interface FieldClock {
  /** Under which its silence is told. */
  readonly id: string;
  readonly clock: Clock;
}

/** One source: its clock of event times, and one more for each field that some stream takes as its event time. */
interface Source {
  readonly binding: SourceBinding;
  readonly clock: Clock;
  readonly fieldClocks: Map<string, FieldClock>;
  /** Clocks of streams that take the time from a field of what another stream made of this source: ticks move them too. */
  readonly derivedClocks: Set<Clock>;
  /** The newest event came without a time of its own; or none has come, and none is read. */
  followsArrival: boolean;
}

/** Stands for the clock of a field among the ids of sources, none of which begins so. */
export function fieldSource(id: string, field: string): string {
  return `$field ${field} ${id}`;
}

/** A source as an event sees it that moves nothing but its clock. */
export interface SingleClock {
  readonly clock: Clock;
  followsArrival: boolean;
}

/** An admitted event as the clocks see it. */
export interface TimedEvent {
  readonly type: string;
  readonly fields: Fields;
  /** Epoch ms. */
  readonly time: number;
  /** The time is that of the event's arrival: nothing else said one. */
  readonly isArrivalTime: boolean;
  readonly source: InputEvent['source'];
}

/** The sources of a program and their clocks. `sources[0]` is the default input. */
export class SourceClocks {
  readonly #sources: readonly Source[];
  readonly #byId: ReadonlyMap<string, Source>;
  readonly #sourcesOf: (type: string) => readonly Source[];
  /** By clock, those for which some stream waits beside it. */
  readonly #beside = new Map<Clock, Set<Clock>>();
  /** See `Engine.takeHeard`: by id, the partitions of the events. */
  readonly #heard = new Map<string, Set<string | null>>();

  readonly #isDefaultIdle: boolean;

  /** `isDefaultIdle`: no event is read, so the default input follows the wall clock until an event says a time to it. */
  constructor(plan: Plan, isDefaultIdle: boolean) {
    this.#isDefaultIdle = isDefaultIdle;
    this.#sources = plan.sources.map((binding, at) => ({
      binding,
      clock: new Clock(),
      fieldClocks: new Map(),
      derivedClocks: new Set(),
      followsArrival: isDefaultIdle && at === 0,
    }));
    this.#byId = new Map(this.#sources.slice(1).map((source) => [source.binding.id, source]));
    this.#sourcesOf = this.#sourcesOfTypes(plan);
  }

  /** The clocks by which events of a type come, reading a field when the stream says so. */
  ofType(type: string, field: string | null): readonly Clock[] {
    return this.#sourcesOf(type).map((source) => clockOf(source, field));
  }

  default(): Clock {
    return (this.#sources[0] as Source).clock;
  }

  /** A clock of a stream's own that ticks of the sources of these types move. */
  attach(clock: Clock, types: readonly string[]): void {
    for (const type of types) for (const source of this.#sourcesOf(type)) source.derivedClocks.add(clock);
  }

  /** A stream waits for the lowest of these. */
  waitTogether(clocks: readonly Clock[]): void {
    if (clocks.length < 2) return;
    for (const clock of clocks) {
      const beside = this.#beside.get(clock) ?? new Set();
      for (const other of clocks) beside.add(other);
      this.#beside.set(clock, beside);
    }
  }

  /**
   * Moves the source that the event came through; where none is named, those of its type. A type without a binding counts as the default input's
   * wherever it comes through: streams that read nothing else wait for that. Bindings of a type through none of which it came are led by it.
   */
  observe(event: TimedEvent, step: number): void {
    const { source: through, type } = event;
    const bound = through && this.#byId.get(through.id);
    if (bound !== undefined) this.#move(bound, event, through?.partition ?? null, step);
    const ofType = this.#sourcesOf(type);
    if (bound === undefined || ofType[0] === this.#sources[0]) for (const source of ofType) this.#move(source, event, null, step);
    else if (!ofType.includes(bound)) for (const source of ofType) this.#lead(source, event, step);
  }

  #move(source: Source, { time, fields, isArrivalTime }: TimedEvent, partition: string | null, step: number): void {
    source.followsArrival = isArrivalTime;
    source.clock.move(time, step, partition);
    for (const [field, own] of source.fieldClocks) {
      const ownTime = readEventTime(fields.get(field) ?? null);
      if (ownTime === undefined) {
        if (partition !== null) own.clock.passBy(partition, step);
        continue;
      }
      own.clock.move(ownTime, step, partition);
      this.#hear(own.id, partition);
    }
  }

  /** An event for the streams of a source has come through the binding of another type: it says what time it is while the source says nothing. */
  #lead(source: Source, { time, fields, isArrivalTime }: TimedEvent, step: number): void {
    if (source.clock.follow(time, step)) {
      source.followsArrival = isArrivalTime;
      this.#hear(source.binding.id, null);
    }
    for (const [field, own] of source.fieldClocks) {
      const ownTime = readEventTime(fields.get(field) ?? null);
      if (ownTime !== undefined && own.clock.follow(ownTime, step)) this.#hear(own.id, null);
    }
  }

  #hear(id: string, partition: string | null): void {
    const partitions = this.#heard.get(id);
    if (partitions === undefined) this.#heard.set(id, new Set([partition]));
    else partitions.add(partition);
  }

  /** Whether an event of this type that comes through the binding with this id moves one clock, that of the binding. */
  isSingle(type: string, id: string): boolean {
    const source = this.#byId.get(id);
    return source !== undefined && source === this.singleOf(type);
  }

  /** The only clock that an event of this type moves when nobody names its source; null when there are more. */
  singleOf(type: string): SingleClock | null {
    const [source, ...others] = this.#sourcesOf(type);
    return source === undefined || others.length > 0 || source.fieldClocks.size > 0 ? null : source;
  }

  /** Events of these broker partitions of a binding are on their way: time waits for them. */
  awaitPartitions(id: string, partitions: readonly string[]): void {
    const source = this.#byId.get(id);
    if (source === undefined) return;
    for (const [, clock] of ownClocksOf(source)) for (const partition of partitions) clock.awaitPartition(partition);
  }

  /** See `Engine.takeHeard`. */
  takeHeard(): readonly HeardSource[] {
    if (this.#heard.size === 0) return NOTHING;
    const heard = Array.from(this.#heard, ([id, partitions]) => Array.from(partitions, (partition) => ({ id, partition })));
    this.#heard.clear();
    return heard.flat();
  }

  /** See `Engine.partitions`. */
  partitions(): ReadonlyMap<string, readonly string[]> {
    return new Map(this.#sources.flatMap((source) => ownClocksOf(source).map(([id, clock]) => [id, clock.partitionNames()] as const)));
  }

  /** A tick of the host. Without a source it is for those whose newest event has arrival time. */
  tick(time: number, id: string | undefined, step: number): void {
    if (id === undefined) {
      for (const source of this.#sources) if (source.followsArrival) source.clock.moveAll(time, step);
      return;
    }
    const source = id === this.#sources[0]?.binding.id ? this.#sources[0] : this.#byId.get(id);
    for (const clock of source === undefined ? [] : clocksOf(source)) clock.moveAll(time, step);
  }

  /**
   * Sources from which nothing has come for so long, or nothing with a field, by their ids. Each clock goes on from the times that it was given itself; where it was
   * given none it follows those for which streams wait beside it. One that follows arrivals is moved by ticks alone, and one behind several sources waits until all are
   * silent.
   */
  passSilence(silentMs: ReadonlyMap<string, number>, step: number): void {
    const derived = new Map<Clock, number>();
    const unheard: Clock[] = [];
    for (const source of this.#sources) {
      const { binding, clock, derivedClocks, followsArrival } = source;
      const silent = silentMs.get(binding.id) ?? 0;
      for (const one of derivedClocks) derived.set(one, Math.min(derived.get(one) ?? Infinity, silent));
      for (const [id, one] of ownClocksOf(source)) {
        const ownSilent = Math.max(silent, silentMs.get(id) ?? 0);
        if (ownSilent === 0) continue;
        if (!one.isHeard) unheard.push(one);
        else if (one !== clock || !followsArrival) one.passSilence(ownSilent, step);
      }
    }
    for (const clock of unheard) clock.passSilence(0, step, this.#lowestBeside(clock));
    for (const [clock, silent] of derived) clock.passSilence(silent, step);
  }

  /** The lowest that was given a time of those for which streams wait beside it. -Infinity when none was. */
  #lowestBeside(clock: Clock): number {
    const heard = Array.from(this.#beside.get(clock) ?? []).filter(({ isHeard }) => isHeard);
    return heard.length === 0 ? -Infinity : Math.min(...heard.map((one) => one.now()));
  }

  /** Broker partitions from which nothing has come for so long that they are idle, by the ids of their bindings. */
  leavePartitions(silent: ReadonlyMap<string, readonly string[]>, step: number): void {
    for (const source of this.#sources) {
      const all = silent.get(source.binding.id) ?? [];
      for (const [id, clock] of ownClocksOf(source)) {
        const own = new Set([...all, ...(silent.get(id) ?? [])]);
        if (own.size > 0) clock.leavePartitions(own, step);
      }
    }
  }

  all(): Set<Clock> {
    return new Set(this.#sources.flatMap(clocksOf));
  }

  #sourcesOfTypes(plan: Plan): (type: string) => readonly Source[] {
    const positionsOf = sourcesOfTypes(plan);
    const found = new Map<readonly number[], readonly Source[]>();
    return (type) => {
      const positions = positionsOf(type);
      let sources = found.get(positions);
      if (sources === undefined) {
        sources = positions.map((at) => this.#sources[at] as Source);
        found.set(positions, sources);
      }
      return sources;
    };
  }

  save(): Saved<typeof savedSources> {
    const saved = this.#sources.map(({ binding, followsArrival, clock, fieldClocks }) => {
      const fields = new Map(Array.from(fieldClocks, ([field, one]) => [field, one.clock.save()]));
      const hasOwnTimes = (this.#isDefaultIdle && binding === this.#sources[0]?.binding && !followsArrival) || undefined;
      return [binding.id, { followsArrival, clock: clock.save(), fieldClocks: fields, hasOwnTimes }] as const;
    });
    return new Map(saved);
  }

  load(saved: Saved<typeof savedSources>): void {
    for (const source of this.#sources) {
      const own = saved.get(source.binding.id);
      if (own === undefined) continue;
      const mayBeIdle = this.#isDefaultIdle && source === this.#sources[0];
      source.followsArrival = own.followsArrival || (mayBeIdle && own.hasOwnTimes !== true);
      source.clock.load(own.clock);
      for (const [field, clock] of own.fieldClocks) source.fieldClocks.get(field)?.clock.load(clock);
    }
  }
}

function clockOf(source: Source, field: string | null): Clock {
  if (field === null) return source.clock;
  let own = source.fieldClocks.get(field);
  if (own === undefined) {
    own = { id: fieldSource(source.binding.id, field), clock: new Clock() };
    source.fieldClocks.set(field, own);
  }
  return own.clock;
}

function clocksOf(source: Source): Clock[] {
  return [...ownClocksOf(source).map(([, clock]) => clock), ...source.derivedClocks];
}

/** Those that its events move, by the id under which their silence is told. */
function ownClocksOf({ binding: { id }, clock, fieldClocks }: Source): (readonly [id: string, clock: Clock])[] {
  return [[id, clock], ...Array.from(fieldClocks.values(), (field) => [field.id, field.clock] as const)];
}

const NOTHING: readonly never[] = [];

import type { InputSource } from '../../../shared/events/event.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { Engine, HeardSource } from '../../engine/engine.ts';
import { sourcesOfTypes } from '../../engine/time/bound-types.ts';
import { fieldSource } from '../../engine/time/source-clocks.ts';
import { idleTimesOf, timeFieldsOf } from './idle-times.ts';

/** Ticks come often: a longer step is a clock that was set, or a time in which nobody listened, and no silence. */
const STEP_MS_MAX = 10_000;
/** In what is saved: stands for the tick that came last, and is the id of no source. */
const TICK_ID = '$tick';
/** In what is saved: a broker's partition, with its name and the id of its source behind it. No id of a source begins so. */
const PARTITION = /^\$partition (\S+) (.+)$/;

/** Among the sources of a plan. */
const DEFAULT_INPUT = 0;

interface Silence {
  /** When the last event came that no tick has seen yet. */
  arrived: number | null;
  /** By the ticks, since when nothing came behind the last event. */
  silentSince: number | null;
}

interface SourceTime extends Silence {
  readonly id: string;
  /** It is idle when nothing came for so long. */
  readonly idleMs: number;
  /** Those of its broker that its time waits for. */
  readonly partitions: Map<string, Silence>;
  /** Of a field from which streams take the time, the source: it is silent where no event of that has it. */
  readonly of: SourceTime | null;
}

/** The third was the time of the last event, from which builds before moved the clocks on; now null. */
export type SavedIdleSources = readonly (readonly [id: string, silentSince: number | null, own: number | null])[];

/**
 * Moves the time of sources. One whose newest event has the time of its arrival follows the wall clock; times that events state are moved
 * on as fast as the wall clock goes once their source was idle for long enough. A source waits for a partition of its broker until that
 * is idle. Silence is what ticks have seen: the clock that says when events arrive may be another machine's, and either may be set. Knows
 * only what stands in records, so a replay moves the same.
 */
export class IdleSources {
  readonly #sources: readonly SourceTime[];
  /** With their fields. */
  readonly #all: readonly SourceTime[];
  readonly #byId: ReadonlyMap<string, SourceTime>;
  readonly #bindings: ReadonlyMap<string, SourceTime>;
  readonly #sourcesOf: (type: string) => readonly number[];
  #ticked: number | null = null;

  constructor(plan: Plan) {
    this.#sourcesOf = sourcesOfTypes(plan);
    const idleTimes = idleTimesOf(plan, this.#sourcesOf);
    const unheard = { arrived: null, silentSince: null };
    this.#sources = plan.sources.map(({ id }, at) => ({
      id,
      idleMs: idleTimes[at] as number,
      ...unheard,
      partitions: new Map(),
      of: null,
    }));
    const fields = timeFieldsOf(plan, this.#sourcesOf).flatMap((names, at) => {
      const of = this.#sources[at] as SourceTime;
      return Array.from(names, (name) => ({ ...of, id: fieldSource(of.id, name), partitions: new Map(), of }));
    });
    this.#all = [...this.#sources, ...fields];
    this.#byId = new Map(this.#all.map((source) => [source.id, source]));
    this.#bindings = new Map(this.#sources.slice(1).map((source) => [source.id, source]));
  }

  isBinding(id: string): boolean {
    return this.#bindings.has(id);
  }

  /** An event of this type came, as the clocks of the engine see it. */
  observe(type: string, arrived: number, through?: InputSource): void {
    const binding = through && this.#bindings.get(through.id);
    if (binding !== undefined) {
      binding.arrived = arrived;
      if (through?.partition !== undefined) hear(binding, through.partition, arrived);
    }
    const ofType = this.#sourcesOf(type);
    if (binding === undefined || ofType[0] === DEFAULT_INPUT) for (const at of ofType) (this.#sources[at] as SourceTime).arrived = arrived;
  }

  /** What events have given a time besides the sources that `observe` knows of. */
  hear(heard: readonly HeardSource[], arrived: number): void {
    for (const { id, partition } of heard) {
      const source = this.#byId.get(id);
      if (source === undefined) continue;
      source.arrived = arrived;
      if (partition !== null) hear(source, partition, arrived);
    }
  }

  /** Events of these partitions are on their way. */
  await(id: string, partitions: readonly string[], arrived: number): void {
    const binding = this.#bindings.get(id);
    if (binding === undefined) return;
    const waiting = this.#all.filter((one) => one === binding || one.of === binding);
    for (const one of waiting) for (const partition of partitions) hear(one, partition, arrived);
  }

  tick(engine: Engine, now: number): void {
    engine.advance(now);
    const silentMs = new Map<string, number>();
    const left = new Map<string, readonly string[]>();
    for (const source of this.#all) {
      // Where others have begun, nothing waits for ever for one from which nothing ever comes.
      if (source.arrived === null && this.#sources.length > 1) source.silentSince ??= now;
      const silent = this.#silentMs(source, now);
      if (silent >= source.idleMs) silentMs.set(source.id, silent);
      const { partitions } = source;
      const idle = [...partitions.keys()].filter((name) => this.#silentMs(partitions.get(name) as Silence, now) >= source.idleMs);
      if (idle.length > 0) left.set(source.id, idle);
      if (idle.length === partitions.size) partitions.clear();
    }
    if (silentMs.size + left.size > 0) engine.passSilence(silentMs, left);
    this.#ticked = now;
  }

  /** By the tick of this time; -1 where nothing has come yet. */
  #silentMs(one: Silence, now: number): number {
    this.#look(one);
    if (one.silentSince === null) return -1;
    if (this.#ticked === null) one.silentSince = Math.max(one.silentSince, now);
    else if (!goesOn(this.#ticked, now)) one.silentSince += now - this.#ticked;
    return now - one.silentSince;
  }

  /** For how long behind that tick time goes on evenly, ms: silence that becomes long enough moves it at a bound. */
  evenMs(now: number): number {
    const rests = this.#all.flatMap((source) =>
      [source, ...source.partitions.values()].flatMap(({ silentSince }) =>
        silentSince === null ? [] : [source.idleMs - (now - silentSince)],
      ),
    );
    return Math.min(...rests.filter((ms) => ms > 0));
  }

  save(): SavedIdleSources {
    const saved = (id: string, one: Silence): SavedIdleSources[number] => {
      this.#look(one);
      return [id, one.silentSince, null];
    };
    const sources = this.#all.flatMap((source) => [
      saved(source.id, source),
      ...Array.from(source.partitions, ([name, one]) => saved(`$partition ${name} ${source.id}`, one)),
    ]);
    return this.#ticked === null ? sources : [...sources, [TICK_ID, this.#ticked, null]];
  }

  /**
   * @param awaited By source, the partitions that its clock waits for
   * @param ticked When the last tick came of those that were seen since, each of which went on from the one before
   */
  load(saved: SavedIdleSources, awaited: ReadonlyMap<string, readonly string[]> = new Map(), ticked?: number): void {
    this.#ticked = saved.find(([id]) => id === TICK_ID)?.[1] ?? null;
    const known = new Set<SourceTime>();
    for (const [id, silentSince, own] of saved) {
      const [, name, of] = PARTITION.exec(id) ?? [];
      if (name !== undefined && of !== undefined) {
        this.#byId.get(of)?.partitions.set(name, { arrived: null, silentSince });
        continue;
      }
      const source = this.#byId.get(id);
      if (source === undefined) continue;
      known.add(source);
      // The clocks of a build before have the silence so far in them: it begins anew.
      source.silentSince = own === null ? silentSince : (this.#ticked ?? silentSince);
    }
    // A build before did not count the silence of fields, or the program did not read them.
    for (const field of this.#all) if (field.of !== null && !known.has(field)) this.#begin(field, field.of);
    for (const [id, names] of awaited) for (const name of names) this.#countFromHere(id, name);
    if (this.#ticked !== null) this.#ticked = ticked ?? this.#ticked;
  }

  /** As long as nothing else is known of it, a field was last heard with its source. */
  #begin(field: SourceTime, { silentSince, partitions }: SourceTime): void {
    field.silentSince = silentSince;
    for (const [name, one] of partitions) field.partitions.set(name, { ...one });
  }

  /** A build before did not keep since when nothing came from the partition. */
  #countFromHere(id: string, partition: string): void {
    const partitions = this.#byId.get(id)?.partitions;
    if (partitions?.has(partition) === false) partitions.set(partition, { arrived: null, silentSince: this.#ticked ?? 0 });
  }

  #look(one: Silence): void {
    if (one.arrived === null) return;
    const { arrived } = one;
    one.silentSince = this.#ticked === null ? arrived : Math.min(Math.max(arrived, this.#ticked), this.#ticked + STEP_MS_MAX);
    one.arrived = null;
  }
}

/** Whether time went by from one tick to the next, and all of it was listened to. */
export function goesOn(before: number, now: number): boolean {
  return now >= before && now <= before + STEP_MS_MAX;
}

function hear({ partitions }: SourceTime, name: string, arrived: number): void {
  const known = partitions.get(name);
  if (known === undefined) partitions.set(name, { arrived, silentSince: null });
  else known.arrived = arrived;
}

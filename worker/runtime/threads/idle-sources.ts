import type { InputSource } from '../../../shared/events/event.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { Engine } from '../../engine/engine.ts';
import { sourcesOfTypes } from '../../engine/time/bound-types.ts';
import { idleTimesOf } from './idle-times.ts';

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
  readonly #bindings: ReadonlyMap<string, SourceTime>;
  readonly #sourcesOf: (type: string) => readonly number[];
  #ticked: number | null = null;

  constructor(plan: Plan) {
    this.#sourcesOf = sourcesOfTypes(plan);
    const idleTimes = idleTimesOf(plan, this.#sourcesOf);
    this.#sources = plan.sources.map(({ id }, at) => ({
      id,
      idleMs: idleTimes[at] as number,
      arrived: null,
      silentSince: null,
      partitions: new Map(),
    }));
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

  /** Events of these partitions are on their way. */
  await(id: string, partitions: readonly string[], arrived: number): void {
    const binding = this.#bindings.get(id);
    if (binding !== undefined) for (const partition of partitions) hear(binding, partition, arrived);
  }

  tick(engine: Engine, now: number): void {
    engine.advance(now);
    const silentMs = new Map<string, number>();
    const left = new Map<string, readonly string[]>();
    for (const source of this.#sources) {
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
    const rests = this.#sources.flatMap((source) =>
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
    const sources = this.#sources.flatMap((source) => [
      saved(source.id, source),
      ...Array.from(source.partitions, ([name, one]) => saved(`$partition ${name} ${source.id}`, one)),
    ]);
    return this.#ticked === null ? sources : [...sources, [TICK_ID, this.#ticked, null]];
  }

  /** @param ticked When the last tick came of those that were seen since, each of which went on from the one before */
  load(saved: SavedIdleSources, ticked?: number): void {
    this.#ticked = saved.find(([id]) => id === TICK_ID)?.[1] ?? null;
    for (const [id, silentSince, own] of saved) {
      const [, name, of] = PARTITION.exec(id) ?? [];
      if (name !== undefined && of !== undefined) {
        this.#bindings.get(of)?.partitions.set(name, { arrived: null, silentSince });
        continue;
      }
      const source = this.#sources.find((one) => one.id === id);
      // The clocks of a build before have the silence so far in them: it begins anew.
      if (source) source.silentSince = own === null ? silentSince : (this.#ticked ?? silentSince);
    }
    if (this.#ticked !== null) this.#ticked = ticked ?? this.#ticked;
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

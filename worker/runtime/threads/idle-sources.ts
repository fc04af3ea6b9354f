import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { Engine } from '../../engine/engine.ts';
import { sourcesOfTypes } from '../../engine/time/bound-types.ts';
import { idleTimesOf } from './idle-times.ts';

/** Ticks come often: a longer step is a clock that was set, or a time in which nobody listened, and no silence. */
const STEP_MS_MAX = 10_000;
/** In what is saved: stands for the tick that came last, and is the id of no source. */
const TICK_ID = '$tick';

interface SourceTime {
  readonly id: string;
  /** It is idle when nothing came for so long. */
  readonly idleMs: number;
  /** When the last event came that no tick has seen yet. */
  arrived: number | null;
  /** By the ticks, since when nothing came behind the last event. */
  silentSince: number | null;
}

/** The third was the time of the last event, from which builds before moved the clocks on; now null. */
export type SavedIdleSources = readonly (readonly [id: string, silentSince: number | null, own: number | null])[];

/**
 * Moves the time of sources. One whose newest event has the time of its arrival follows the wall clock; times that events state are moved
 * on as fast as the wall clock goes once their source was idle for long enough. Silence is what ticks have seen: the clock that says when
 * events arrive may be another machine's, and either may be set. Knows only what stands in records, so a replay moves the same.
 */
export class IdleSources {
  readonly #sources: readonly SourceTime[];
  readonly #sourcesOf: (type: string) => readonly number[];
  #ticked: number | null = null;

  constructor(plan: Plan) {
    this.#sourcesOf = sourcesOfTypes(plan);
    const idleTimes = idleTimesOf(plan, this.#sourcesOf);
    this.#sources = plan.sources.map(({ id }, at) => ({ id, idleMs: idleTimes[at] as number, arrived: null, silentSince: null }));
  }

  /** An event of this type came through. */
  observe(type: string, arrived: number): void {
    for (const at of this.#sourcesOf(type)) (this.#sources[at] as SourceTime).arrived = arrived;
  }

  tick(engine: Engine, now: number): void {
    engine.advance(now);
    const silentMs = new Map<string, number>();
    for (const source of this.#sources) {
      this.#look(source);
      if (source.silentSince === null) continue;
      if (this.#ticked === null) source.silentSince = Math.max(source.silentSince, now);
      else if (now < this.#ticked || now > this.#ticked + STEP_MS_MAX) source.silentSince += now - this.#ticked;
      const silent = now - source.silentSince;
      if (silent >= source.idleMs) silentMs.set(source.id, silent);
    }
    if (silentMs.size > 0) engine.passSilence(silentMs);
    this.#ticked = now;
  }

  /** For how long behind that tick time goes on evenly, ms: silence that becomes long enough moves it at a bound. */
  evenMs(now: number): number {
    const rests = this.#sources.flatMap(({ silentSince, idleMs }) => (silentSince === null ? [] : [idleMs - (now - silentSince)]));
    return Math.min(...rests.filter((ms) => ms > 0));
  }

  save(): SavedIdleSources {
    const sources = this.#sources.map((source) => {
      this.#look(source);
      return [source.id, source.silentSince, null] as const;
    });
    return this.#ticked === null ? sources : [...sources, [TICK_ID, this.#ticked, null]];
  }

  load(saved: SavedIdleSources): void {
    this.#ticked = saved.find(([id]) => id === TICK_ID)?.[1] ?? null;
    for (const [id, silentSince, own] of saved) {
      const source = this.#sources.find((one) => one.id === id);
      // The clocks of a build before have the silence so far in them: it begins anew.
      if (source) source.silentSince = own === null ? silentSince : (this.#ticked ?? silentSince);
    }
  }

  #look(source: SourceTime): void {
    if (source.arrived === null) return;
    const { arrived } = source;
    source.silentSince = this.#ticked === null ? arrived : Math.min(Math.max(arrived, this.#ticked), this.#ticked + STEP_MS_MAX);
    source.arrived = null;
  }
}

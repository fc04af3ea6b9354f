import type { Fields } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { Engine } from '../../engine/engine.ts';

/** When `.idle` says nothing. */
const IDLE_MS_DEFAULT = 30_000;
/** Ticks come often: a longer step is a clock that was set, or a time in which nobody listened, and no silence. */
const STEP_MS_MAX = 10_000;
/** In what is saved: stands for the tick that came last, and is the id of no source. */
const TICK_ID = '$tick';

/** An event that was taken. Times are epoch ms. */
interface SeenEvent {
  readonly type: string;
  /** What it states: known, or in its fields. */
  readonly own: number | null | undefined;
  readonly fields: Fields | undefined;
  readonly arrived: number;
}

interface SourceTime {
  readonly id: string;
  /** Came last; looked at only when time is to be moved. */
  last: SeenEvent | undefined;
  /** By the ticks, since when nothing came behind the event before that one. */
  silentSince: number | null;
  /** The time it stated; null when it stated none. */
  own: number | null;
}

export type SavedIdleSources = readonly (readonly [id: string, silentSince: number | null, own: number | null])[];

/**
 * Moves the time of sources. One whose newest event has the time of its arrival follows the wall clock; one whose events have
 * times of their own is moved on as fast as the wall clock goes once it was idle for long enough. Silence is what ticks have seen: the
 * clock that says when events arrive may be another machine's, and either may be set. Knows only what stands in records, so a replay moves
 * the same.
 */
export class IdleSources {
  readonly #sources: readonly SourceTime[];
  readonly #byType = new Map<string, SourceTime[]>();
  readonly #schemas: EventSchemas;
  readonly #idleMs: number;
  #ticked: number | null = null;

  constructor(plan: Plan) {
    this.#schemas = new EventSchemas(plan.events);
    this.#sources = plan.sources.map(({ id }) => ({ id, last: undefined, silentSince: null, own: null }));
    plan.sources.forEach(({ eventTypes }, index) => {
      for (const type of eventTypes) this.#byType.set(type, [...(this.#byType.get(type) ?? []), this.#sources[index] as SourceTime]);
    });
    const stated = plan.streams.flatMap(({ time }) => (time.idleMs === null ? [] : [time.idleMs]));
    this.#idleMs = stated.length === 0 ? IDLE_MS_DEFAULT : Math.min(...stated);
  }

  /** An event came through. */
  observe(event: SeenEvent): void {
    const bound = this.#byType.get(event.type);
    if (bound === undefined) (this.#sources[0] as SourceTime).last = event;
    else for (const source of bound) source.last = event;
  }

  tick(engine: Engine, now: number): void {
    engine.advance(now);
    for (const source of this.#sources) {
      this.#look(source);
      if (source.silentSince === null) continue;
      if (this.#ticked === null) source.silentSince = Math.max(source.silentSince, now);
      else if (now < this.#ticked || now > this.#ticked + STEP_MS_MAX) source.silentSince += now - this.#ticked;
      const { id, own } = source;
      const silent = now - source.silentSince;
      if (own !== null && silent >= this.#idleMs) engine.advance(own + silent, id);
    }
    this.#ticked = now;
  }

  save(): SavedIdleSources {
    const sources = this.#sources.map((source) => {
      this.#look(source);
      return [source.id, source.silentSince, source.own] as const;
    });
    return this.#ticked === null ? sources : [...sources, [TICK_ID, this.#ticked, null]];
  }

  load(saved: SavedIdleSources): void {
    for (const [id, silentSince, own] of saved) {
      const source = this.#sources.find((one) => one.id === id);
      if (source) Object.assign(source, { silentSince, own });
      else if (id === TICK_ID) this.#ticked = silentSince;
    }
  }

  #look(source: SourceTime): void {
    if (source.last === undefined) return;
    const { type, fields, own, arrived } = source.last;
    source.silentSince = this.#ticked === null ? arrived : Math.min(Math.max(arrived, this.#ticked), this.#ticked + STEP_MS_MAX);
    source.own = (own === undefined && fields !== undefined ? this.#schemas.ownTime(type, fields) : own) ?? null;
    source.last = undefined;
  }
}

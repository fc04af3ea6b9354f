import type { Fields } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { Engine } from '../../engine/engine.ts';

/** When `.idle` says nothing. */
const IDLE_MS_DEFAULT = 30_000;

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
  /** Of an event before that one: its arrival, and the time it stated; null when it stated none. */
  arrived: number | null;
  own: number | null;
}

export type SavedIdleSources = readonly (readonly [id: string, arrived: number | null, own: number | null])[];

/**
 * Moves the time of sources. One whose newest event has the time of its arrival follows the wall clock; one whose events have
 * times of their own is moved on as fast as the wall clock goes once it was idle for long enough. Knows only what stands in
 * records, so a replay moves the same.
 */
export class IdleSources {
  readonly #sources: readonly SourceTime[];
  readonly #byType = new Map<string, SourceTime[]>();
  readonly #schemas: EventSchemas;
  readonly #idleMs: number;

  constructor(plan: Plan) {
    this.#schemas = new EventSchemas(plan.events);
    this.#sources = plan.sources.map(({ id }) => ({ id, last: undefined, arrived: null, own: null }));
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
      const { id, arrived, own } = source;
      if (arrived === null || own === null) continue;
      const silent = now - arrived;
      if (silent >= this.#idleMs) engine.advance(own + silent, id);
    }
  }

  save(): SavedIdleSources {
    return this.#sources.map((source) => {
      this.#look(source);
      return [source.id, source.arrived, source.own];
    });
  }

  load(saved: SavedIdleSources): void {
    for (const [id, arrived, own] of saved) {
      const source = this.#sources.find((one) => one.id === id);
      if (source) Object.assign(source, { arrived, own });
    }
  }

  #look(source: SourceTime): void {
    if (source.last === undefined) return;
    const { type, fields, own, arrived } = source.last;
    source.arrived = arrived;
    source.own = (own === undefined && fields !== undefined ? this.#schemas.ownTime(type, fields) : own) ?? null;
    source.last = undefined;
  }
}

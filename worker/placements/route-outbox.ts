import type { Static } from 'typebox';
import { isRouted } from '../../shared/protocol/event-routing.ts';
import type { placementRouteSchema } from '../../shared/protocol/placements.ts';
import { replicaOf } from '../../shared/protocol/replica-of.ts';
import type { Unrepeated } from '../runtime/placed/received-ids.ts';
import type { Output } from '../runtime/service.ts';
import { type Released, type RoutedEvent, RouteLink, type RouteLinkOptions, type RouteTarget } from './route-link.ts';

export type PlacementRoute = Static<typeof placementRouteSchema>;

/** Above this nothing more is worked through until some of it is safe elsewhere. */
const HELD_EVENTS_MAX = 50_000;
/**
 * The same, of events to one receiver that would be sent again when this placement went on from its last checkpoint: so many ids the
 * receiver has to know, and those of what the engine has in work when this is reached. One of a version before knows the last 65,536.
 */
const REPEATED_EVENTS_MAX = 50_000;
/** Above this a checkpoint is asked for, where one makes them fewer. */
const REPEATED_EVENTS_ASK = 25_000;
const HELD_BYTES_MAX = 32 * 1_048_576;

/** As a checkpoint keeps it: what each receiver does not have in a checkpoint of its own, and what it is never sent again. */
export type SavedOutbox = readonly (readonly [target: string, events: readonly RoutedEvent[], unrepeated?: Unrepeated | null])[];

export interface RouteOutboxOptions extends Omit<RouteLinkOptions, 'target' | 'events'> {
  readonly saved: SavedOutbox;
  /** How much is held has changed. */
  readonly onChange: () => void;
  /** Makes checkpoints of this placement until that is so, or there can be none now. */
  readonly saveUntil: (isSaved: () => boolean) => Promise<void>;
}

/** Outputs of one placement on their way to others, each receiver in its own order. */
export class RouteOutbox {
  readonly #options: RouteOutboxOptions;
  readonly #links = new Map<string, RouteLink>();
  #routes: readonly PlacementRoute[] = [];
  #saving: Promise<void> | undefined;
  /** By what was given to a checkpoint, how much each link had released then. */
  readonly #releasedAt = new WeakMap<SavedOutbox, readonly (readonly [RouteLink, Released])[]>();

  constructor(options: RouteOutboxOptions) {
    this.#options = options;
    for (const [placementId, events, unrepeated] of options.saved) this.#open({ placement_id: placementId, epoch: 0 }, events, unrepeated);
  }

  /**
   * Receivers that have moved are sent to where they are now. What one that no route names any more does not have goes to the replicas of its
   * pipeline that there are now; where there are none it is not sent.
   */
  setRoutes(routes: readonly PlacementRoute[]): void {
    this.#routes = routes;
    const targets = new Map(routes.flatMap((route) => route.targets.map((target) => [target.placement_id, target] as const)));
    for (const [id, target] of targets) {
      const link = this.#links.get(id);
      if (link === undefined) this.#open(target, []);
      else link.moveTo(target);
    }
    const gone = [...this.#links].filter(([id]) => !targets.has(id));
    for (const [id, link] of gone) this.#end(id, link);
    this.#options.onChange();
  }

  #open(target: RouteTarget, events: readonly RoutedEvent[], unrepeated?: Unrepeated | null): void {
    const { saved: _saved, saveUntil: _saveUntil, ...options } = this.#options;
    const known = { events, unrepeated: unrepeated ?? undefined };
    this.#links.set(target.placement_id, new RouteLink({ ...options, target, ...known, onChange: () => this.#changed() }));
  }

  #changed(): void {
    this.#options.onChange();
    if (this.#saving !== undefined || this.#isSaved) return;
    this.#saving = this.#options
      .saveUntil(() => this.#isSaved)
      .finally(() => {
        this.#saving = undefined;
      });
  }

  get #isSaved(): boolean {
    return ![...this.#links.values()].some((link) => link.isUnsaved && link.repeated > REPEATED_EVENTS_ASK);
  }

  #end(id: string, link: RouteLink): void {
    link.close();
    this.#links.delete(id);
    const lost = link.unreceived.filter((event) => {
      const next = this.#targetsOf(event).find((target) => pipelineOf(target) === pipelineOf(id));
      if (next !== undefined) this.#links.get(next)?.push(event);
      return next === undefined;
    });
    this.#sayGivenUp(id, lost.length);
  }

  #sayGivenUp(to: string, events: number): void {
    const { placementId: pipeline, report } = this.#options;
    if (events > 0) report({ level: 'warn', message: 'Routed events given up', fields: { pipeline, to, events } });
  }

  /** Takes an output, for each receiver that a route names for its type. */
  push({ id, eventType, timestamp, fieldsJson }: Output): void {
    const event: RoutedEvent = { id, type: eventType, time: timestamp, fieldsJson };
    for (const target of this.#targetsOf(event)) this.#links.get(target)?.push(event);
  }

  /** Ids of placements, each once. */
  #targetsOf({ type, fieldsJson }: RoutedEvent): readonly string[] {
    const reached: string[] = [];
    let fields: Readonly<Record<string, unknown>> | undefined;
    for (const { event_types: types, partition_key: key, targets } of this.#routes) {
      if (!isRouted(types, type)) continue;
      if (targets.length > 1 && key !== undefined) fields ??= JSON.parse(fieldsJson) as Record<string, unknown>;
      const target = targets[key === undefined ? 0 : replicaOf(fields?.[key], targets.length)];
      if (target !== undefined && !reached.includes(target.placement_id)) reached.push(target.placement_id);
    }
    return reached;
  }

  /** Every receiver has in a checkpoint what was for it. */
  get isEmpty(): boolean {
    return [...this.#links.values()].every(({ held }) => held === 0);
  }

  /** Every receiver has taken what was for it. */
  get isReceived(): boolean {
    return [...this.#links.values()].every(({ unreceived }) => unreceived.length === 0);
  }

  /** Somebody is to get some of the outputs. */
  get isRouted(): boolean {
    return this.#routes.length > 0;
  }

  get isFull(): boolean {
    const links = [...this.#links.values()];
    return (
      links.reduce((sum, { held }) => sum + held, 0) > HELD_EVENTS_MAX ||
      links.reduce((sum, { heldBytes }) => sum + heldBytes, 0) > HELD_BYTES_MAX ||
      links.some(({ repeated }) => repeated > REPEATED_EVENTS_MAX)
    );
  }

  /** It may say something again, or knows of new receivers. */
  resume(): void {
    for (const link of this.#links.values()) link.resume();
    this.#changed();
  }

  /** Resolves when nothing is under way: to be asked once nothing may be said. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#links.values(), (link) => link.settled()));
  }

  save(): SavedOutbox {
    const saved = Array.from(this.#links, ([id, link]) => [id, link.events, link.released.unrepeated ?? null] as const);
    this.#releasedAt.set(
      saved,
      Array.from(this.#links.values(), (link) => [link, link.released] as const),
    );
    return saved;
  }

  /** The checkpoint counts that was given this by `save`. */
  committed(saved: unknown): void {
    for (const [link, released] of this.#releasedAt.get(saved as SavedOutbox) ?? []) link.saved(released);
    this.#options.onChange();
  }

  /** Nothing more is sent. */
  close(): void {
    for (const link of this.#links.values()) link.close();
  }

  /** The same, where nobody goes on with it: what receivers have not taken is lost. */
  giveUp(): void {
    for (const [id, link] of this.#links) {
      link.close();
      this.#sayGivenUp(id, link.unreceived.length);
    }
    this.#links.clear();
  }
}

/** Of the id of a placement, what all replicas have in common. */
function pipelineOf(placementId: string): string {
  return placementId.slice(0, placementId.lastIndexOf(':'));
}

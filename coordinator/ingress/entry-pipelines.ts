import { CepError } from '../../shared/errors/error.ts';
import { isRouted } from '../../shared/protocol/event-routing.ts';
import { externalSource } from '../../shared/protocol/placements.ts';
import { replicaOf } from '../../shared/protocol/replica-of.ts';
import { type Group, type GroupPipeline, placementId } from '../state/cluster-state.ts';

export interface InjectedEvent {
  readonly event_type: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * The pipelines of a group that an event from outside goes to: the named one, else those that entry routes name, else the first.
 * @throws CepError `pipeline_not_found`; `no_route` when there are entry routes and none takes it
 */
export function entryPipelines(group: Group, { event_type: type }: InjectedEvent, named?: string): readonly GroupPipeline[] {
  if (named !== undefined) return [requirePipeline(group, named)];
  const entries = group.routes.filter(({ fromPipeline }) => fromPipeline === externalSource);
  if (entries.length === 0) return group.pipelines.slice(0, 1);
  const names = new Set(entries.filter(({ eventTypes }) => isRouted(eventTypes, type)).map(({ toPipeline }) => toPipeline));
  if (names.size > 0) return group.pipelines.filter(({ name }) => names.has(name));
  throw new CepError('no_route', `group '${group.name}' has routes for events from outside, and none takes '${type}'`, {
    hint: `add '${type}' to the event_types of a route from '${externalSource}', or name the pipeline`,
  });
}

/** @throws CepError `pipeline_not_found` */
export function requirePipeline({ name: groupName, pipelines }: Group, named: string): GroupPipeline {
  const pipeline = pipelines.find(({ name }) => name === named);
  if (pipeline) return pipeline;
  throw new CepError('pipeline_not_found', `group '${groupName}' has no pipeline '${named}'`);
}

/** The replica of a pipeline that has the events with this one's key. */
export function placementFor(group: Group, { name, replicas, partitionKey }: GroupPipeline, { fields }: InjectedEvent): string {
  const key = partitionKey === undefined ? undefined : fields[partitionKey];
  return placementId(group.id, name, replicaOf(key, replicas));
}

/** Where events go. */
export interface Target {
  readonly placementId: string;
  readonly pipeline: string;
}

/** The placement that all events go to, whatever is in them; undefined when that depends on them. */
export function onlyPlacement(group: Group, named?: string): Target | undefined {
  const pipeline = onlyPipeline(group, named);
  return pipeline?.replicas === 1 ? { placementId: placementId(group.id, pipeline.name, 0), pipeline: pipeline.name } : undefined;
}

/** The placement that all of these events go to; undefined when they go several ways, or one of them none. */
export function commonPlacement(group: Group, events: readonly InjectedEvent[], named?: string): Target | undefined {
  const pipeline = onlyPipeline(group, named);
  const [first] = events;
  if (pipeline === undefined || first === undefined) return undefined;
  const id = placementFor(group, pipeline, first);
  if (pipeline.replicas > 1 && !events.every((event) => placementFor(group, pipeline, event) === id)) return undefined;
  return { placementId: id, pipeline: pipeline.name };
}

function onlyPipeline(group: Group, named?: string): GroupPipeline | undefined {
  if (named !== undefined) return group.pipelines.find(({ name }) => name === named);
  return group.routes.some(({ fromPipeline }) => fromPipeline === externalSource) ? undefined : group.pipelines[0];
}

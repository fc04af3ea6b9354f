import type { Plan, SourcePlan } from '../../../shared/language/plan/plan.ts';
import { inputsOf, upstreamOf } from '../../engine/streams/plan-inputs.ts';

/** When `.watermark(idle:)` says nothing. */
const IDLE_MS_DEFAULT = 30_000;

/**
 * For how long nothing comes from each source until it is idle, ms. Of the streams that read it each says how long by itself or by streams
 * that it feeds, or else the default counts; the least is the source's. Nobody waits for one that no stream reads: it is never idle.
 */
export function idleTimesOf(plan: Plan, sourcesOf: (type: string) => readonly number[]): readonly number[] {
  const followers = followersOf(plan);
  const least = plan.sources.map(() => Number.POSITIVE_INFINITY);
  plan.streams.forEach((stream, index) => {
    const types = eventTypesOf(stream.source);
    if (types.length === 0) return;
    const idleMs = statedBehind(plan, index, followers) ?? IDLE_MS_DEFAULT;
    for (const source of new Set(types.flatMap(sourcesOf))) least[source] = Math.min(least[source] as number, idleMs);
  });
  return least;
}

/** From which fields of its events streams take the time, by source. */
export function timeFieldsOf({ sources, streams }: Plan, sourcesOf: (type: string) => readonly number[]): readonly ReadonlySet<string>[] {
  const fields = sources.map(() => new Set<string>());
  for (const { source, time } of streams) {
    if (time.on === null) continue;
    for (const at of eventTypesOf(source).flatMap(sourcesOf)) fields[at]?.add(time.on);
  }
  return fields;
}

function eventTypesOf(source: SourcePlan): readonly string[] {
  return inputsOf(source).flatMap(({ from }) => (from.kind === 'event' ? from.types : []));
}

/** The least that the stream or any stream made of its results states; undefined where none does. */
function statedBehind(plan: Plan, index: number, followers: readonly (readonly number[])[]): number | undefined {
  const fed = new Set([index]);
  for (const one of fed) for (const follower of followers[one] ?? []) fed.add(follower);
  const stated = Array.from(fed, (one) => plan.streams[one]?.time.idleMs ?? Number.POSITIVE_INFINITY);
  const least = Math.min(...stated);
  return least === Number.POSITIVE_INFINITY ? undefined : least;
}

function followersOf({ streams }: Plan): readonly (readonly number[])[] {
  const followers: number[][] = streams.map(() => []);
  streams.forEach((stream, index) => {
    for (const upstream of upstreamOf(stream)) followers[upstream]?.push(index);
  });
  return followers;
}
